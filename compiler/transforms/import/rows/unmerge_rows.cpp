//===- unmerge_rows.cpp - keeps dims apart that rows merge ----------------===//
//
// A view that merges dims into rows, [4, 6, 8] to [24, 8], makes a dim that a plan can divide by its first part only:
// over the second one the shards of 24 would be strided. Operators that compute on each row alone need no rows. The
// pass finds the region of such operators after a merge and rewrites it for tensors with the dims instead.
//
//   before                          after
//   r = view x [4, 6, 8] as [24, 8]
//   y = linear(r, w)   [24, 5]      y = linear(x, w)   [4, 6, 5]
//   z = view y as [4, 6, 5]         z = y
//
// Dim 1 of 6 may then be divided, for example over tp. A value of the region has dims, and no rows any more. If another
// operator needs its rows, it is merged again before that operator, which costs a view. The router of a mixture of
// experts is such a region: its results are the numbers and the gates of two experts for each token, and the experts
// sort the numbers of all tokens.
//
//   r = view x [4, 6, 8] as [24, 8]
//   s = softmax(linear(r, w), 1)    s = softmax(linear(x, w), 2)      [4, 6, 5]
//   g, i = topk(s, 2, 1)            g, i = topk(s, 2, 2)              [4, 6, 2]
//   t = sort(view i as [48])        t = sort(view i as [48])
//   h = index(r, t / 2)             h = index(view x as [24, 8], t / 2)
//
// A region is rewritten if less is merged than before, and no more is split, counted in elements:
//
//   1. The values that are merged again have fewer elements than those that the region read merged. In the example
//      these are 4 * 6 * 2 numbers, and as many gates if the experts read them, against 4 * 6 * 8 features. What others
//      read of r does not count: it stays. An MLP between two operators that need rows is not rewritten, because as
//      much would be merged after it as before it.
//   2. A value with rows may enter the region, where it is split into dims: the results of the experts, to which a
//      shared expert in the region is added. Such values have no more elements than those that views split after the
//      region, here the sum. If they have more, the region is found again without their readers.
//
// Two kinds of readers outside the region count neither as merged nor as split: sums over all elements, which read the
// dims, and permutations of the rows, which views split afterwards, as heads.
//
// The end of the region is chosen so that little is merged. An operator at the end whose results are only merged is
// left out if they are larger than what it reads, such as one_hot of the numbers, or if it only moves as much.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/rows/unmerge_rows.h"
#include "compiler/transforms/import/movement_chain.h"
#include "compiler/transforms/import/rows/row_operators.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;

static ArrayRef<int64_t> sizesOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// The dims that a view merges into its first dim; the last of them may be a part of a dim. Empty for anything else.
static SmallVector<int64_t> mergedDims(Value value) {
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || !isView(call.getTarget()) || sizesOf(value).empty() || sizesOf(value).front() <= 0)
    return {};
  SmallVector<int64_t> merged;
  int64_t rest = sizesOf(value).front();
  for (int64_t size : sizesOf(call.getOperand(0))) {
    if (rest == 1)
      break;
    // The last of the merged dims may be divided by the view: [4, 6] as [8, 3] merges 4 and a part of 6, which is 2.
    if (size <= 0 || (rest % size != 0 && size % rest != 0))
      return {};
    merged.push_back(std::min(rest, size));
    rest /= merged.back();
  }
  return llvm::count_if(merged, [](int64_t size) { return size != 1; }) > 1 ? merged : SmallVector<int64_t>();
}

/// The same for a view after other movements, or for its permutation.
static SmallVector<int64_t> rowDims(Value value) {
  SmallVector<int64_t> merged = mergedDims(value);
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!merged.empty() || !call || !isPermutation(call.getTarget()) || sizesOf(value).empty() ||
      sizesOf(value).front() <= 0)
    return merged;
  MovementChain chain = movementChainOf(value);
  merged = llvm::map_to_vector(chain.digits.dim(0), [&](unsigned digit) { return chain.digits.size(digit); });
  return merged.size() > 1 ? merged : SmallVector<int64_t>();
}

/// True for a view after which no dim holds all rows: some of its dims end between two rows.
static bool splitsRows(plan::CallOp call, int64_t rows) {
  int64_t before = 1;
  for (int64_t size : sizesOf(call.getResult(0))) {
    before *= size;
    if (before > 1 && before < rows)
      return true;
    if (before >= rows)
      return false;
  }
  return false;
}

