//===- repeat_forward.cpp - recomputes values in the backward pass --------===//
//
// See RepeatForward in passes.td. The time of an op is its position in the
// program. The algorithm is:
//
// 1. findReaders: the first and last backward reader of each forward value.
// 2. findLast: until when each value is available, held or recomputed.
// 3. choose: from the last forward op to the first, chooses what to recompute.
//    A chosen op moves the first read of its operands to its own time, so that
//    chains are recomputed as a whole.
// 4. run: inserts the copies before the first backward reader.
//
// Example: a norm before a column-parallel linear layer on tp = 2, with
// sequence parallelism; activations [4, 8] are divided over dim 0.
//
//   time                                        first last until  chosen
//     0  h = linear(i, u)         [{tp}, {}]      7    7    7     no
//     1  n = rms_norm(h)          [{tp}, {}]      -    -    7     yes, at 4
//     2  g = reshard n            [{}, {}]        4    4    4     yes, at 4
//     3  y = linear(g, w)         [{}, {tp}]
//     4  weight_gradient(d, g)    backward
//     5  dg = mm(d, w)            backward
//     6  dn = reshard dg          backward
//     7  mul(dn, h)               backward
//
// g is larger than n on a rank, so it is recomputed at time 4. This makes 4 the
// first read of n. n is cheap, and its operand h is available until 7, so n is
// recomputed as well. h is the result of a product, which is not cheap, and is
// held. Between forward and backward only h is live: [2, 8] on a rank, instead of
// h and g.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/dataflow/carriers.h"
#include "compiler/sharding/families/cheap_calls.h"
#include "compiler/transforms/partition/passes.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/call_builder.h"
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

/// True if a rank holds more bytes of the result than of the input. Sums over ranks are not recomputed.
static bool grows(ReshardOp reshard, MeshOp mesh) {
  auto from = cast<RankedTensorType>(reshard.getInput().getType());
  auto to = cast<RankedTensorType>(reshard.getResult().getType());
  // Rows that were dispatched are held: how many a rank has before and after an exchange is known only when it runs.
  if (getSharding(from).getRouted())
    return false;
  // The input is then smaller to hold than the result. A sum is not recomputed: its addends would have to be held.
  return !getSharding(from).isPartial() && largestShardBytes(to, mesh) > largestShardBytes(from, mesh);
}

namespace {

constexpr int64_t never = -1, always = std::numeric_limits<int64_t>::max();

/// When the backward pass reads the results of a forward op. Times are positions of ops in the program.
struct Reading {
  int64_t first = always, last = never;
  bool isLate = false;       ///< also read by ops after the forward pass that are not backward: stays live anyway
  bool isRepeatable = false; ///< may be recomputed if its operands are available
  int64_t until = never;     ///< the last time at which it is available, held or recomputed
};

/// Recomputation in one program.
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
  llvm::MapVector<Operation *, Reading> forward; ///< in program order
  SmallVector<Operation *> backward;             ///< in program order
  llvm::SetVector<Operation *> chosen;           ///< to be recomputed: readers before their operands
  DenseMap<Value, Value> made;
};

} // namespace

/// Moves an op that only the backward pass reads, and that is not part of the forward pass, before its first reader.
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

/// Sinks all such ops before the backward pass. Addends are reduced where they are computed.
static void sinkMoves(Block &block) {
  SmallVector<Operation *> moves;
  for (Operation &op : block) {
    if (isBackwardCall(&op))
      break;
    auto reshard = dyn_cast<ReshardOp>(op);
    // A sum is at most as large as an addend, so nothing is gained by reducing later.
    if (isBackward(&op) && !(reshard && getSharding(reshard.getInput()).isPartial()))
      moves.push_back(&op);
  }
  // In reverse, so that a chain sinks as a whole: its reader has reached its final position.
  llvm::for_each(llvm::reverse(moves), sink);
}

void Repeater::findReaders() {
  Block &block = step.getBody().front();
  sinkMoves(block);
  DenseMap<Operation *, int64_t> positions;
  bool hasBegun = false; // the backward pass
  for (Operation &op : block) {
    positions[&op] = static_cast<int64_t>(positions.size());
    // Calls after the first backward one that are not backward, such as those of the optimizer, belong to neither list.
    hasBegun |= isBackwardCall(&op);
    if (isBackward(&op))
      backward.push_back(&op);
    else if (!hasBegun)
      forward[&op];
  }
  for (auto &[op, reading] : forward)
    for (Operation *user : op->getUsers()) {
      // Forward readers do not matter: they run before the backward pass.
      if (forward.contains(user))
        continue;
      int64_t position = positions.lookup(user);
      reading.isLate |= !isBackward(user);
      reading.first = std::min(reading.first, position);
      reading.last = std::max(reading.last, position);
    }
}

