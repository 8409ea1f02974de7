//===- merge_halves.cpp - two microbatches in one program -----------------===//
//
// See MergeHalves in passes.td.
//
// Example: a layer whose rows are exchanged, of microbatches 2 i and 2 i + 1. Every op that depends on the microbatch
// is there twice; what does not, such as a gathered weight, is shared. Gradients are added before they are reduced over
// ranks:
//
//   %x = take_microbatch(%input, 2 i)
//   %a = exchange(dispatch(attention(%x)))
//   %x' = take_microbatch(%input, 2 i + 1)          while %a is on its way
//   %a' = exchange(dispatch(attention(%x')))
//   %y = product(%a, %w)                            while %a' is on its way
//   ...
//   %g = weight_gradient(%a, ...)
//   %g' = weight_gradient(%a', ...)
//   %sum = add(%g, %g')
//   %r = reduce_scatter(%sum)
//
// So the program is cut into blocks, before each op that needs what a collective of its half gives, and the second half
// of a block follows the first one. No op of one half depends on the other, and the phase `schedule` may choose another
// order. After the last collective both halves are side by side, so that neither gradient is held longer than the
// other.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/partition/passes.h"
#include "dialect/plan/argument_table.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"
#include "dialect/plan/step_call.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "runtime/schema/program_names.h"
#include <array>

namespace meshplan {
#define GEN_PASS_DEF_MERGEHALVES
#include "compiler/transforms/partition/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool accumulates(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  return call && call.getTarget() == "meshplan.accumulate";
}

/// The operand that is added to the sum over microbatches.
static OpOperand &addendOf(CallOp accumulation) {
  return accumulation->getOpOperand(accumulation.getArgs().getAs<OperandRefAttr>("addend").getIndex());
}

/// True if an integer of the attribute depends on the microbatch.
static bool dependsOnMicrobatch(Attribute attribute) {
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return llvm::any_of(list, dependsOnMicrobatch);
  auto local = dyn_cast<LocalIntAttr>(attribute);
  return local && local.getMicrobatchScale() != 0;
}

/// The attribute in a program of microbatch 2 i + `half`, as a function of i.
static Attribute inHalf(Attribute attribute, int64_t half) {
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return ArrayAttr::get(list.getContext(),
                          llvm::map_to_vector(list, [&](Attribute item) { return inHalf(item, half); }));
  auto local = dyn_cast<LocalIntAttr>(attribute);
  if (!local || local.getMicrobatchScale() == 0)
    return attribute;
  int64_t scale = local.getMicrobatchScale();
  return LocalIntAttr::get(local.getContext(), local.getConstant(), local.getOfResult(), local.getIndex(),
                           local.getDim(), local.getOffsetScale(), local.getExtentScale() + half * scale, 2 * scale);
}

namespace {

/// Makes a program of two microbatches out of that of one.
class HalvesMerger {
public:
  HalvesMerger(func::FuncOp function, int64_t instances) : function(function), instances(instances) {}

  LogicalResult run();

private:
  void findSums();
  void findHalves();
  LogicalResult check();
  void number();
  void duplicate();
  void duplicate(ArrayRef<Operation *> block, Operation *next);
  Value sumOf(Value value);
  void add();
  void dropAccumulators();

  func::FuncOp function;
  int64_t instances; ///< of the program that is made
  BlockArgument microbatch;
  SmallVector<CallOp> accumulations;
  SmallVector<OpOperand *> addends; ///< where a value of one microbatch becomes one of all
  DenseSet<Operation *> once;       ///< reads sums only
  DenseSet<Value> whole;            ///< values that follow from sums
  DenseSet<Value> ofHalf;           ///< values of one microbatch
  SmallVector<Operation *> halves;  ///< the ops that make them
  IRMapping second;
  DenseMap<Value, Value> sums; ///< of both halves
};

} // namespace

