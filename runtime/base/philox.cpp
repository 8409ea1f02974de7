//===- philox.cpp - counted random numbers --------------------------------===//
//
// Computes counters in batches. The words of a batch lie side by side, so that the compiler can vectorize the rounds.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/philox.h"

#include "runtime/base/each_processor.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace meshplan;

static constexpr uint64_t batch = 16; // counters

std::array<uint32_t, 4> meshplan::philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < philoxRounds; ++round) {
    uint64_t left = uint64_t(philoxMultipliers[0]) * counter[0], right = uint64_t(philoxMultipliers[1]) * counter[2];
    counter = {uint32_t(right >> 32) ^ counter[1] ^ key[0], uint32_t(right), uint32_t(left >> 32) ^ counter[3] ^ key[1],
               uint32_t(left)};
    key = {key[0] + philoxIncrements[0], key[1] + philoxIncrements[1]};
  }
  return counter;
}

namespace {

/// A counter before the rounds, four random words after them.
struct Block {
  uint32_t a, b, c, d;
};

/// The key of each round. Round r adds r increments to the seed.
struct Keys {
  uint32_t first[philoxRounds], second[philoxRounds];
};

} // namespace

static inline __attribute__((always_inline)) Block oneRound(Block in, uint32_t first, uint32_t second) {
  uint64_t left = uint64_t(philoxMultipliers[0]) * in.a, right = uint64_t(philoxMultipliers[1]) * in.c;
  return {uint32_t(right >> 32) ^ in.b ^ first, uint32_t(right), uint32_t(left >> 32) ^ in.d ^ second, uint32_t(left)};
}

/// Unrolled by a fold, since the compiler vectorizes only loops without inner loops.
template <int... Round>
static inline __attribute__((always_inline)) Block allRounds(Block block, const Keys &keys,
                                                             std::integer_sequence<int, Round...>) {
  ((block = oneRound(block, keys.first[Round], keys.second[Round])), ...);
  return block;
}

/// Writes the words of `batch` counters, starting at `counter`.
MESHPLAN_EACH_PROCESSOR static void fillBatch(const RandomStream &stream, const Keys &keys, uint64_t counter,
                                              uint32_t *words) {
  uint32_t low = uint32_t(counter), high = uint32_t(counter >> 32), own[4][batch];
  for (uint32_t i = 0; i < batch; ++i) {
    uint32_t sum = low + i;
    // The counter has 64 bits in two words; `sum < low` is the carry.
    Block block{sum, high + (sum < low), stream.number, stream.step};
    block = allRounds(block, keys, std::make_integer_sequence<int, philoxRounds>());
    own[0][i] = block.a;
    own[1][i] = block.b;
    own[2][i] = block.c;
    own[3][i] = block.d;
  }
  for (uint64_t i = 0; i < batch; ++i)
    for (int word = 0; word < 4; ++word)
      words[4 * i + word] = own[word][i];
}

static Keys keysOf(uint64_t seed) {
  Keys keys;
  for (uint32_t round = 0; round < philoxRounds; ++round) {
    keys.first[round] = uint32_t(seed) + round * philoxIncrements[0];
    keys.second[round] = uint32_t(seed >> 32) + round * philoxIncrements[1];
  }
  return keys;
}

void meshplan::randomWords(const RandomStream &stream, uint64_t first, std::span<uint32_t> words) {
  constexpr uint64_t size = 4 * batch;
  first += stream.first;
  Keys keys = keysOf(stream.seed);
  uint32_t own[size];
  for (uint64_t done = 0; done < words.size();) {
    // The requested run may begin and end inside a counter, and may end inside a batch.
    uint64_t skipped = (first + done) % 4, counter = (first + done) / 4;
    uint64_t count = std::min(size - skipped, words.size() - done);
    if (skipped == 0 && count == size) {
      fillBatch(stream, keys, counter, &words[done]);
    } else {
      fillBatch(stream, keys, counter, own);
      std::memcpy(&words[done], own + skipped, count * sizeof(uint32_t));
    }
    done += count;
  }
}
