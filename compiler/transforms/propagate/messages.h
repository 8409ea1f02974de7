//===- messages.h - diagnostics of propagation ------------------*- C++ -*-===//
//
// The diagnostics of propagation, in the terms of the plan. Free functions that
// read the program and the layouts decided so far, and change nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_MESSAGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_MESSAGES_H

#include "compiler/sharding/blocks/dim_blocks.h"
#include "compiler/transforms/propagate/border_help.h"
#include "compiler/transforms/propagate/decide_call.h"
#include "compiler/transforms/propagate/layouts.h"

namespace meshplan {

/// The statement that divides a value.
struct DividingStatement {
  mlir::Location location;
  plan::StyleOp style;       ///< null if it is not the style of a module
  bool placesWeight = false; ///< it states the sharding of a parameter directly

  /// True if it divides features or a parameter, and so accepts `parts`.
  bool takesParts() const;
};

/// Reports an axis of operand `index` that does not fit the factors of the call, such as an axis that would cut a head:
/// the message counts heads, not columns. `blocks` are those of the call's function.
void reportMisfit(plan::CallOp call, unsigned index, const Misfit &misfit, const FactorRule &rule, plan::MeshOp mesh,
                  const DividingStatement &statement, const DimBlocks &blocks, const StatedLayouts &statements);

/// Reports an operator without a record that would read several microbatches of its operand. `location` is the location
/// of a statement that divides the operand.
void reportUnknownOperator(plan::CallOp call, unsigned index, const Layouts &layouts, mlir::Location location);

/// Reports a call that selects single parts of a fused weight from operand `index` although the statement divides all
/// parts as one, so that they would be gathered to `needed`. Returns false if this is not the case.
bool reportMissingParts(plan::CallOp call, unsigned index, plan::ShardingAttr needed, plan::MeshOp mesh,
                        const DividingStatement &statement, const DimBlocks &blocks);

/// Reports operand `index` that moves between ranks, to `needed`, although nothing in the plan asks for it.
void reportUnstatedReshard(plan::CallOp call, unsigned index, plan::ShardingAttr needed, plan::MeshOp mesh,
                           const DividingStatement &statement, const StatedLayouts &statements, bool isError);

/// Reports a route whose tokens are gathered over axes that divide its experts, too, although rows could be exchanged
/// if tokens or experts were divided evenly.
void reportGatheredTokens(plan::CallOp route, mlir::Value indices, llvm::ArrayRef<plan::AxisRefAttr> gathered,
                          llvm::ArrayRef<plan::AxisRefAttr> experts, const Cause &cause, plan::MeshOp mesh);

/// Reports a statement that divides a dim over the axes over which it already arrives divided, but in other blocks or
/// parts, for example because only one of two weights has `parts`. `other` is the cause of the arriving division.
void reportOtherDivision(plan::ConstrainOp constrain, mlir::Value value, plan::ShardingAttr to, plan::MeshOp mesh,
                         const std::optional<Cause> &other, bool isError);

/// Reports a style that divides a dim into more shards than it has elements.
void reportSmallDim(plan::ConstrainOp constrain, int64_t dim, int64_t shards);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_MESSAGES_H