/// The sum of both halves is reduced over ranks, and not each of them.
void HalvesMerger::findSums() {
  for (Operation &op : function.getBody().front()) {
    if (!accumulates(&op))
      continue;
    accumulations.push_back(cast<CallOp>(op));
    once.insert(&op);
    OpOperand *addend = &addendOf(accumulations.back());
    while (isa_and_nonnull<AllReduceOp, ReduceScatterOp>(addend->get().getDefiningOp()) && addend->get().hasOneUse()) {
      Operation *reduction = addend->get().getDefiningOp();
      once.insert(reduction);
      addend = &reduction->getOpOperand(0);
    }
    addends.push_back(addend);
  }
}

void HalvesMerger::findHalves() {
  for (BlockArgument argument : function.getArguments())
    if (auto names = argAttr<attr::Names>(argument);
        argumentKind(argument) == ArgumentKind::setting && names &&
        names == Builder(argument.getContext()).getStrArrayAttr({StringRef(program_names::microbatch)}))
      microbatch = argument;
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto call = dyn_cast<CallOp>(op);
    bool isOfHalf =
        llvm::any_of(op.getOperands(), [&](Value value) { return value == microbatch || ofHalf.contains(value); }) ||
        (call &&
         llvm::any_of(call.getArgs(), [](NamedAttribute each) { return dependsOnMicrobatch(each.getValue()); }));
    if (!isOfHalf || once.contains(&op))
      continue;
    halves.push_back(&op);
    ofHalf.insert(op.result_begin(), op.result_end());
  }
}

/// What reads a sum must not also read a value of one microbatch: it would be that of either half.
LogicalResult HalvesMerger::check() {
  for (Operation &op : function.getBody().front()) {
    bool isWhole =
        once.contains(&op) || llvm::any_of(op.getOperands(), [&](Value value) { return whole.contains(value); });
    if (!isWhole && !op.hasTrait<OpTrait::IsTerminator>())
      continue;
    whole.insert(op.result_begin(), op.result_end());
    for (OpOperand &operand : op.getOpOperands())
      if (ofHalf.contains(operand.get()) && !llvm::is_contained(addends, &operand))
        return op.emitError("halves cannot be merged: an operand is of one microbatch, and not of all");
  }
  return success();
}

/// Replaces the number of the microbatch by those of the halves.
void HalvesMerger::number() {
  if (!microbatch)
    return;
  auto builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Type type = microbatch.getType();
  auto made = [&](StringRef target, Value value, double other) {
    Value number = StepCall(target, builder, function.getLoc()).tensor("self", value).number("other", other).make(type);
    // The forward pass reads it.
    number.getDefiningOp<CallOp>().setBackward(false);
    return number;
  };
  Value first = instances == 1 ? Value(microbatch) : made("aten.mul.Scalar", microbatch, 2);
  Value next = made("aten.add.Scalar", first, 1);
  if (instances > 1)
    microbatch.replaceAllUsesExcept(first, first.getDefiningOp());
  second.map(first, next);
}

/// True for a collective that takes time. Counts, which are few, are waited for.
static bool takesTime(Operation *op) {
  return collectiveKindOf(op) &&
         llvm::any_of(op->getResultTypes(), [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); });
}

/// Inserts the second half of a block before `next`, the first op after it. What reads sums moves after both.
void HalvesMerger::duplicate(ArrayRef<Operation *> block, Operation *next) {
  SmallVector<Operation *> readers;
  for (Operation *op = block.front(); op != next; op = op->getNextNode())
    if (llvm::any_of(op->getResults(), [&](Value value) { return whole.contains(value); }))
      readers.push_back(op);
  OpBuilder builder(next);
  for (Operation *op : block) {
    Operation *other = builder.clone(*op, second);
    for (auto [half, each] : llvm::enumerate(std::array<Operation *, 2>{op, other}))
      if (auto call = dyn_cast<CallOp>(each)) {
        SmallVector<NamedAttribute> args;
        for (NamedAttribute arg : call.getArgs())
          args.emplace_back(arg.getName(), inHalf(arg.getValue(), half));
        call.setArgsAttr(DictionaryAttr::get(op->getContext(), args));
      }
  }
  for (Operation *reader : readers)
    reader->moveBefore(next);
}