/// True for operators that give the same result for every shape of their only operand.
static bool ignoresShape(StringRef target) {
  return llvm::is_contained({"aten.sum.default", "aten.mean.default", "aten.max.default", "aten.min.default",
                             "aten.any.default", "aten.all.default"},
                            target);
}

namespace {

/// How an operator outside the region reads a value of the region.
enum class Reading {
  none,  ///< nothing reads its results
  split, ///< as a view that splits the rows
  moved, ///< as a permutation, which views split afterwards
  any,   ///< in any shape
  rows,  ///< as rows
};

/// Operators that compute on the rows of one merge of dims.
class RowRegion {
public:
  /// `replaced` are the operators of earlier regions. Values with rows that do not come from a merge enter the region
  /// if `takesRows`.
  RowRegion(ArrayRef<int64_t> merged, const llvm::DenseSet<Operation *> &replaced, bool takesRows)
      : merged(merged), rows(std::accumulate(merged.begin(), merged.end(), int64_t(1), std::multiplies<int64_t>())),
        replaced(replaced), takesRows(takesRows) {}

  /// Adds an operator and all others that it is connected with; false if it does not belong to a region.
  bool collect(plan::CallOp start);
  /// True if the rewrite is worth it, by the rule above.
  bool gains();
  /// Returns the operators that are replaced.
  ArrayRef<Operation *> rewrite();

private:
  const std::optional<SmallVector<bool>> &rowOperands(plan::CallOp call);
  SmallVector<Value> readRows(plan::CallOp call);
  bool isMergedAlike(Value value) const { return rowDims(value) == merged; }
  bool isMade(Value value);
  bool belongs(plan::CallOp call);
  bool isInside(Operation *op) const { return calls.contains(op); }
  Reading readingOf(Operation *reader) const;
  bool isRead(Value value, Reading reading) const;
  void sortCalls();
  void shrink();
  int64_t elementsIn(const llvm::SetVector<Value> &values) const;
  bool computes() const;
  void widen(plan::CallOp call);
  Value widened(Value value, plan::CallOp reader);
  void redirect(Value own);

  SmallVector<int64_t> merged;
  int64_t rows;
  const llvm::DenseSet<Operation *> &replaced;
  bool takesRows;
  llvm::SetVector<Operation *> calls; ///< in program order after `collect`
  llvm::DenseMap<Operation *, std::optional<SmallVector<bool>>> operands;
  llvm::DenseMap<Operation *, bool> belonging, making;
  llvm::DenseMap<Value, Value> made;
};

} // namespace

/// Which operands have rows; nullopt for an operator that does not compute on each row alone.
const std::optional<SmallVector<bool>> &RowRegion::rowOperands(plan::CallOp call) {
  auto [known, isNew] = operands.try_emplace(call);
  if (isNew) {
    known->second = operandsWithRows(call, rows);
    if (known->second && !widenedCall(call, *known->second, merged))
      known->second.reset();
  }
  return known->second;
}

/// The operands with rows of an operator that computes on each row alone.
SmallVector<Value> RowRegion::readRows(plan::CallOp call) {
  SmallVector<Value> values;
  for (auto [operand, hasRows] : llvm::zip_equal(call.getOperands(), *rowOperands(call)))
    if (hasRows)
      values.push_back(operand);
  return values;
}

/// True for a tensor whose rows come from no other tensor, such as zeros: it is made with dims at once.
bool RowRegion::isMade(Value value) {
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || !rowOperands(call))
    return false;
  if (auto known = making.find(call); known != making.end())
    return known->second;
  bool isAlone = llvm::all_of(readRows(call), [&](Value read) { return isMade(read); });
  return making[call] = isAlone;
}

/// True if the operator computes on each row alone, on rows of which some come from the merge.
bool RowRegion::belongs(plan::CallOp call) {
  if (!call || replaced.contains(call))
    return false;
  if (auto known = belonging.find(call); known != belonging.end())
    return known->second;
  bool fits = rowOperands(call).has_value(), reachesMerge = false;
  for (Value read : fits ? readRows(call) : SmallVector<Value>()) {
    bool fromMerge = isMergedAlike(read) || belongs(read.getDefiningOp<plan::CallOp>());
    reachesMerge |= fromMerge;
    fits &= fromMerge || takesRows || isMade(read);
  }
  return belonging[call] = fits && reachesMerge;
}

