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

/// One text for each parameter that is not finite, of the parts that this rank is the first to hold; `tensors` by index
/// into Program.values. Parameters that are not trained may be infinite, as masks are.
Expected<std::vector<std::string>> nonfiniteWeights(const RankView &view, std::span<const Tensor> tensors);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_NUMBERS_NONFINITE_WEIGHTS_H
