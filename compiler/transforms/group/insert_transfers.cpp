//===- insert_transfers.cpp - copies between device and host --------------===//
//
// See InsertTransfers in passes.td.
//
//===----------------------------------------------------------------------===//
//
// Tensors with `plan.host` are in host memory. The pass makes each operation run in one memory, in a single walk:
//
// - An operation that changes a host tensor, such as an optimizer with offloaded states, runs on the host. Its other
//   operands are copied there; a parameter on the device that it changes is assigned back from the host.
// - Any other reader runs on the device and reads a copy.
//
// Copies are inserted where they can overlap: a parameter is copied once before its first reader in the forward and in
// the backward pass, and gradients are copied while those of the next bucket are reduced.
//
//   before                       after
//   r0 = reduce_scatter g0       r0 = reduce_scatter g0
//   r1 = reduce_scatter g1       h0 = to_host r0
//   adam w0, r0 (host)           r1 = reduce_scatter g1
//   adam w1, r1 (host)           adam w0, h0 (host)
//                                h1 = to_host r1
//                                adam w1, h1 (host)

#include "compiler/sharding/coalesced.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/storage/transfers.h"
#include "compiler/transforms/group/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/step_call.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace meshplan {
#define GEN_PASS_DEF_INSERTTRANSFERS
#include "compiler/transforms/group/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static const OpRecord *recordOf(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  return call ? OpRegistry::get().lookup(call.getTarget()) : nullptr;
}

/// The operands that an operation overwrites, in the order of its results.
static SmallVector<OpOperand *> overwrittenOperands(Operation *op) {
  SmallVector<OpOperand *> operands;
  if (const OpRecord *record = recordOf(op))
    for (StringRef name : record->overwrites)
      operands.push_back(&op->getOpOperand(*CallView::of(cast<CallOp>(op)).getOperand(name)));
  return operands;
}

static OpOperand *gradientOf(Operation *op) {
  std::optional<unsigned> gradient = CallView::of(cast<CallOp>(op)).getOperand("gradient");
  return gradient ? &op->getOpOperand(*gradient) : nullptr;
}

/// True if an operation runs on the host. An operation that overwrites a tensor runs in that tensor's memory; an
/// optimizer in the memory of its last operand, a state. Results of the host are converted on the host.
static bool worksOnHost(Operation *op) {
  if (SmallVector<OpOperand *> overwritten = overwrittenOperands(op); !overwritten.empty())
    return isOnHost(overwritten.back()->get());
  // A conversion of an argument is not meant: the converted parameter is for the device, and the copy moves the stored
  // type.
  bool isConversion = isa<CallOp>(op) && isCarrier(op);
  return isConversion && op->getOperand(0).getDefiningOp() && isOnHost(op->getOperand(0));
}

/// The operands that must be in the memory in which the operation runs. An optimizer reads scalars from anywhere, and
/// an assignment copies from anywhere.
static SmallVector<OpOperand *> operandsOfOneMemory(Operation *op) {
  SmallVector<OpOperand *> operands = overwrittenOperands(op);
  if (operands.empty())
    return llvm::map_to_vector(op->getOpOperands(), [](OpOperand &operand) { return &operand; });
  if (OpOperand *gradient = gradientOf(op))
    operands.push_back(gradient);
  return operands;
}

/// The collective that produces a gradient, or null.
static Operation *reductionOf(Value gradient) {
  for (Operation *op = gradient.getDefiningOp(); isCarrier(op); op = op->getOperand(0).getDefiningOp())
    if (isa<ReduceScatterOp, AllReduceOp, AllGatherOp>(op))
      return op;
  return nullptr;
}

namespace {

class Inserter {
public:
  explicit Inserter(func::FuncOp function) : function(function), builder(function.getContext()) {}

  void run();

private:
  void bringOperands(Operation *op);
  Value copyBefore(Operation *point, Value value, bool toHost);

  /// A copy on the device: one for all readers of the forward pass, and one for all of the backward pass.
  Value sharedCopy(Operation *reader, Value value);

  /// Assigns the changed copy of a parameter back to the parameter.
  void assignBack(Operation *op, OpOperand *changed, BlockArgument parameter);

  /// Copies outputs to the device. Updated arguments were changed in place.
  void bringOutputs(Operation &output);

  /// The position before which a gradient must be copied to the host: where the next gradients are reduced. This leaves
  /// time to overlap the copy, and no two buckets are live at once.
  Operation *insertionPointFor(OpOperand &gradient);

  /// Copies a gradient to the host. Its norm and its number of non-finite elements are computed on the device before.
  void bringGradient(OpOperand &gradient);

