//===- messages.h - what placing styles reports -----------------*- C++ -*-===//
//
// The errors of styles as a user of the plan reads them. Free functions: they
// look at the program and change nothing. Those that report an error fail.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PLACE_MESSAGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PLACE_MESSAGES_H

#include "dialect/plan/plan.h"

namespace meshplan {

/// "dim 0 of 'up.weight'"
std::string dimText(int64_t dim, mlir::BlockArgument parameter);

/// The module computes nothing that the model returns.
mlir::LogicalResult reportUnused(plan::StyleOp style, bool isParameter);

/// Why the features of a parameter cannot be divided.
struct FeatureFault {
  mlir::BlockArgument parameter; ///< null: nothing is known of any
  plan::CallOp call;
  bool isWhole = false; ///< the call needs them whole; else they are not known behind it
  plan::CallOp grouped; ///< a call of groups that reads a parameter; null if there is none
};

/// A colwise or rowwise module without such features.
mlir::LogicalResult reportNoFeatures(plan::StyleOp style, FeatureFault fault, bool isParameter);

/// A dim, or a part of one, that has not an element for each shard.
mlir::LogicalResult reportSmallDim(mlir::InFlightDiagnostic diagnostic, const llvm::Twine &what, int64_t size,
                                   llvm::ArrayRef<plan::AxisRefAttr> axes, plan::MeshOp mesh);

/// Parts that do not add up to a dim, which the model takes apart into `known`, if it does.
mlir::LogicalResult reportWrongParts(mlir::InFlightDiagnostic diagnostic, llvm::ArrayRef<int64_t> parts,
                                     mlir::BlockArgument parameter, int64_t dim, llvm::ArrayRef<int64_t> known);

/// A parameter whose place the plan states itself, and otherwise than a style.
mlir::LogicalResult reportTwoPlacements(plan::StyleOp style, mlir::BlockArgument parameter);

/// Two styles of modules that share a parameter, of which each would divide it otherwise.
mlir::LogicalResult reportTwoStyles(plan::StyleOp style, plan::ShardingAttr sharding, plan::StyleOp other,
                                    plan::ShardingAttr otherSharding, mlir::BlockArgument parameter);

/// A module that makes nothing with the dim of its sequence.
mlir::LogicalResult reportNoSequenceDim(plan::StyleOp style);

/// A sequence with fewer positions than shards.
mlir::LogicalResult reportShortSequence(plan::StyleOp style, int64_t extent, llvm::ArrayRef<plan::AxisRefAttr> axes,
                                        plan::MeshOp mesh);

/// A parameter that makes the one KV head of its attention, which each rank has to hold.
void warnOfOnlyKeyHead(plan::StyleOp style, mlir::BlockArgument parameter, llvm::ArrayRef<plan::AxisRefAttr> axes,
                       plan::MeshOp mesh);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PLACE_MESSAGES_H
