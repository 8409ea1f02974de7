//===- blend.h - the order of blended data sets -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_BLEND_H
#define MESHPLAN_RUNTIME_DATASET_BLEND_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace meshplan {

/// An order of data sets that follows their weights as closely as possible: after any number of samples, the count of
/// each part differs from its share by less than one. (Tijdeman, "The chairman assignment problem", 1980: for m > 1
/// parts the difference is at most 1 - 1 / (2 m - 2), and no order guarantees less.) The order repeats after as many
/// samples as the sum of the weights in lowest terms.
class Blend {
public:
  static constexpr size_t mostParts = 1024;
  static constexpr int64_t mostWeight = int64_t(1) << 40; ///< maximal weight of one part

  /// `invalid` if there are too many weights or one is too large. Precondition: there is a weight, and all are
  /// positive.
  static Expected<Blend> create(std::vector<int64_t> weights);

  /// The sample at a position of the order: sample number `turn` of this part, from 0.
  struct Entry {
    size_t part = 0;
    int64_t turn = 0;
    bool operator==(const Entry &) const = default;
  };

  /// Walks along the order. A step forward takes a few operations per part; a step backward or into another period
  /// restarts at the beginning of the period. Belongs to one thread; the blend must outlive it.
  class Walk {
  public:
    explicit Walk(const Blend &blend) : blend(&blend), counts(blend.weights.size()) {}
    Entry at(int64_t position);

  private:
    size_t nextPart() const;

    const Blend *blend;
    int64_t step = 0;            // position in the period: samples in `counts`
    std::vector<int64_t> counts; // samples of each part, up to this step
  };

  int64_t period() const { return total; }

private:
  explicit Blend(std::vector<int64_t> weights);

  std::vector<int64_t> weights; // in lowest terms
  int64_t total = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_BLEND_H