  func::FuncOp function;
  OpBuilder builder;
  /// Copies on the device of host tensors, for the forward and for the backward pass.
  DenseMap<Value, Value> onDevice[2];
  /// Operands of optimizer calls that run on the host.
  SmallVector<OpOperand *> gradients;
};

} // namespace

void Inserter::run() {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
    if (op.hasTrait<OpTrait::IsTerminator>())
      bringOutputs(op);
    else
      bringOperands(&op);
  for (OpOperand *gradient : gradients)
    bringGradient(*gradient);
}

void Inserter::bringOperands(Operation *op) {
  bool onHost = worksOnHost(op);
  if (onHost)
    setOpAttr<attr::Host>(op, builder.getUnitAttr());
  bool changes = !overwrittenOperands(op).empty();
  for (OpOperand *operand : operandsOfOneMemory(op)) {
    if (isOnHost(operand->get()) == onHost)
      continue;
    if (changes && onHost && operand == gradientOf(op)) {
      // Copied last, when all reductions are known: the position of each copy depends on the next one.
      gradients.push_back(operand);
      continue;
    }
    Value old = operand->get();
    operand->set(changes ? copyBefore(op, old, onHost) : sharedCopy(op, old));
    if (auto argument = dyn_cast<BlockArgument>(old); argument && changes)
      assignBack(op, operand, argument);
  }
}

Value Inserter::copyBefore(Operation *point, Value value, bool toHost) {
  builder.setInsertionPoint(point);
  return transfer(builder, point->getLoc(), value, toHost);
}

Value Inserter::sharedCopy(Operation *reader, Value value) {
  // One copy for both passes would occupy the device from forward to backward, which offloading is to avoid.
  Value &copy = onDevice[isBackward(reader)][value];
  if (!copy)
    copy = copyBefore(coalescedWith(reader).front(), value, /*toHost=*/false);
  return copy;
}

void Inserter::assignBack(Operation *op, OpOperand *changed, BlockArgument parameter) {
  auto overwritten = overwrittenOperands(op);
  // An operand that is only read needs no way back.
  auto found = llvm::find(overwritten, changed);
  if (found == overwritten.end())
    return;
  Value result = op->getResult(found - overwritten.begin());
  builder.setInsertionPointAfter(op);
  CallOp assign = StepCall(assignTarget, builder, op->getLoc())
                      .tensor("self", parameter)
                      .tensor("source", result)
                      .build(parameter.getType());
  if (isOnHost(parameter))
    setOpAttr<attr::Host>(assign, builder.getUnitAttr());
  result.replaceAllUsesExcept(assign.getResult(0), assign);
}

void Inserter::bringOutputs(Operation &output) {
  for (OpOperand &operand : output.getOpOperands())
    if (!resultAttr<attr::Updates>(function, operand.getOperandNumber()) && isOnHost(operand.get()))
      operand.set(copyBefore(&output, operand.get(), /*toHost=*/false));
}

Operation *Inserter::insertionPointFor(OpOperand &gradient) {
  Operation *maker = gradient.get().getDefiningOp(), *reduction = reductionOf(gradient.get());
  if (!reduction)
    return maker ? maker->getNextNode() : gradient.getOwner();
  Operation *point = gradient.getOwner();
  for (OpOperand *other : gradients) {
    Operation *next = reductionOf(other->get());
    next = next ? coalescedWith(next).front() : nullptr;
    // The nearest reduction after this one: the copy starts with it, at the front of its bucket, whose members must
    // stay adjacent.
    if (next && maker->isBeforeInBlock(next) && next->isBeforeInBlock(point))
      point = next;
  }
  return point;
}

void Inserter::bringGradient(OpOperand &gradient) {
  Operation *point = insertionPointFor(gradient);
  SmallVector<Operation *> sums;
  for (Operation *reader : gradient.get().getUsers())
    if (const OpRecord *record = recordOf(reader);
        record && record->sumsElements && reader->getNumOperands() == 1 && !reader->isBeforeInBlock(point))
      sums.push_back(reader);
  llvm::sort(sums, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
  // A sum that stayed below would keep the gradient on the device after it has been copied.
  for (Operation *sum : sums)
    if (sum != point)
      sum->moveBefore(point);
  builder.setInsertionPoint(point);
  gradient.set(transfer(builder, gradient.getOwner()->getLoc(), gradient.get(), /*toHost=*/true));
}

namespace {

struct InsertTransfersPass : meshplan::impl::InsertTransfersBase<InsertTransfersPass> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<func::FuncOp>())
      Inserter(function).run();
  }
};

} // namespace
