//===- philox.h - counted random numbers ------------------------*- C++ -*-===//
//
// Counted random numbers: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3,
// 2011). It maps a 128-bit counter and a 64-bit key to four 32-bit words. No word depends on another, so every rank
// computes exactly the words of its own elements.
//
// Example. A dropout with number 7 runs at step 3 with seed 42 on 12 elements, one word each. The key is 42 and the
// counter of element i is (i / 4, 0, 7, 3); its word is i % 4. A rank that holds elements 4 to 7 evaluates the one
// counter (1, 0, 7, 3) and gets the bits that one rank with all 12 elements would get. So results do not depend on the
// sharding.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_PHILOX_H
#define MESHPLAN_RUNTIME_BASE_PHILOX_H

#include <array>
#include <cstdint>
#include <span>

namespace meshplan {

/// The random words of one operator at one step. Streams that differ in seed, number or step have different words.
struct RandomStream {
  uint64_t seed = 0;   ///< the key
  uint32_t number = 0; ///< number of the operator; third word of the counter
  uint32_t step = 0;   ///< fourth word of the counter
  uint64_t first = 0;  ///< words to skip
};

/// Constants of a round: the multipliers of two counter words, and what is added to the key after the round.
inline constexpr uint32_t philoxMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t philoxIncrements[2] = {0x9E3779B9, 0xBB67AE85};
inline constexpr int philoxRounds = 10;

/// Evaluates the generator at one counter.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Fills `words` with the words first, first + 1, ... of the stream. With n = i + stream.first, word i of the stream is
/// word n % 4 of counter n / 4. Pure and thread safe.
void randomWords(const RandomStream &stream, uint64_t first, std::span<uint32_t> words);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_PHILOX_H
