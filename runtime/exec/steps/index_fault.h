//===- index_fault.h - an index that points outside, in words ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_INDEX_FAULT_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_INDEX_FAULT_H

#include "runtime/exec/rank_view.h"
#include "runtime/tensor/operator.h"

namespace meshplan {

/// Where an index comes from.
struct IndexFaultText {
  std::string text;       ///< "index 97 at [3, 5] of input 'ids' is out of range [0, 97)"
  bool isOfInput = false; ///< an input of the rank has that number, at this place of the whole batch
};

/// `values` are those of the rank when the operator failed. Follows the tensor of indices back to an input, through
/// operators that leave numbers as they are. Where the rank's part of the input does not have it, or is gone, the place
/// is that in the tensor.
IndexFaultText describeIndexFault(const IndexFault &fault, const RankView &view, std::span<const Tensor> values);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_INDEX_FAULT_H
