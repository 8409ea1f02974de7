//===- constrain_values.cpp - layouts that styles give to values ----------===//

#include "compiler/transforms/place/constrain_values.h"
#include "compiler/sharding/axes.h"
#include "compiler/sharding/dataflow/module_border.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/place/messages.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;
using Calls = llvm::SmallPtrSetImpl<Operation *>;

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

static bool enters(Value value, const Calls &inside) {
  Operation *producer = value.getDefiningOp();
  if (isWeight(value) || isa_and_nonnull<ConstantOp>(producer))
    return false;
  return !producer || !inside.contains(producer);
}

static bool leaves(Value value, const Calls &inside) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) { return !inside.contains(user); });
}

static bool hasSequence(Value value, int64_t dim, int64_t extent) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() > dim && type.getDimSize(dim) == extent && isa<FloatType>(type.getElementType());
}

/// The size of the dim in the last result that leaves the module and has the dim.
static std::optional<int64_t> extentOf(ArrayRef<CallOp> calls, const Calls &inside, int64_t dim) {
  std::optional<int64_t> extent;
  for (CallOp call : calls)
    for (Value result : call->getResults())
      if (leaves(result, inside) && cast<RankedTensorType>(result.getType()).getRank() > dim)
        extent = cast<RankedTensorType>(result.getType()).getDimSize(dim);
  return extent;
}

LogicalResult meshplan::placeSequence(StyleOp style, ArrayRef<CallOp> calls, MeshOp mesh, DimBlocks &blocks,
                                      llvm::function_ref<bool()> isFirstReport) {
  llvm::SmallPtrSet<Operation *, 16> inside(calls.begin(), calls.end());
  int64_t dim = style.getDim();
  AxisList axes = dividingAxes(toAxes(style.getAxes()), mesh);
  // The result tells what the sequence is: inputs such as masks and rotary tables may have another size in this dim,
  // and are not divided.
  std::optional<int64_t> extent = extentOf(calls, inside, dim);
  if (!extent)
    return isFirstReport() ? reportNoSequenceDim(style) : failure();
  if (*extent < shardCount(axes, mesh))
    return isFirstReport() ? reportShortSequence(style, *extent, axes, mesh) : failure();
  auto layoutOf = [&](Value value) {
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    return ShardingAttr::getReplicated(value.getContext(), rank).withDim(dim, blocks.divide(value, dim, axes, mesh));
  };
  for (CallOp call : calls) {
    for (OpOperand &operand : call->getOpOperands())
      if (enters(operand.get(), inside) && hasSequence(operand.get(), dim, *extent))
        constrainOperand(operand, layoutOf(operand.get()), style);
    for (Value result : call->getResults())
      if (leaves(result, inside) && hasSequence(result, dim, *extent))
        constrainResult(result, inside, layoutOf(result), style);
  }
  return success();
}
