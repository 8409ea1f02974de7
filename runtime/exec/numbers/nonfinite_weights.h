//===- nonfinite_weights.h - weights that are no numbers ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_NUMBERS_NONFINITE_WEIGHTS_H
#define MESHPLAN_RUNTIME_EXEC_NUMBERS_NONFINITE_WEIGHTS_H

#include "runtime/exec/rank_view.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// "parameter 'w': 3 of 64 elements are not finite, the first at [3, 2]", of a rank's part of a value, with places of
/// the whole tensor; empty if all are right. Without `infinities` only NaN counts. `what` is "parameter" or "input".
Expected<std::string> nonfiniteText(std::string_view what, std::string_view name, const RankView &view, int value,
                                    const Tensor &tensor, bool infinities = true);

/// A parameter of which a rank's part is not finite.
struct NonfiniteWeight {
  int value;        ///< index into Program.values
  int64_t count;    ///< of elements of the rank's part
  std::string text; ///< of nonfiniteText
};

/// Those that are not finite, of all parts that the rank holds; `tensors` by index into Program.values. Parameters that
/// are not trained may be infinite, as masks are.
Expected<std::vector<NonfiniteWeight>> nonfiniteWeights(const RankView &view, std::span<const Tensor> tensors);

/// The texts of the parts that this rank is the first to hold, so that one rank speaks of each.
std::vector<std::string> textsOfFirstHolder(const RankView &view, std::span<const NonfiniteWeight> weights);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_NONFINITE_WEIGHTS_H
