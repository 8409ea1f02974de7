//===- data_collectives.cpp - collectives of data parallelism -------------===//

#include "compiler/transforms/group/data_collectives.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/reshard_steps.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

class Finder {
public:
  explicit Finder(func::FuncOp function) : function(function), arguments(function) {}

  SmallVector<DataCollective> run() {
    for (Operation &op : function.getBody().front()) {
      if (auto gather = dyn_cast<AllGatherOp>(op))
        addGather(gather);
      else if (auto call = dyn_cast<CallOp>(op))
        addReaders(call);
    }
    Operation *output = function.getBody().front().getTerminator();
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      if (BlockArgument parameter = arguments[resultAttr<attr::GradientOf>(function, index)])
        addSourceOf(output->getOperand(index), parameter, DataTraffic::reduce);
    // Collectives of gradients were found from their readers backward, so not in program order.
    llvm::stable_sort(found, [](const DataCollective &left, const DataCollective &right) {
      return left.op->isBeforeInBlock(right.op);
    });
    return std::move(found);
  }

private:
  /// A collective may serve several results; it is recorded for the first.
  void add(Operation *op, BlockArgument parameter, DataTraffic traffic) {
    if (parameter && dataOf(parameter) && seen.insert(op).second)
      found.push_back({op, parameter, traffic});
  }

  void addGather(AllGatherOp gather) {
    BlockArgument parameter = gather.getDim() ? BlockArgument() : sourceArgument(gather.getInput());
    if (parameter && argumentKind(parameter) == ArgumentKind::parameter)
      add(gather, parameter, isBackward(gather) ? DataTraffic::gatherBackward : DataTraffic::gatherForward);
  }

  /// Calls of the optimizer, which take gradients and return new parameters.
  void addReaders(CallOp call) {
    CallView view = CallView::of(call);
    std::optional<unsigned> parameter = view.getOperand("parameter"), gradient = view.getOperand("gradient");
    // A master or a slice may be what the optimizer changes; the statement is that of its parameter.
    if (parameter && gradient)
      addSourceOf(call.getOperands()[*gradient], arguments.parameterOf(sourceArgument(call.getOperands()[*parameter])),
                  DataTraffic::reduce);
    if (call.getTarget() == "meshplan.accumulate")
      addSourceOf(call.getOperands()[*view.getOperand("addend")],
                  dyn_cast<BlockArgument>(call.getOperands()[*view.getOperand("self")]), DataTraffic::reduce);
    if (call.getTarget() == "meshplan.assign")
      addSourceOf(call.getOperands()[*view.getOperand("source")],
                  dyn_cast<BlockArgument>(call.getOperands()[*view.getOperand("self")]), DataTraffic::update);
  }

  void addSourceOf(Value value, BlockArgument parameter, DataTraffic traffic) {
    // Back through conversions and scalings to all collectives of the gradient: one that is reduced over tp and then
    // scattered over dp has two.
    for (Operation *op = value.getDefiningOp(); isCarrier(op); op = op->getOperand(0).getDefiningOp()) {
      // A collective along a dim belongs to tensor parallelism.
      if (isa<AllGatherOp, AllReduceOp, ReduceScatterOp>(op) && !stepDim(op))
        add(op, parameter, traffic);
    }
  }

  func::FuncOp function;
  ArgumentTable arguments;
  SmallVector<DataCollective> found;
  llvm::SmallPtrSet<Operation *, 16> seen;
};

} // namespace

SmallVector<DataCollective> meshplan::findDataCollectives(func::FuncOp function) { return Finder(function).run(); }

int64_t meshplan::unitOf(BlockArgument parameter) {
  auto function = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  unsigned number = parameter.getArgNumber();
  DataOp data = dataOf(parameter);
  auto unit = argAttr<attr::Unit>(function, number);
  if (unit && data.getShard() != DataStage::replicated)
    return unit.getInt();
  return -1 - argAttr<attr::Data>(function, number).getInt();
}
