//===- data_collectives.h - what data parallelism moves ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_GROUP_DATA_COLLECTIVES_H
#define MESHPLAN_COMPILER_TRANSFORMS_GROUP_DATA_COLLECTIVES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// Why a collective is there.
enum class DataTraffic {
  gatherForward,  ///< of a parameter, for calls of the forward pass
  gatherBackward, ///< the same for calls of the backward pass alone
  reduce,         ///< of a gradient
  update,         ///< of a new parameter, behind the optimizer
};

/// A collective for a parameter that is in a data statement.
struct DataCollective {
  mlir::Operation *op;
  mlir::BlockArgument parameter;
  DataTraffic traffic;

  bool isGather() const { return traffic == DataTraffic::gatherForward || traffic == DataTraffic::gatherBackward; }
};

/// All of them, each once, in the order of the program. Between the parameter and its gather, and between the
/// collectives of a gradient and whoever takes it, there are only calls of one operand that are pointwise.
llvm::SmallVector<DataCollective> findDataCollectives(mlir::func::FuncOp function);

/// The unit of the parameter, unlike that of any other; -1 - i for the rest of data statement i. Parameters that stay
/// whole are in no unit.
int64_t unitOf(mlir::BlockArgument parameter);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_GROUP_DATA_COLLECTIVES_H
