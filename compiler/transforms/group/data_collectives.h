//===- data_collectives.h - collectives of data parallelism -----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_DATA_COLLECTIVES_H
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_DATA_COLLECTIVES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// The purpose of a collective.
enum class DataTraffic {
  gatherForward,  ///< of a parameter, for calls of the forward pass
  gatherBackward, ///< the same for calls of the backward pass only
  reduce,         ///< of a gradient
  update,         ///< of a new parameter, after the optimizer
};

/// A collective for a parameter of a data statement.
struct DataCollective {
  mlir::Operation *op;
  mlir::BlockArgument parameter;
  DataTraffic traffic;

  bool isGather() const { return traffic == DataTraffic::gatherForward || traffic == DataTraffic::gatherBackward; }
};

/// All such collectives, each once, in program order. Only pointwise calls of one operand may be between a parameter
/// and its gather, and between the collectives of a gradient and its reader.
llvm::SmallVector<DataCollective> findDataCollectives(mlir::func::FuncOp function);

/// The number of the parameter's FSDP unit, different from that of all other units; -1 - i for parameters without a
/// unit in data statement i. Replicated parameters have no unit.
int64_t unitOf(mlir::BlockArgument parameter);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_DATA_COLLECTIVES_H