bool RowRegion::collect(plan::CallOp start) {
  if (!belongs(start))
    return false;
  SmallVector<plan::CallOp> open{start};
  while (!open.empty()) {
    plan::CallOp call = open.pop_back_val();
    if (!calls.insert(call))
      continue;
    for (Value read : readRows(call))
      if (auto maker = read.getDefiningOp<plan::CallOp>(); !isMergedAlike(read) && belongs(maker))
        open.push_back(maker);
    for (Operation *user : call->getUsers())
      if (auto reader = dyn_cast<plan::CallOp>(user); belongs(reader))
        open.push_back(reader);
  }
  sortCalls();
  shrink();
  return true;
}

void RowRegion::sortCalls() {
  SmallVector<Operation *> ordered = calls.takeVector();
  llvm::sort(ordered, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
  calls.insert(ordered.begin(), ordered.end());
}

/// How an operator outside the region reads a value of the region.
Reading RowRegion::readingOf(Operation *reader) const {
  if (replaced.contains(reader) || isOpTriviallyDead(reader))
    return Reading::none;
  auto call = dyn_cast<plan::CallOp>(reader);
  if (!call)
    return Reading::rows;
  if (isView(call.getTarget()))
    return splitsRows(call, rows) ? Reading::split : Reading::rows;
  // A permutation that moves the rows. Another one belongs to the region, or was removed from its end.
  if (isPermutation(call.getTarget()) && !belonging.lookup(reader))
    return Reading::moved;
  return ignoresShape(call.getTarget()) ? Reading::any : Reading::rows;
}

/// True if an operator outside the region reads the value in this way.
bool RowRegion::isRead(Value value, Reading reading) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) { return !isInside(user) && readingOf(user) == reading; });
}

/// Removes operators at the end whose results are only merged, if they are larger than what the operators read, or
/// only move it.
void RowRegion::shrink() {
  const SmallVector<Operation *> all(calls.begin(), calls.end());
  for (Operation *op : llvm::reverse(all)) {
    auto call = cast<plan::CallOp>(op);
    bool isEnd = llvm::all_of(call->getUsers(), [&](Operation *user) {
      Reading reading = isInside(user) ? Reading::split : readingOf(user);
      return reading == Reading::rows || reading == Reading::none;
    });
    llvm::SetVector<Value> results, read;
    for (Value result : call.getResults())
      if (isRead(result, Reading::rows))
        results.insert(result);
    for (Value value : readRows(call))
      if (isMergedAlike(value) || (isInside(value.getDefiningOp()) && !isRead(value, Reading::rows)))
        read.insert(value);
    int64_t gain = elementsIn(results) - elementsIn(read);
    if (isEnd && (gain > 0 || (gain == 0 && onlyMoves(call.getTarget()))))
      calls.remove(op);
  }
}

int64_t RowRegion::elementsIn(const llvm::SetVector<Value> &values) const {
  return std::accumulate(values.begin(), values.end(), int64_t(0),
                         [](int64_t sum, Value value) { return sum + elementsOf(value); });
}

bool RowRegion::computes() const {
  return llvm::any_of(calls, [](Operation *call) { return !onlyMoves(cast<plan::CallOp>(call).getTarget()); });
}

bool RowRegion::gains() {
  llvm::SetVector<Value> mergedBefore, mergedAfter, splitBefore, splitAfter;
  for (Operation *op : calls) {
    auto call = cast<plan::CallOp>(op);
    for (auto [operand, hasRows] : llvm::zip_equal(call.getOperands(), *operands.find(op)->second)) {
      Operation *maker = operand.getDefiningOp();
      if (!hasRows || isInside(maker))
        continue;
      if (isMergedAlike(operand))
        mergedBefore.insert(operand);
      else if (!isMade(operand))
        splitAfter.insert(operand);
    }
    for (Value result : call.getResults()) {
      if (isRead(result, Reading::split))
        splitBefore.insert(result);
      if (isRead(result, Reading::rows))
        mergedAfter.insert(result);
    }
  }
  return computes() && elementsIn(mergedAfter) < elementsIn(mergedBefore) &&
         elementsIn(splitAfter) <= elementsIn(splitBefore);
}

/// The value with dims instead of rows, for a reader in the region.
Value RowRegion::widened(Value value, plan::CallOp reader) {
  if (Value known = made.lookup(value))
    return known;
  auto maker = value.getDefiningOp<plan::CallOp>();
  SmallVector<int64_t> shape = widenedShape(value, merged);
  if (!mergedDims(value).empty() && isMergedAlike(value))
    return made[value] = reshaped(maker.getOperand(0), shape, maker);
  if (isMergedAlike(value))
    return made[value] = moveAtOnce(movementChainOf(value), shape, maker);
  if (isMade(value)) {
    widen(maker);
    return made.lookup(value);
  }
  return made[value] = moveAtOnce(movementChainOf(value), shape, reader);
}

