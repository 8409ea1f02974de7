//===- data_collectives.cpp - what data parallelism moves -----------------===//

#include "compiler/transforms/group/data_collectives.h"
#include "compiler/sharding/op_record.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool isPointwise(CallOp call) {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  return record && record->isPointwise && call.getNumOperands() == 1;
}

/// What `value` is made of, as long as each step has one operand and keeps its elements in their places.
static Operation *stepBehind(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto call = dyn_cast_or_null<CallOp>(op))
    return isPointwise(call) ? op : nullptr;
  return isa_and_present<AllGatherOp, AllReduceOp, ReduceScatterOp, SliceOp>(op) ? op : nullptr;
}

static BlockArgument argumentBehind(Value value) {
  while (Operation *op = stepBehind(value))
    value = op->getOperand(0);
  return dyn_cast<BlockArgument>(value);
}

/// Calls of the backward pass, and what only these read.
static bool isBackward(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op); call && call.getBackward())
    return true;
  return !op->use_empty() && llvm::all_of(op->getUsers(), isBackward);
}

namespace {

class Finder {
public:
  explicit Finder(func::FuncOp function) : function(function) {}

  SmallVector<DataCollective> run() {
    for (Operation &op : function.getBody().front()) {
      if (auto gather = dyn_cast<AllGatherOp>(op))
        addGather(gather);
      else if (auto call = dyn_cast<CallOp>(op))
        addReaders(call);
    }
    Operation *output = function.getBody().front().getTerminator();
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      if (auto of = function.getResultAttrOfType<IntegerAttr>(index, "plan.gradient_of"))
        addBehind(output->getOperand(index), function.getArgument(of.getInt()), DataTraffic::reduce);
    llvm::stable_sort(found, [](const DataCollective &left, const DataCollective &right) {
      return left.op->isBeforeInBlock(right.op);
    });
    return std::move(found);
  }

private:
  /// The parameter itself, or the one that a state belongs to.
  BlockArgument parameterOf(BlockArgument argument) {
    auto of = argument ? function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "plan.of") : IntegerAttr();
    return of ? function.getArgument(of.getInt()) : argument;
  }

  void add(Operation *op, BlockArgument parameter, DataTraffic traffic) {
    if (parameter && dataOf(parameter))
      found.push_back({op, parameter, traffic});
  }

  void addGather(AllGatherOp gather) {
    BlockArgument parameter = gather.getDim() ? BlockArgument() : argumentBehind(gather.getInput());
    if (parameter && argumentKind(parameter) == "parameter")
      add(gather, parameter, isBackward(gather) ? DataTraffic::gatherBackward : DataTraffic::gatherForward);
  }

  /// The optimizer's calls, which take gradients and give new parameters.
  void addReaders(CallOp call) {
    CallView view = CallView::of(call);
    std::optional<unsigned> parameter = view.getOperand("parameter"), gradient = view.getOperand("gradient");
    if (parameter && gradient)
      addBehind(call.getOperands()[*gradient], parameterOf(argumentBehind(call.getOperands()[*parameter])),
                DataTraffic::reduce);
    if (call.getTarget() == "meshplan.accumulate")
      addBehind(call.getOperands()[*view.getOperand("addend")],
                dyn_cast<BlockArgument>(call.getOperands()[*view.getOperand("self")]), DataTraffic::reduce);
    if (call.getTarget() == "meshplan.assign")
      addBehind(call.getOperands()[*view.getOperand("source")],
                dyn_cast<BlockArgument>(call.getOperands()[*view.getOperand("self")]), DataTraffic::update);
  }

  void addBehind(Value value, BlockArgument parameter, DataTraffic traffic) {
    for (Operation *op = stepBehind(value); op; op = stepBehind(op->getOperand(0))) {
      bool isAboutDim = op->hasAttr("dim");
      if (isa<AllGatherOp, AllReduceOp, ReduceScatterOp>(op) && !isAboutDim)
        add(op, parameter, traffic);
    }
  }

  func::FuncOp function;
  SmallVector<DataCollective> found;
};

} // namespace

SmallVector<DataCollective> meshplan::findDataCollectives(func::FuncOp function) { return Finder(function).run(); }

int64_t meshplan::unitOf(BlockArgument parameter) {
  auto function = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  unsigned number = parameter.getArgNumber();
  if (auto unit = function.getArgAttrOfType<IntegerAttr>(number, "plan.unit"))
    return unit.getInt();
  return -1 - function.getArgAttrOfType<IntegerAttr>(number, "plan.data").getInt();
}
