//===- messages.h - what propagation reports --------------------*- C++ -*-===//
//
// The errors of propagation as a user of the plan reads them. Free functions:
// they look at the program and at the layouts decided so far, and change nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_MESSAGES_H
#define MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_MESSAGES_H

#include "compiler/sharding/units/dim_units.h"
#include "compiler/transforms/propagate/border_help.h"
#include "compiler/transforms/propagate/decide_call.h"
#include "compiler/transforms/propagate/layouts.h"

namespace meshplan {

/// The statement that divides a value.
struct DividingStatement {
  mlir::Location location;
  plan::StyleOp style;       ///< null if it is no style of a module
  bool placesWeight = false; ///< it places a parameter directly

  /// True if it divides features or a parameter, and so takes `parts`.
  bool takesParts() const;
};

/// An axis of operand `index` cannot be taken apart as the call's factors ask,
/// as where an axis would cut a head: counts heads, not columns. `units` are those of the call's function.
void reportBlockedAxis(plan::CallOp call, unsigned index, const ProjectionBlock &block, const FactorRule &rule,
                       plan::MeshOp mesh, const DividingStatement &statement, const DimUnits &units,
                       const StatedLayouts &statements);

/// An operator without a record would read several microbatches of its operand. `place` is a statement that divides it.
void reportUnknownOperator(plan::CallOp call, unsigned index, const Layouts &layouts, mlir::Location place);

/// Reports that the call takes from operand `index` single parts of a fused weight whose statement divides all of them
/// as one, so that they would be gathered to `needed`. False if it does not.
bool reportMissingParts(plan::CallOp call, unsigned index, plan::ShardingAttr needed, plan::MeshOp mesh,
                        const DividingStatement &statement, const DimUnits &units);

/// Operand `index` moves between ranks, to `needed`, and nothing in the plan says so.
void reportUnstatedReshard(plan::CallOp call, unsigned index, plan::ShardingAttr needed, plan::MeshOp mesh,
                           const DividingStatement &statement, const StatedLayouts &statements, bool isError);

/// The statement divides a dim over the axes over which it arrives divided, and deals it otherwise, as where one of two
/// weights has `parts`. `other` is behind the value.
void reportOtherDivision(plan::ConstrainOp constrain, mlir::Value value, plan::ShardingAttr to, plan::MeshOp mesh,
                         const std::optional<Cause> &other, bool isError);

/// A style divides a dim into more shards than it has elements.
void reportSmallDim(plan::ConstrainOp constrain, int64_t dim, int64_t shards);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_PROPAGATE_MESSAGES_H
