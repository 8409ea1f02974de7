//===- repeat_reshards.cpp - what is gathered is gathered again -----------===//
//
// See RepeatReshards in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/partition/passes.h"
#include "dialect/plan/plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {
#define GEN_PASS_DEF_REPEATRESHARDS
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// True for calls of the backward pass, and for reshards that only these read.
static bool isBackward(Operation *op) {
  if (isa<ReshardOp>(op))
    return llvm::all_of(op->getUsers(), isBackward);
  auto call = dyn_cast<CallOp>(op);
  return call && call.getBackward();
}

/// The first backward reader in the program, if something else reads the value before; null otherwise.
static Operation *firstBackwardReader(ReshardOp reshard) {
  Operation *first = nullptr;
  bool isReadBefore = false;
  for (Operation *user : reshard.getResult().getUsers())
    if (!isBackward(user))
      isReadBefore = true;
    else if (!first || user->isBeforeInBlock(first))
      first = user;
  return isReadBefore ? first : nullptr;
}

/// True if the rank holds more of the result than of what it is made of. Sums over ranks are not made twice.
static bool grows(ReshardOp reshard, MeshOp mesh) {
  auto from = cast<RankedTensorType>(reshard.getInput().getType());
  auto to = cast<RankedTensorType>(reshard.getResult().getType());
  return !getSharding(from).isPartial() && largestShardBytes(to, mesh) > largestShardBytes(from, mesh);
}

/// True for what is gathered of a parameter that the plan keeps.
static bool isKept(ReshardOp reshard) {
  Value value = reshard.getInput();
  while (auto call = value.getDefiningOp<CallOp>()) {
    if (call.getNumOperands() != 1)
      return false;
    value = call.getOperands().front();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = reshard->getParentOfType<func::FuncOp>();
  return argument && function.getArgAttr(argument.getArgNumber(), "plan.keep");
}

namespace {
struct RepeatReshardsPass : meshplan::impl::RepeatReshardsBase<RepeatReshardsPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    getOperation().walk([&](ReshardOp reshard) {
      Operation *first = grows(reshard, mesh) && !isKept(reshard) ? firstBackwardReader(reshard) : nullptr;
      if (!first)
        return;
      Operation *again = OpBuilder(first).clone(*reshard);
      reshard.getResult().replaceUsesWithIf(again->getResult(0),
                                            [](OpOperand &use) { return isBackward(use.getOwner()); });
    });
  }
};
} // namespace
