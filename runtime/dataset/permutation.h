//===- permutation.h - a shuffled order without a table ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_PERMUTATION_H
#define MESHPLAN_RUNTIME_DATASET_PERMUTATION_H

#include <array>
#include <cstdint>

namespace meshplan {

/// Selects an order. Keys that differ in any number give unrelated orders.
struct ShuffleKey {
  uint64_t seed = 0;
  uint64_t stream = 0; ///< number of the data set in a blend
  uint64_t epoch = 0;
};

/// A pseudorandom permutation of [0, size). Any position is computed independently, in a few steps and without a table:
/// by a Feistel network over the smallest even number of bits that has `size` values, applied again while the value is
/// outside (cycle walking; fewer than four times on average). The same on every machine.
///
/// Example: size 5 needs 3 bits, so the network has 4 bits and permutes 16 values. If it maps 2 -> 11 -> 7 -> 3, then
/// position 2 has element 3, because 11 and 7 are outside [0, 5).
class Permutation {
public:
  /// `size` is at least 1.
  Permutation(int64_t size, const ShuffleKey &key);

  /// The element at `position`, which is in [0, size).
  int64_t at(int64_t position) const;

private:
  static constexpr int rounds = 8;

  int64_t size;
  int halfBits;
  std::array<uint64_t, rounds> keys;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_PERMUTATION_H
