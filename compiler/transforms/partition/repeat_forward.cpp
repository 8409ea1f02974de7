//===- repeat_reshards.cpp - what is gathered is gathered again -----------===//
//
// See RepeatReshards in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/calls/carriers.h"
#include "compiler/transforms/partition/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshplan {
#define GEN_PASS_DEF_REPEATRESHARDS
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// True if the rank holds more of the result than of what it is made of. Sums over ranks are not made twice.
static bool grows(ReshardOp reshard, MeshOp mesh) {
  auto from = cast<RankedTensorType>(reshard.getInput().getType());
  auto to = cast<RankedTensorType>(reshard.getResult().getType());
  return !getSharding(from).isPartial() && largestShardBytes(to, mesh) > largestShardBytes(from, mesh);
}

namespace {

/// One reshard, what carries its result on, and who reads that.
class Repeater {
public:
  explicit Repeater(ReshardOp reshard) : reshard(reshard), parameter(argumentBehind(reshard.getInput())) {
    follow(reshard.getResult());
  }

  /// Of a parameter that the plan keeps, what is gathered is not gathered again.
  bool isKept() const {
    auto function = cast<func::FuncOp>(reshard->getParentOp());
    return parameter && function.getArgAttr(parameter.getArgNumber(), "plan.keep");
  }

  void run() {
    if (!isReadBefore || backward.empty())
      return;
    Operation *first = backward.front()->getOwner();
    for (OpOperand *use : backward)
      if (use->getOwner()->isBeforeInBlock(first))
        first = use->getOwner();
    OpBuilder builder(first);
    for (OpOperand *use : backward)
      use->set(again(use->get(), builder));
  }

private:
  /// A parameter is read behind its conversions; any other value as it is.
  void follow(Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *reader = use.getOwner();
      if (isBackward(reader))
        backward.push_back(&use);
      else if (parameter && isa<CallOp>(reader) && isCarrier(reader) && !reader->use_empty())
        follow(reader->getResult(0));
      else
        isReadBefore = true;
    }
  }

  /// The same value made again: of a parameter from the beginning, so that a rank holds nothing but the parameter.
  Value again(Value value, OpBuilder &builder) {
    Operation *op = value.getDefiningOp();
    bool isRepeated = op && (op == reshard || (parameter && isCarrier(op)));
    if (!isRepeated)
      return value;
    Operation *&repeated = copies[op];
    if (!repeated) {
      Value operand = again(op->getOperand(0), builder);
      repeated = builder.clone(*op);
      repeated->setOperand(0, operand);
    }
    return repeated->getResult(0);
  }

  ReshardOp reshard;
  BlockArgument parameter;
  SmallVector<OpOperand *> backward;
  bool isReadBefore = false;
  DenseMap<Operation *, Operation *> copies;
};

struct RepeatReshardsPass : meshplan::impl::RepeatReshardsBase<RepeatReshardsPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp reshard) {
      if (grows(reshard, mesh))
        reshards.push_back(reshard);
    });
    for (ReshardOp reshard : reshards)
      if (Repeater repeater(reshard); !repeater.isKept())
        repeater.run();
  }
};

} // namespace
