//===- index_fault.h - messages for indices out of range --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_INDEX_FAULT_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_INDEX_FAULT_H

#include "runtime/exec/rank_view.h"
#include "runtime/tensor/operator.h"

namespace meshplan {

/// Describes an index out of range and where it comes from.
struct IndexFaultText {
  std::string text;       ///< "index 97 at [3, 5] of input 'ids' is out of range [0, 97)"
  bool isOfInput = false; ///< an input of the rank has it, at this position of the whole batch
};

/// `values` are the rank's tensors when the operator failed. Traces the tensor of indices back to an input, through
/// operators that keep elements. If the rank's shard of the input does not have the index, or has been freed, the
/// position is that in the tensor that was read.
IndexFaultText describeIndexFault(const IndexFault &fault, const RankView &view, std::span<const Tensor> values);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_INDEX_FAULT_H
