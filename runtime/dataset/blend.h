//===- blend.h - which of several data sets gives the next sample -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_DATASET_BLEND_H
#define MESHPLAN_RUNTIME_DATASET_BLEND_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace meshplan {

/// A sequence of data sets in which each has its share, as nearly as can be: after any number of samples, the number of
/// those of a part differs by less than one from its weight's share. (Tijdeman, "The chairman assignment problem",
/// 1980; for m > 1 parts the difference is at most 1 - 1 / (2 m - 2), and no sequence can promise less.) It repeats
/// after as many samples as the weights, in lowest terms, add up to.
class Blend {
public:
  static constexpr size_t mostParts = 1024;
  static constexpr int64_t mostWeight = int64_t(1) << 40; ///< of one part

  /// `invalid` for more weights or larger ones. Precondition: there is a weight, and all are positive.
  static Expected<Blend> create(std::vector<int64_t> weights);

  /// The sample at a position of the sequence: the `turn`-th of this part, from 0.
  struct Place {
    size_t part = 0;
    int64_t turn = 0;
    bool operator==(const Place &) const = default;
  };

  /// Goes along the sequence: forward a few operations for each part and position, backward or across a period again
  /// from the begin of the period. Belongs to one thread; the blend lives longer.
  class Walk {
  public:
    explicit Walk(const Blend &blend) : blend(&blend), counts(blend.weights.size()) {}
    Place at(int64_t position);

  private:
    size_t nextPart() const;

    const Blend *blend;
    int64_t step = 0;            // of the period: samples in `counts`
    std::vector<int64_t> counts; // of each part, up to this step
  };

  int64_t period() const { return total; }

private:
  explicit Blend(std::vector<int64_t> weights);

  std::vector<int64_t> weights; // in lowest terms
  int64_t total = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_BLEND_H
