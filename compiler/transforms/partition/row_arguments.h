//===- row_arguments.h - calls on rows of experts ---------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PARTITION_ROW_ARGUMENTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_PARTITION_ROW_ARGUMENTS_H

#include "compiler/sharding/op_record.h"

namespace meshplan {

/// Rewrites the arguments of a call that reads rows which are routed to experts: a rank stores these with one dim in
/// place of those of experts and tokens. Other calls stay as they are. `rule` is that of the call. Fails, with an error
/// at the call, for an operator whose arguments or results have another meaning on such rows.
mlir::LogicalResult localizeRows(plan::CallOp call, const FactorRule &rule);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PARTITION_ROW_ARGUMENTS_H
