//===- repeat_forward.cpp - what is cheap to make is made again -----------===//
//
// See RepeatForward in passes.td.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/calls/carriers.h"
#include "compiler/sharding/calls/cheap_calls.h"
#include "compiler/transforms/partition/passes.h"
#include "dialect/plan/attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace meshplan {
#define GEN_PASS_DEF_REPEATFORWARD
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

constexpr int64_t never = -1, always = std::numeric_limits<int64_t>::max();

/// When the backward pass reads what an op of the forward pass makes. Times are places of ops in the program.
struct Reading {
  int64_t first = always, last = never;
  bool isLate = false;       ///< it is read behind the forward pass otherwise, too: it lives on anyway
  bool isRepeatable = false; ///< it may be made again, if what it is made of is at hand
  int64_t until = never;     ///< the last time at which it can be had, held or made again
};

/// One step.
class Repeater {
public:
  Repeater(func::FuncOp step, MeshOp mesh) : step(step), mesh(mesh) {}

  void run();

private:
  void findReaders();
  bool canRepeat(Operation *op);
  int64_t bytesOf(ValueRange values);
  int64_t until(Value operand, Operation *reader);
  bool isGatheredBy(Value operand, int64_t time) const;
  bool isAtHand(Operation *op, int64_t time);
  void findLast();
  void choose();
  Value again(Value value, Operation *reader);

  func::FuncOp step;
  MeshOp mesh;
  llvm::MapVector<Operation *, Reading> forward; ///< in the order of the program
  SmallVector<Operation *> backward;             ///< so, too
  llvm::SetVector<Operation *> chosen;           ///< to be made again: readers first
  DenseMap<Value, Value> made;
};

} // namespace

/// Puts what only the backward pass reads, and takes no part in the forward one, in front of its first reader.
static void sink(Operation *op) {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers())
    if (!first || user->isBeforeInBlock(first))
      first = user;
  op->moveBefore(first);
}

static bool isBackwardCall(Operation *op) {
  auto call = dyn_cast<CallOp>(op);
  return call && call.getBackward();
}

/// The same of all that stands before the backward pass. Addends are added up where they are made.
static void sinkMoves(Block &block) {
  SmallVector<Operation *> moves;
  for (Operation &op : block) {
    if (isBackwardCall(&op))
      break;
    auto reshard = dyn_cast<ReshardOp>(op);
    if (isBackward(&op) && !(reshard && getSharding(reshard.getInput()).isPartial()))
      moves.push_back(&op);
  }
  llvm::for_each(llvm::reverse(moves), sink);
}

void Repeater::findReaders() {
  Block &block = step.getBody().front();
  sinkMoves(block);
  DenseMap<Operation *, int64_t> places;
  bool hasBegun = false; // the backward pass
  for (Operation &op : block) {
    places[&op] = static_cast<int64_t>(places.size());
    hasBegun |= isBackwardCall(&op);
    if (isBackward(&op))
      backward.push_back(&op);
    else if (!hasBegun)
      forward[&op];
  }
  for (auto &[op, reading] : forward)
    for (Operation *user : op->getUsers()) {
      if (forward.contains(user))
        continue;
      int64_t place = places.lookup(user);
      reading.isLate |= !isBackward(user);
      reading.first = std::min(reading.first, place);
      reading.last = std::max(reading.last, place);
    }
}

/// What the plan keeps, of a parameter or by the operator's name, is not made again.
bool Repeater::canRepeat(Operation *op) {
  BlockArgument parameter = isCarrier(op) ? argumentBehind(op->getResult(0)) : BlockArgument();
  if (op->hasAttr(attr::Kept::getNameStr()) || (parameter && argAttr<attr::Keep>(step, parameter.getArgNumber())))
    return false;
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return grows(reshard, mesh);
  auto call = dyn_cast<CallOp>(op);
  return call && isCheapToRepeat(CallView::of(call));
}

int64_t Repeater::bytesOf(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += largestShardBytes(cast<RankedTensorType>(value.getType()), mesh);
  return bytes;
}

