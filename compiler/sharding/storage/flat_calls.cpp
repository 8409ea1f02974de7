//===- flat_calls.cpp - calls on flat tensors -----------------------------===//

#include "compiler/sharding/storage/flat_calls.h"
#include "compiler/sharding/op_record.h"

using namespace meshplan;
using namespace meshplan::plan;
using llvm::SmallVector;

static bool hasDims(mlir::Value value) { return typeOf(value).getRank() != 0; }

static mlir::Value firstFlat(CallOp call) {
  for (mlir::Value operand : call.getOperands())
    if (getSharding(operand).isFlat())
      return operand;
  return {};
}

bool meshplan::hasFlatOperand(CallOp call) { return firstFlat(call) != nullptr; }

bool meshplan::runsFlat(CallOp call) {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  mlir::Value first = firstFlat(call);
  if (!record || !record->isPointwise || !first)
    return false;
  auto isLikeFirst = [&](mlir::Value operand) {
    return !hasDims(operand) ||
           (typeOf(operand).getShape() == typeOf(first).getShape() && getSharding(operand) == getSharding(first));
  };
  bool sharesNothing = llvm::none_of(getSharding(first).getDims(), isShared);
  auto isLikeOperands = [&](mlir::Value result) {
    return record->sumsElements ? sharesNothing : typeOf(result).getShape() == typeOf(first).getShape();
  };
  return llvm::all_of(call.getOperands(), isLikeFirst) && llvm::all_of(call.getResults(), isLikeOperands);
}

SmallVector<ShardingAttr> meshplan::flatResults(CallOp call, MeshOp mesh) {
  ShardingAttr sharding = getSharding(firstFlat(call));
  AxisList axes = allAxes(sharding);
  sortByMesh(axes, mesh);
  ShardingAttr addend = ShardingAttr::getReplicated(call.getContext(), 0).withPartial(Reduction::sum, axes);
  return SmallVector<ShardingAttr>(call.getNumResults(),
                                   OpRegistry::get().lookup(call.getTarget())->sumsElements ? addend : sharding);
}
