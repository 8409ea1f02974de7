//===- nonfinite_weights.h - non-finite weights -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_NUMBERS_NONFINITE_WEIGHTS_H
#define MESHPLAN_RUNTIME_EXEC_NUMBERS_NONFINITE_WEIGHTS_H

#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// "parameter 'w': 3 of 64 elements are not finite, the first at [3, 2]": describes a rank's shard of a value, with
/// positions in the whole tensor. Empty if all are finite. Without `infinities` only NaN counts. `what` is "parameter"
/// or "input".
Expected<std::string> nonfiniteText(std::string_view what, std::string_view name, const RankView &view, int value,
                                    const Tensor &tensor, bool infinities = true);

/// A parameter of which the rank's shard has non-finite elements.
struct NonfiniteWeight {
  int value;        ///< index into Program.values
  int64_t count;    ///< number of non-finite elements in the rank's shard
  std::string text; ///< see nonfiniteText
};

/// The non-finite parameters among those that the rank holds; `tensors` by index into Program.values. Parameters that
/// are not trained may be infinite, as masks are.
Expected<std::vector<NonfiniteWeight>> nonfiniteWeights(const RankView &view, std::span<const Tensor> tensors);

/// The texts of the shards that this rank is the first to hold, so that only one rank reports each shard.
std::vector<std::string> textsOfFirstHolder(const RankView &view, std::span<const NonfiniteWeight> weights);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_NONFINITE_WEIGHTS_H