/// A value that the plan keeps, by parameter or by name of the operator, is not recomputed.
bool Repeater::canRepeat(Operation *op) {
  BlockArgument parameter = isCarrier(op) ? sourceArgument(op->getResult(0)) : BlockArgument();
  if (op->hasAttr(attr::Kept::getNameStr()) || (parameter && argAttr<attr::Keep>(step, parameter.getArgNumber())))
    return false;
  if (auto reshard = dyn_cast<ReshardOp>(op))
    return grows(reshard, mesh);
  auto call = dyn_cast<CallOp>(op);
  return call && isCheapToRecompute(CallView::of(call));
}

int64_t Repeater::bytesOf(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += largestShardBytes(cast<RankedTensorType>(value.getType()), mesh);
  return bytes;
}

/// The last time at which `reader` can be recomputed, given this operand: as long as the operand is held or, if it is
/// at most twice as large as the result (float32 rounded to 16 bits), as long as it can be recomputed itself.
int64_t Repeater::until(Value operand, Operation *reader) {
  Operation *producer = operand.getDefiningOp();
  auto found = forward.find(producer);
  if (!producer || isa<ConstantOp>(producer) || found == forward.end())
    return always;
  const Reading &reading = found->second;
  if (reading.isLate)
    return always;
  // Where the operand is much larger than the result, as before a reduction, recomputing it for the reader would raise
  // the peak that the recomputation is to lower.
  return bytesOf(operand) <= 2 * bytesOf(reader->getResults()) ? reading.until : reading.last;
}

/// True unless using the operand at this time needs an additional gather. A gathered activation is held from its first
/// backward reader on. Parameters are gathered by units.
bool Repeater::isGatheredBy(Value operand, int64_t time) const {
  auto reshard = operand.getDefiningOp<ReshardOp>();
  auto found = forward.find(reshard);
  return !reshard || found == forward.end() || !found->second.isRepeatable || sourceArgument(operand) ||
         found->second.first <= time;
}

/// True if all operands of `op` are available at this time. The input of a reshard is smaller than its result, so it is
/// always preferred; the same holds for a value that is gathered to be converted.
bool Repeater::isAtHand(Operation *op, int64_t time) {
  if (isa<ReshardOp>(op))
    return true;
  bool converts = isConversion(op) || (isCarrier(op) && sourceArgument(op->getResult(0)));
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (until(operand, op) >= time && isGatheredBy(operand, time))
      return true;
    auto found = forward.find(operand.getDefiningOp());
    return converts && found != forward.end() && found->second.isRepeatable && isAtHand(found->first, time);
  });
}

/// Computes until when values are available: first from their readers (a view extends the lifetime of its operand),
/// then from the operands from which they can be recomputed.
void Repeater::findLast() {
  for (auto &[op, reading] : llvm::reverse(forward)) {
    reading.isRepeatable = canRepeat(op);
    if (auto call = dyn_cast<CallOp>(op); call && reading.last != never && isView(CallView::of(call)))
      if (auto viewed = forward.find(op->getOperand(0).getDefiningOp()); viewed != forward.end())
        // Reverse order, so that a view of a view passes its readers on to the first storage.
        viewed->second.last = std::max(viewed->second.last, reading.last);
  }
  for (auto &[op, reading] : forward) {
    reading.until = reading.isLate ? always : reading.last;
    // A gather that the backward pass does not already have does not make a value available.
    if (isa<ReshardOp>(op) || !reading.isRepeatable)
      continue;
    int64_t all = always;
    for (Value operand : op->getOperands())
      // The scarcest operand decides. Forward order, so that `until` of operands is known.
      all = std::min(all, isGatheredBy(operand, never) ? until(operand, op) : never);
    reading.until = std::max(reading.until, all);
  }
}

/// Readers are chosen before their operands, so that an operand is recomputed no later than its readers.
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

/// The copy of a value before `reader`, or the value itself if it is not recomputed. A view of a held value is not
/// copied.
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
  Operation *copy = cloneBefore(reader, producer, operands, made);
  // Carriers of an argument need no mark: they belong to the forward or the backward pass like their readers
  // (isBackward).
  if (call && !(isCarrier(producer) && sourceArgument(value)))
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
    // All readers may have been backward, as of a gather that the forward pass needs only for its own copy.
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