/// The last time at which `reader` can be made again as far as this operand goes: while the operand is held, or as long
/// as it can be made again, if it takes at most twice what is made of it, as float32 that is rounded to 16 bits.
int64_t Repeater::until(Value operand, Operation *reader) {
  Operation *producer = operand.getDefiningOp();
  auto found = forward.find(producer);
  if (!producer || isa<ConstantOp>(producer) || found == forward.end())
    return always;
  const Reading &reading = found->second;
  if (reading.isLate)
    return always;
  return bytesOf(operand) <= 2 * bytesOf(reader->getResults()) ? reading.until : reading.last;
}

/// A gathered activation is held from its first backward reader on. Parameters are gathered by units.
bool Repeater::isGatheredBy(Value operand, int64_t time) const {
  auto reshard = operand.getDefiningOp<ReshardOp>();
  auto found = forward.find(reshard);
  return !reshard || found == forward.end() || !found->second.isRepeatable || argumentBehind(operand) ||
         found->second.first <= time;
}

/// True if all that `op` reads can be had at that time. What a reshard gathers takes less memory where it lies, and so
/// does what is gathered to be converted.
bool Repeater::isAtHand(Operation *op, int64_t time) {
  if (isa<ReshardOp>(op))
    return true;
  bool converts = isConversion(op) || (isCarrier(op) && argumentBehind(op->getResult(0)));
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (until(operand, op) >= time && isGatheredBy(operand, time))
      return true;
    auto found = forward.find(operand.getDefiningOp());
    return converts && found != forward.end() && found->second.isRepeatable && isAtHand(found->first, time);
  });
}

/// When values can be had: by what reads them, or a view of them, and then by what they are made of.
void Repeater::findLast() {
  for (auto &[op, reading] : llvm::reverse(forward)) {
    reading.isRepeatable = canRepeat(op);
    if (auto call = dyn_cast<CallOp>(op); call && reading.last != never && isView(CallView::of(call)))
      if (auto viewed = forward.find(op->getOperand(0).getDefiningOp()); viewed != forward.end())
        viewed->second.last = std::max(viewed->second.last, reading.last);
  }
  for (auto &[op, reading] : forward) {
    reading.until = reading.isLate ? always : reading.last;
    // A gather that the backward pass does not have anyway is no way to have a value.
    if (isa<ReshardOp>(op) || !reading.isRepeatable)
      continue;
    int64_t all = always;
    for (Value operand : op->getOperands())
      all = std::min(all, isGatheredBy(operand, never) ? until(operand, op) : never);
    reading.until = std::max(reading.until, all);
  }
}

/// Readers are chosen before what they read: that is made again no later than these are.
void Repeater::choose() {
  for (auto &[op, reading] : llvm::reverse(forward)) {
    if (reading.first == always || reading.isLate || !reading.isRepeatable || !isAtHand(op, reading.first))
      continue;
    chosen.insert(op);
    for (Value operand : op->getOperands())
      if (auto found = forward.find(operand.getDefiningOp()); found != forward.end())
        found->second.first = std::min(found->second.first, reading.first);
  }
}

/// The value made again before `reader`, or itself. A view of what is held needs no other one.
Value Repeater::again(Value value, Operation *reader) {
  Operation *producer = value.getDefiningOp();
  if (!producer || !chosen.contains(producer))
    return value;
  if (Value known = made.lookup(value))
    return known;
  SmallVector<Value> operands =
      llvm::map_to_vector(producer->getOperands(), [&](Value operand) { return again(operand, reader); });
  auto call = dyn_cast<CallOp>(producer);
  if (call && llvm::equal(operands, producer->getOperands()) && isView(CallView::of(call)))
    return value;
  Operation *copy = repeatBefore(reader, producer, operands, made);
  if (call && !(isCarrier(producer) && argumentBehind(value)))
    cast<CallOp>(copy).setBackward(true);
  return made.lookup(value);
}

void Repeater::run() {
  findReaders();
  findLast();
  choose();
  for (Operation *op : backward)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(again(operand.get(), op));
  for (Operation *op : chosen)
    if (op->use_empty())
      op->erase();
}

namespace {

struct RepeatForwardPass : meshplan::impl::RepeatForwardBase<RepeatForwardPass> {
  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        Repeater(function, mesh).run();
  }
};

} // namespace