void HalvesMerger::duplicate() {
  size_t collectives = llvm::count_if(halves, takesTime);
  DenseSet<Value> awaited;
  SmallVector<Operation *> block;
  auto end = [&](Operation *next) {
    if (!block.empty())
      duplicate(block, next);
    block.clear();
    awaited.clear();
  };
  for (Operation *op : halves) {
    if (llvm::any_of(op->getOperands(), [&](Value value) { return awaited.contains(value); }))
      end(op);
    block.push_back(op);
    if (takesTime(op)) {
      awaited.insert(op->result_begin(), op->result_end());
      --collectives;
    } else if (collectives == 0 && awaited.empty()) {
      end(op->getNextNode());
    }
  }
  end(function.getBody().front().getTerminator());
}

Value HalvesMerger::sumOf(Value value) {
  Value &sum = sums[value];
  if (sum)
    return sum;
  // Where both are there, so that neither is held longer.
  Value other = second.lookupOrDefault(value);
  OpBuilder builder(function.getContext());
  if (Operation *op = other.getDefiningOp())
    builder.setInsertionPointAfter(op);
  else
    builder.setInsertionPointToStart(&function.getBody().front());
  return sum = StepCall("aten.add.Tensor", builder, value.getLoc())
                   .tensor("self", value)
                   .tensor("other", other)
                   .make(value.getType());
}

void HalvesMerger::add() {
  for (OpOperand *addend : addends)
    addend->set(sumOf(addend->get()));
}

/// A program that runs once has the sums, and needs no arguments to keep them.
void HalvesMerger::dropAccumulators() {
  Operation *output = function.getBody().front().getTerminator();
  llvm::BitVector arguments(function.getNumArguments()), results(function.getNumResults());
  ArgumentTable table(function);
  for (CallOp accumulation : accumulations)
    for (BlockArgument argument : function.getArguments())
      if (llvm::is_contained(accumulation.getOperands(), argument))
        arguments.set(argument.getArgNumber());
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    if (BlockArgument updated = table[resultAttr<attr::Updates>(function, index)];
        updated && arguments[updated.getArgNumber()])
      results.set(index);
  for (CallOp accumulation : accumulations) {
    accumulation.getResult(0).replaceAllUsesWith(addendOf(accumulation).get());
    accumulation.erase();
  }
  SmallVector<Value> kept;
  for (auto [index, value] : llvm::enumerate(output->getOperands()))
    if (!results[index])
      kept.push_back(value);
  // Before the arguments: a result refers to the one that it updates.
  output->setOperands(kept);
  [[maybe_unused]] LogicalResult dropped = function.eraseResults(results);
  [[maybe_unused]] LogicalResult erased = function.eraseArguments(arguments);
}

LogicalResult HalvesMerger::run() {
  findSums();
  findHalves();
  if (failed(check()))
    return failure();
  number();
  duplicate();
  add();
  if (instances == 1)
    dropAccumulators();
  return success();
}

namespace {

struct MergeHalvesPass : meshplan::impl::MergeHalvesBase<MergeHalvesPass> {
  void runOnOperation() final {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (auto timeline = opAttr<attr::Timeline>(function); timeline && failed(merge(function, timeline)))
        return signalPassFailure();
  }

  /// Other programs of the timeline, which only count, stay as they are.
  static LogicalResult merge(func::FuncOp function, ArrayAttr timeline) {
    int64_t instances = base::instancesIn(timeline, function.getSymName());
    assert(instances % 2 == 0 && "halves of microbatches are even in number");
    SmallVector<Attribute> merged;
    for (auto instance : timeline.getAsRange<base::InstanceAttr>()) {
      bool isOwn = instance.getProgram().getValue() == function.getSymName();
      if (!isOwn)
        merged.push_back(instance);
      else if (instance.getMicrobatch() % 2 == 0)
        merged.push_back(
            base::InstanceAttr::get(function.getContext(), instance.getProgram(), instance.getMicrobatch() / 2));
    }
    setOpAttr<attr::Timeline>(function, ArrayAttr::get(function.getContext(), merged));
    return HalvesMerger(function, instances / 2).run();
  }
};

} // namespace
