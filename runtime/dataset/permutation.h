//===- permutation.h - a shuffled order without a table ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_PERMUTATION_H
#define MESHPLAN_RUNTIME_DATASET_PERMUTATION_H

#include <array>
#include <cstdint>

namespace meshplan {

/// Says which shuffling: other numbers give unrelated orders.
struct ShuffleKey {
  uint64_t seed = 0;
  uint64_t stream = 0; ///< the data set, where there are several
  uint64_t epoch = 0;
};

/// A pseudorandom permutation of [0, size), any place of which is computed alone, in a few steps and without memory: a
/// Feistel network over the smallest even number of bits that has `size` values, applied again while the value lies
/// outside (cycle walking, fewer than four times on average). The same on every machine.
class Permutation {
public:
  /// `size` is at least 1.
  Permutation(int64_t size, const ShuffleKey &key);

  /// What stands at `place`, which is below `size`.
  int64_t at(int64_t place) const;

private:
  static constexpr int rounds = 8;

  int64_t size;
  int halfBits;
  std::array<uint64_t, rounds> keys;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_PERMUTATION_H
