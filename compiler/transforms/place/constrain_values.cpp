//===- constrain_values.cpp - layouts that a style gives to values --------===//

#include "compiler/transforms/place/constrain_values.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

void meshplan::constrainOperand(OpOperand &operand, ShardingAttr layout, StyleOp style) {
  // A layout that another module states for its output does not count: a border may still follow it.
  if (auto existing = operand.get().getDefiningOp<ConstrainOp>())
    if (existing.getLayout() == layout && existing.getAxes() == style.getAxes() && !moduleOfOutput(existing))
      return;
  OpBuilder builder(operand.getOwner());
  operand.set(ConstrainOp::create(builder, style.getLoc(), operand.get().getType(), operand.get(), layout,
                                  style.getAxes(), style.getTextAttr()));
}

void meshplan::constrainResult(Value result, const llvm::SmallPtrSetImpl<Operation *> &inside, ShardingAttr layout,
                               StyleOp style) {
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfterValue(result);
  auto constrain = ConstrainOp::create(builder, style.getLoc(), result.getType(), result, layout, style.getAxes(),
                                       style.getTextAttr());
  markOutput(constrain, style.getModule());
  result.replaceUsesWithIf(
      constrain, [&](OpOperand &use) { return use.getOwner() != constrain && !inside.contains(use.getOwner()); });
}
