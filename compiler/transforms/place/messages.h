//===- messages.h - diagnostics of styles -----------------------*- C++ -*-===//
//
// The diagnostics of styles, in the terms of the plan. Free functions that read
// the program and change nothing. Those that report an error return failure.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_MESSAGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_MESSAGES_H

#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace meshplan {

/// "dim 0 of 'up.weight'"
std::string dimText(int64_t dim, mlir::BlockArgument parameter);

/// Reports a module that computes nothing that the model returns.
mlir::LogicalResult reportUnused(plan::StyleOp style, bool isParameter);

/// The reason why the features of a parameter cannot be divided.
struct FeatureFault {
  mlir::BlockArgument parameter; ///< null: no features are known of any parameter
  plan::CallOp call;
  bool isWhole = false; ///< the call needs the features whole; otherwise they are unknown after the call
  plan::CallOp grouped; ///< a grouped call that reads a parameter; null if there is none
};

/// Reports a colwise or rowwise module without such features.
mlir::LogicalResult reportNoFeatures(plan::StyleOp style, FeatureFault fault, bool isParameter);

/// Reports a dim, or a part of one, with fewer elements than shards.
mlir::LogicalResult reportSmallDim(mlir::InFlightDiagnostic diagnostic, const llvm::Twine &what, int64_t size,
                                   llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// Reports parts that do not sum to a dim. `known` are the parts into which the model splits it, if any.
mlir::LogicalResult reportWrongParts(mlir::InFlightDiagnostic diagnostic, llvm::ArrayRef<int64_t> parts,
                                     mlir::BlockArgument parameter, int64_t dim, llvm::ArrayRef<int64_t> known);

/// Reports a parameter whose sharding the plan also states directly, but differently from the style.
mlir::LogicalResult reportTwoPlacements(plan::StyleOp style, mlir::BlockArgument parameter);

/// Reports two styles of modules that share a parameter and would divide it differently.
mlir::LogicalResult reportTwoStyles(plan::StyleOp style, plan::ShardingAttr sharding, plan::StyleOp other,
                                    plan::ShardingAttr otherSharding, mlir::BlockArgument parameter);

/// Reports an expert module whose operators compute no rows of experts.
mlir::LogicalResult reportNoExperts(plan::StyleOp style, mlir::func::FuncOp function);

/// `within` names a module without products of rows inside experts.
mlir::LogicalResult reportNoFeaturesInside(plan::StyleOp style, mlir::func::FuncOp function);

/// Reports a module without a result that has its sequence dim.
mlir::LogicalResult reportNoSequenceDim(plan::StyleOp style);

/// Reports a sequence with fewer positions than shards.
mlir::LogicalResult reportShortSequence(plan::StyleOp style, int64_t extent, llvm::ArrayRef<plan::AxisRefAttr> axes,
                                        plan::MeshOp mesh);

/// Warns of a parameter that computes the only KV head of its attention, which each rank has to hold.
void warnOfOnlyKeyHead(plan::StyleOp style, mlir::BlockArgument parameter, llvm::ArrayRef<plan::AxisRefAttr> axes,
                       plan::MeshOp mesh);

/// "tp x cp"
std::string axisNames(llvm::ArrayRef<plan::AxisRefAttr> axes);

/// In the syntax of a plan: "tp", "(tp, cp)"
std::string axisWords(llvm::ArrayRef<plan::AxisRefAttr> axes);

/// "tp = 2, cp = 4"
std::string describeAxes(llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// "dim 0 over tp, dim 1 over cp x dp"
std::string describeSplits(plan::ShardingAttr sharding);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_MESSAGES_H
