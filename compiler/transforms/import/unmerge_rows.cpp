//===- unmerge_rows.cpp - keeps dims apart that rows merge ----------------===//
//
// A view that merges dims into rows, [4, 6, 8] to [24, 8], makes a dim that a plan can divide by its first part only:
// over the second one the shards of 24 would be strided. If everything that reads the rows computes on each row alone,
// the dims need not be merged at all. The pass finds such a region, from the merge to the views that split the rows
// again, and rewrites its operators for tensors with one or more leading dims instead.
//
//   before                          after
//   r = view x [4, 6, 8] as [24, 8]
//   y = linear(r, w)   [24, 5]      y = linear(x, w)   [4, 6, 5]
//   z = view y as [4, 6, 5]         z = y
//
// Dim 1 of 6 may then be divided, for example over tp. A region is rewritten as a whole or not at all: a value has
// either rows or dims.

#include "compiler/transforms/import/unmerge_rows.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;

static bool isView(StringRef target) {
  return llvm::is_contained({"aten.view.default", "aten.reshape.default", "aten._unsafe_view.default"}, target);
}

static bool isPermutation(StringRef target) {
  return target == "aten.transpose.int" || target == "aten.permute.default";
}

static ArrayRef<int64_t> sizesOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

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

/// True for a view that splits the first dim of its operand.
static bool splitsRows(plan::CallOp call, int64_t rows) {
  return isView(call.getTarget()) && !sizesOf(call.getResult(0)).empty() && sizesOf(call.getResult(0)).front() != rows;
}

/// Names of the arguments that are dim numbers, for operators that compute on each row alone; nothing for other
/// operators.
static std::optional<SmallVector<StringRef, 2>> dimArguments(StringRef target) {
  using Names = SmallVector<StringRef, 2>;
  const OpRecord *record = OpRegistry::get().lookup(target);
  if (record && record->isPointwise)
    return Names{};
  return llvm::StringSwitch<std::optional<Names>>(target)
      .Cases({"aten.contiguous.default", "aten.clone.default", "aten.linear.default", "aten.layer_norm.default",
              "aten.rms_norm.default", "aten.matmul.default", "aten.bmm.default"},
             Names{})
      .Cases({"aten.softmax.int", "aten._softmax.default", "aten.log_softmax.int", "aten._log_softmax.default",
              "aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default", "aten.var.correction",
              "aten.std.correction", "aten.linalg_vector_norm.default", "aten.slice.Tensor", "aten.split.Tensor",
              "aten.split_with_sizes.default", "aten.chunk.default", "aten.cat.default"},
             Names{"dim"})
      .Case("aten.transpose.int", Names{"dim0", "dim1"})
      .Default(std::nullopt);
}

namespace {

/// The operators that compute on rows of one merge of dims.
class RowRegion {
public:
  explicit RowRegion(ArrayRef<int64_t> merged)
      : merged(merged), rows(std::accumulate(merged.begin(), merged.end(), int64_t(1), std::multiplies<int64_t>())) {}

  /// Adds an operator and all readers of its results; false if one of them needs merged rows.
  bool add(plan::CallOp call);
  /// True if some operator does more than move elements: pure movements are shortened elsewhere.
  bool computes() const;
  void rewrite();

private:
  bool computesRows(plan::CallOp call) const;
  bool isMergedAlike(Value value) const { return rowDims(value) == merged; }
  int64_t extraDims() const { return static_cast<int64_t>(merged.size()) - 1; }
  SmallVector<int64_t> widenedShape(Value value) const;
  Value widened(Value value);
  void widen(plan::CallOp call);
  std::optional<DictionaryAttr> widenedArgs(plan::CallOp call) const;

  SmallVector<int64_t> merged;
  int64_t rows;
  llvm::SetVector<Operation *> calls; ///< in search order
  llvm::SetVector<Operation *> ends;  ///< views that split the rows
  llvm::DenseMap<Value, Value> made;
};

} // namespace

/// True if the first dim of each result is a single parallel factor that operands have only as their first dim.
static bool isOnRowsAlone(const FactorRule &rule) {
  std::optional<unsigned> row;
  for (const TensorFactors &result : rule.results) {
    if (result.dims.empty() || result.dims.front().size() != 1 || (row && result.dims.front().front() != *row))
      return false;
    row = result.dims.front().front();
  }
  if (!row || rule.factors[*row].kind != FactorKind::parallel)
    return false;
  for (const TensorFactors &operand : rule.operands)
    for (auto [index, factors] : llvm::enumerate(operand.dims))
      if (llvm::is_contained(factors, *row) && (index != 0 || factors.size() != 1))
        return false;
  return true;
}

/// The arguments with dim numbers for tensors with more leading dims; nothing if one of them is the dim of the rows.
std::optional<DictionaryAttr> RowRegion::widenedArgs(plan::CallOp call) const {
  std::optional<SmallVector<StringRef, 2>> names = dimArguments(call.getTarget());
  if (!names)
    return std::nullopt;
  int64_t rank = sizesOf(call.getOperand(0)).size();
  OpBuilder builder(call);
  NamedAttrList args(call.getArgs());
  auto moved = [&](Attribute argument) -> Attribute {
    auto number = dyn_cast_or_null<IntegerAttr>(argument);
    int64_t dim = number ? normalizeDim(number.getInt(), rank) : -1;
    // An operator along the rows themselves, such as a softmax over dim 0, mixes them. Other dims move up by the dims
    // that are added.
    return dim > 0 ? builder.getI64IntegerAttr(dim + extraDims()) : Attribute();
  };
  for (StringRef name : *names) {
    Attribute argument = args.get(name);
    auto list = dyn_cast_or_null<ArrayAttr>(argument);
    SmallVector<Attribute> items = llvm::map_to_vector(list ? list.getValue() : ArrayRef<Attribute>(argument),
                                                       [&](Attribute item) { return moved(item); });
    if (items.empty() || llvm::is_contained(items, Attribute()))
      return std::nullopt;
    args.set(name, list ? Attribute(builder.getArrayAttr(items)) : items.front());
  }
  // bmm takes exactly three dims; matmul, with other names of its arguments, takes more.
  if (call.getTarget() == "aten.bmm.default") {
    args.set("other", args.get("mat2"));
    args.erase("mat2");
  }
  return args.getDictionary(call.getContext());
}