/// Makes the operator with dims, before its old form.
void RowRegion::widen(plan::CallOp call) {
  const SmallVector<bool> hasRows = *rowOperands(call);
  SmallVector<Value> operands(call.getOperands());
  for (auto [operand, isWide] : llvm::zip_equal(operands, hasRows))
    if (isWide)
      operand = widened(operand, call);
  // A view that gave the rows their own dims again.
  if (isView(call.getTarget()) && sizesOf(operands.front()) == ArrayRef(widenedShape(call.getResult(0), merged))) {
    made[call.getResult(0)] = operands.front();
    return;
  }
  WidenedCall form = *widenedCall(call, hasRows, merged);
  auto wide = cast<plan::CallOp>(OpBuilder(call).clone(*call));
  wide.setTarget(form.target);
  wide.setArgsAttr(form.args);
  wide->setOperands(operands);
  for (auto [result, own] : llvm::zip_equal(wide.getResults(), call.getResults())) {
    result.setType(
        RankedTensorType::get(widenedShape(own, merged), cast<RankedTensorType>(own.getType()).getElementType()));
    made[own] = result;
  }
}

/// Lets a view read a tensor with the same elements.
static void view(plan::CallOp call, Value value) {
  bool namesSizes =
      llvm::is_contained({"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default"}, call.getTarget());
  if (namesSizes && value.getType() != call.getResult(0).getType())
    call->setOperand(0, value);
  else
    call.getResult(0).replaceAllUsesWith(reshaped(value, sizesOf(call.getResult(0)), call));
}

/// Gives the readers outside the region the dims, or rows that are merged before the first of them.
void RowRegion::redirect(Value own) {
  llvm::SetVector<Operation *> readers;
  for (Operation *user : own.getUsers())
    if (!isInside(user) && readingOf(user) != Reading::none)
      readers.insert(user);
  SmallVector<Operation *> ordered = readers.takeVector();
  llvm::sort(ordered, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
  Value wide = made.lookup(own), again;
  for (Operation *reader : ordered) {
    auto call = dyn_cast<plan::CallOp>(reader);
    if (call && isView(call.getTarget())) {
      // A view of the rows is a view of the dims.
      view(call, wide);
    } else if (readingOf(reader) == Reading::any) {
      reader->setOperand(0, wide);
    } else {
      if (!again)
        again = reshaped(wide, sizesOf(own), call ? call : cast<plan::CallOp>(own.getDefiningOp()));
      reader->replaceUsesOfWith(own, again);
    }
  }
}

ArrayRef<Operation *> RowRegion::rewrite() {
  for (Operation *call : calls)
    widen(cast<plan::CallOp>(call));
  for (Operation *call : calls)
    for (Value own : call->getResults())
      redirect(own);
  return calls.getArrayRef();
}

/// Rewrites the region that begins with a reader of a merge.
static void unmergeRegion(plan::CallOp start, ArrayRef<int64_t> merged, llvm::DenseSet<Operation *> &replaced) {
  for (bool takesRows : {true, false}) {
    RowRegion region(merged, replaced, takesRows);
    if (!region.collect(start) || !region.gains())
      continue;
    ArrayRef<Operation *> calls = region.rewrite();
    replaced.insert(calls.begin(), calls.end());
    return;
  }
}

void meshplan::unmergeRowRegions(Block &block) {
  // Operators that are replaced stay until the end, without readers.
  llvm::DenseSet<Operation *> replaced;
  for (auto merge : llvm::make_early_inc_range(block.getOps<plan::CallOp>())) {
    SmallVector<int64_t> merged =
        merge.getNumResults() == 1 && !replaced.contains(merge) ? rowDims(merge.getResult(0)) : SmallVector<int64_t>();
    if (merged.empty())
      continue;
    // Each reader begins a search of its own: one that needs rows does not prevent the others, which read the tensor
    // before the merge.
    for (Operation *user : SmallVector<Operation *>(merge->getUsers()))
      if (auto call = dyn_cast<plan::CallOp>(user); call && !call->use_empty() && !replaced.contains(call))
        unmergeRegion(call, merged, replaced);
  }
}
