//===- permutation.cpp - a shuffled order without a table -----------------===//

#include "runtime/dataset/permutation.h"

#include <bit>
#include <cassert>

namespace meshplan {

/// The finalizer of SplitMix64: every bit of the input changes about half of the bits of the result.
static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

Permutation::Permutation(int64_t size, const ShuffleKey &key) : size(size) {
  assert(size > 0 && "there is no permutation of nothing");
  int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  halfBits = (bits + 1) / 2;
  constexpr uint64_t golden = 0x9e3779b97f4a7c15; // the increment of SplitMix64
  uint64_t state = mix(key.seed + golden);
  state = mix((state ^ key.stream) + golden);
  state = mix((state ^ key.epoch) + golden);
  for (uint64_t &round : keys)
    round = mix(state += golden);
}

int64_t Permutation::at(int64_t position) const {
  assert(position >= 0 && position < size && "there must be such a position");
  if (halfBits == 0)
    return 0;
  const uint64_t mask = (uint64_t(1) << halfBits) - 1;
  uint64_t value = static_cast<uint64_t>(position);
  // The network permutes 2^(2 halfBits) values, which may be more than `size`. Cycle walking: apply it until the value
  // is inside [0, size) again. Since the network is a permutation, the result is one of [0, size).
  do {
    uint64_t left = value >> halfBits, right = value & mask;
    for (uint64_t key : keys) {
      // The upper bits of a product depend on all bits of its factors, the lower ones only on lower bits.
      uint64_t sum = left ^ (mix(right ^ key) >> (64 - halfBits));
      left = right;
      right = sum;
    }
    value = left << halfBits | right;
  } while (value >= static_cast<uint64_t>(size));
  return static_cast<int64_t>(value);
}

} // namespace meshplan