bool RowRegion::computesRows(plan::CallOp call) const {
  if (!widenedArgs(call) || call.getNumResults() == 0)
    return false;
  for (Value result : call.getResults())
    if (sizesOf(result).empty() || sizesOf(result).front() != rows)
      return false;
  CallView view = CallView::of(call);
  return isOnRowsAlone(factorRuleOf(view, OpRegistry::get().lookup(view.target)));
}

/// True if the first dim of the operand is the rows.
static bool hasRows(plan::CallOp call, unsigned operand) {
  CallView view = CallView::of(call);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  ArrayRef<SmallVector<unsigned, 1>> dims = rule.operands[operand].dims;
  return !dims.empty() && llvm::is_contained(dims.front(), rule.results.front().dims.front().front());
}

bool RowRegion::add(plan::CallOp call) {
  if (calls.contains(call))
    return true;
  if (!computesRows(call)) {
    // Rows that are permuted are split afterwards, as heads are before a projection.
    bool isEnd = splitsRows(call, rows) || isPermutation(call.getTarget());
    if (isEnd)
      ends.insert(call);
    return isEnd;
  }
  calls.insert(call);
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (!hasRows(call, index) || isMergedAlike(operand))
      continue;
    auto maker = operand.getDefiningOp<plan::CallOp>();
    // Another operand with rows that is not merged in the same way must itself be computed in the region.
    if (!maker || !add(maker))
      return false;
  }
  // All readers must accept dims, because the merged form no longer exists after the rewrite.
  return llvm::all_of(call->getUsers(), [&](Operation *user) {
    auto reader = dyn_cast<plan::CallOp>(user);
    return reader && add(reader);
  });
}

SmallVector<int64_t> RowRegion::widenedShape(Value value) const {
  SmallVector<int64_t> shape = merged;
  llvm::append_range(shape, sizesOf(value).drop_front());
  return shape;
}

/// The value with dims instead of rows: the result of a rewritten operator, or the tensor before the merge.
Value RowRegion::widened(Value value) {
  if (Value known = made.lookup(value))
    return known;
  auto merge = value.getDefiningOp<plan::CallOp>();
  SmallVector<int64_t> shape = widenedShape(value);
  if (mergedDims(value).empty())
    return made[value] = moveAtOnce(movementChainOf(value), shape, merge);
  return made[value] = reshaped(merge.getOperand(0), shape, merge);
}

void RowRegion::widen(plan::CallOp call) {
  OpBuilder builder(call);
  auto wide = cast<plan::CallOp>(builder.clone(*call));
  wide.setArgsAttr(*widenedArgs(call));
  if (call.getTarget() == "aten.bmm.default")
    wide.setTarget("aten.matmul.default");
  for (auto [index, operand] : llvm::enumerate(call.getOperands()))
    if (hasRows(call, index))
      wide.setOperand(index, widened(operand));
  for (auto [result, own] : llvm::zip(wide.getResults(), call.getResults())) {
    result.setType(RankedTensorType::get(widenedShape(own), cast<RankedTensorType>(own.getType()).getElementType()));
    made[own] = result;
  }
}

bool RowRegion::computes() const {
  return llvm::any_of(calls, [](Operation *call) {
    StringRef target = cast<plan::CallOp>(call).getTarget();
    return !isPermutation(target) && target != "aten.contiguous.default" && target != "aten.clone.default";
  });
}

void RowRegion::rewrite() {
  SmallVector<Operation *> ordered(calls.begin(), calls.end());
  llvm::sort(ordered, [](Operation *left, Operation *right) { return left->isBeforeInBlock(right); });
  for (Operation *call : ordered)
    widen(cast<plan::CallOp>(call));
  for (Operation *end : ends) {
    Value own = end->getOperand(0), read = widened(own);
    // A permutation still needs rows. They are merged after the computation, where no dim has to be divided any more.
    if (!splitsRows(cast<plan::CallOp>(end), rows))
      end->setOperand(0, reshaped(read, sizesOf(own), cast<plan::CallOp>(end)));
    else if (read.getType() == end->getResult(0).getType())
      end->getResult(0).replaceAllUsesWith(read);
    else
      end->setOperand(0, read);
  }
}

void meshplan::unmergeRowRegions(Block &block) {
  for (auto merge : llvm::make_early_inc_range(block.getOps<plan::CallOp>())) {
    SmallVector<int64_t> merged = merge.getNumResults() == 1 ? rowDims(merge.getResult(0)) : SmallVector<int64_t>();
    if (merged.empty())
      continue;
    SmallVector<Operation *> users(merge->getUsers());
    for (Operation *user : users) {
      auto call = dyn_cast<plan::CallOp>(user);
      RowRegion region(merged);
      // Each reader begins a search of its own: one that needs rows does not prevent the others, which read the tensor
      // before the merge.
      if (call && !isView(call.getTarget()) && !call->use_empty() && region.add(call) && region.computes())
        region.rewrite();
    }
  }
}
