//===- routers.h - layers whose tokens choose experts -----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SHARDING_DATAFLOW_ROUTERS_H
#define MESHPLAN_COMPILER_SHARDING_DATAFLOW_ROUTERS_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {

/// The calls of `meshplan.route` of the forward pass, in order: one for each layer of experts.
llvm::SmallVector<plan::CallOp> routesOf(mlir::func::FuncOp function);

/// The innermost module that has all that reads the rows of a route, as the model names it: "layers.0.mlp.experts".
llvm::StringRef moduleOfExperts(plan::CallOp route);

/// The same, or the list of modules that are the experts.
std::string holderOfExperts(plan::CallOp route);

/// True if the module at `path`, or one inside it, has the route, or products of its rows.
bool hasLayer(llvm::StringRef path, plan::CallOp route);

/// The buffer that is added to the scores from which a router chooses: of one element for each expert, between the
/// product that makes the scores and the choice. Null if there is none, or several.
mlir::BlockArgument biasOfScores(plan::CallOp route);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_DATAFLOW_ROUTERS_H
