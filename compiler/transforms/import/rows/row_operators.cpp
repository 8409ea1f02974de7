//===- row_operators.cpp - operators that compute on each row alone -------===//

#include "compiler/transforms/import/rows/row_operators.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace meshplan;

bool meshplan::isView(StringRef target) {
  return llvm::StringSwitch<bool>(target)
      .Cases({"aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten.flatten.using_ints",
              "aten.unflatten.int", "aten.unsqueeze.default", "aten.squeeze.default", "aten.squeeze.dim",
              "aten.squeeze.dims"},
             true)
      .Default(false);
}

bool meshplan::isPermutation(StringRef target) {
  return target == "aten.transpose.int" || target == "aten.permute.default";
}

bool meshplan::onlyMoves(StringRef target) {
  return isView(target) || isPermutation(target) ||
         llvm::is_contained({"aten.contiguous.default", "aten.clone.default", "aten.expand.default"}, target);
}

namespace {

/// The arguments of an operator that depend on the number of dims.
struct RowOperator {
  SmallVector<StringRef, 2> dims; ///< arguments that are dim numbers or lists of them
  bool areOfResult = false;       ///< they count the dims of the result; else those of the operand
  bool lastIsDefault = false;     ///< without the argument the operator computes along the last dim
  StringRef sizes;                ///< argument with the sizes of the result
};

} // namespace

static RowOperator alongLast() { return {{"dim"}, false, true, {}}; }
static RowOperator ofSizes(StringRef name) { return {{}, false, false, name}; }

/// True for a dropout of each element by itself.
static bool isDropout(StringRef target) {
  return target == "aten.dropout.default" || target == "aten.native_dropout.default";
}

/// nullopt for operators that are not known to compute on rows. Whether a call does is up to its factor rule.
static std::optional<RowOperator> rowOperator(StringRef target) {
  const OpRecord *record = OpRegistry::get().lookup(target);
  if ((record && record->isPointwise) || isDropout(target))
    return RowOperator();
  return llvm::StringSwitch<std::optional<RowOperator>>(target)
      .Cases({"aten.contiguous.default", "aten.clone.default", "aten.linear.default", "aten.layer_norm.default",
              "aten.rms_norm.default", "aten.matmul.default", "aten.bmm.default", "aten.one_hot.default",
              "aten.zeros_like.default", "aten.ones_like.default", "aten.full_like.default", "aten.empty_like.default",
              "aten.repeat.default", "aten.permute.default", "aten.flatten.using_ints", "aten.unflatten.int",
              "aten.squeeze.default"},
             RowOperator())
      .Cases({"aten.softmax.int", "aten._softmax.default", "aten.log_softmax.int", "aten._log_softmax.default",
              "aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default", "aten.var.correction",
              "aten.std.correction", "aten.linalg_vector_norm.default", "aten.slice.Tensor", "aten.split.Tensor",
              "aten.split_with_sizes.default", "aten.chunk.default", "aten.cat.default"},
             RowOperator{{"dim"}})
      .Cases({"aten.gather.default",
              "aten.scatter.src",
              "aten.scatter.value",
              "aten.scatter_add.default",
              "aten.scatter_reduce.two",
              "aten.index_select.default",
              "aten.select.int",
              "aten.cumsum.default",
              "aten.cumprod.default",
              "aten.max.dim",
              "aten.min.dim",
              "aten.argmax.default",
              "aten.argmin.default",
              "aten.any.dim",
              "aten.all.dim",
              "aten.prod.dim_int",
              "aten.logsumexp.default",
              "aten.repeat_interleave.self_int",
              "aten.squeeze.dim",
              "aten.squeeze.dims"},
             RowOperator{{"dim"}})
      .Cases(
          {"aten.topk.default", "aten.sort.default", "aten.sort.stable", "aten.argsort.default", "aten.argsort.stable"},
          alongLast())
      .Cases({"aten.unsqueeze.default", "aten.stack.default"}, RowOperator{{"dim"}, true})
      .Case("aten.transpose.int", RowOperator{{"dim0", "dim1"}})
      .Case("aten.reshape.default", ofSizes("shape"))
      .Cases({"aten.view.default", "aten._unsafe_view.default", "aten.expand.default", "aten.new_zeros.default",
              "aten.new_ones.default", "aten.new_full.default", "aten.new_empty.default", "aten.zeros.default",
              "aten.ones.default", "aten.full.default", "aten.empty.memory_format"},
             ofSizes("size"))
      .Default(std::nullopt);
}

SmallVector<int64_t> meshplan::widenedShape(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(dims);
  llvm::append_range(shape, typeOf(value).getShape().drop_front());
  return shape;
}

/// The factor of the first dim of all results, if it is parallel and operands have it only as their first dim.
static std::optional<unsigned> rowFactor(const FactorRule &rule) {
  std::optional<unsigned> row;
  for (const TensorFactors &result : rule.results) {
    if (result.dims.empty() || result.dims.front().size() != 1 || (row && result.dims.front().front() != *row))
      return std::nullopt;
    row = result.dims.front().front();
  }
  if (!row || rule.factors[*row].kind != FactorKind::parallel)
    return std::nullopt;
  for (const TensorFactors &operand : rule.operands)
    for (auto [index, factors] : llvm::enumerate(operand.dims))
      if (llvm::is_contained(factors, *row) && (index != 0 || factors.size() != 1))
        return std::nullopt;
  return row;
}

std::optional<SmallVector<bool>> meshplan::operandsWithRows(plan::CallOp call, int64_t rows) {
  if (call.getNumResults() == 0 || !rowOperator(call.getTarget()))
    return std::nullopt;
  for (Value result : call.getResults())
    if (typeOf(result).getRank() == 0 || typeOf(result).getDimSize(0) != rows)
      return std::nullopt;
  CallView view = CallView::of(call);
  // Elements are numbered in row-major order, which more dims do not change.
  if (isDropout(view.target))
    return SmallVector<bool>(call.getNumOperands(), true);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  std::optional<unsigned> row = rowFactor(rule);
  if (!row)
    return std::nullopt;
  return llvm::map_to_vector(rule.operands, [&](const TensorFactors &operand) -> bool {
    return !operand.dims.empty() && llvm::is_contained(operand.dims.front(), *row);
  });
}

/// Dim numbers for tensors with `added` more leading dims. Null if one of them is the dim of the rows: an operator
/// along the rows, such as a softmax over dim 0, mixes them.
static Attribute movedDims(Attribute argument, int64_t rank, int64_t added) {
  Builder builder(argument.getContext());
  if (auto list = dyn_cast<ArrayAttr>(argument)) {
    SmallVector<Attribute> items =
        llvm::map_to_vector(list, [&](Attribute item) { return movedDims(item, rank, added); });
    return items.empty() || llvm::is_contained(items, Attribute()) ? Attribute() : builder.getArrayAttr(items);
  }
  auto number = dyn_cast<IntegerAttr>(argument);
  int64_t dim = number ? normalizeDim(number.getInt(), rank) : -1;
  return dim > 0 ? builder.getI64IntegerAttr(dim + added) : Attribute();
}

/// The order of a permutation that leaves the rows in front, for tensors with `added` more leading dims.
static Attribute movedOrder(const CallView &view, int64_t added) {
  SmallVector<int64_t> order = view.getInts("dims").value_or(SmallVector<int64_t>());
  SmallVector<int64_t> moved = llvm::to_vector(llvm::seq<int64_t>(0, added + 1));
  for (int64_t dim : ArrayRef<int64_t>(order).drop_front(order.empty() ? 0 : 1))
    moved.push_back(normalizeDim(dim, order.size()) + added);
  return Builder(view.args.getContext()).getI64ArrayAttr(moved);
}

/// The counts of a repeat: the rows are not repeated, or they are copies of a tensor without rows.
static Attribute movedCounts(const CallView &view, bool hasRows, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> counts = view.getInts("repeats").value_or(SmallVector<int64_t>()), moved(dims);
  if (hasRows)
    moved.assign(dims.size(), 1);
  llvm::append_range(moved, ArrayRef<int64_t>(counts).drop_front(counts.empty() ? 0 : 1));
  return Builder(view.args.getContext()).getI64ArrayAttr(moved);
}

std::optional<WidenedCall> meshplan::widenedCall(plan::CallOp call, ArrayRef<bool> hasRows, ArrayRef<int64_t> dims) {
  std::optional<RowOperator> op = rowOperator(call.getTarget());
  CallView view = CallView::of(call);
  int64_t added = static_cast<int64_t>(dims.size()) - 1;
  Builder builder(call.getContext());
  NamedAttrList args(call.getArgs());
  WidenedCall widened{view.target.str(), {}};
  if (!op)
    return std::nullopt;
  int64_t rank = op->areOfResult           ? view.results.front().getRank()
                 : view.operands.empty()   ? 0
                 : view.getOperand("self") ? view.operands[*view.getOperand("self")].getRank()
                                           : view.operands.front().getRank();
  for (StringRef name : op->dims) {
    Attribute argument = args.get(name);
    // The last dim stays the last one, if it is not that of the rows.
    if (!argument && op->lastIsDefault && rank > 1)
      continue;
    Attribute moved = argument ? movedDims(argument, rank, added) : Attribute();
    if (!moved)
      return std::nullopt;
    args.set(name, moved);
  }
  Attribute shape = builder.getI64ArrayAttr(widenedShape(call.getResult(0), dims));
  if (!op->sizes.empty())
    args.set(op->sizes, shape);
  if (view.target == "aten.permute.default")
    args.set("dims", movedOrder(view, added));
  if (view.target == "aten.repeat.default")
    args.set("repeats", movedCounts(view, hasRows.front(), dims));
  if (isView(view.target) && op->dims.empty() && op->sizes.empty()) {
    // Flattened and squeezed dims are counted in several ways. A reshape says the same with sizes.
    widened.target = "aten.reshape.default";
    Attribute self = args.get("self");
    args = NamedAttrList();
    args.set("self", self);
    args.set("shape", shape);
  }
  // bmm takes exactly three dims; matmul, with other names of its arguments, takes more.
  if (view.target == "aten.bmm.default") {
    widened.target = "aten.matmul.default";
    args.set("other", args.get("mat2"));
    args.erase("mat2");
  }
  widened.args = args.getDictionary(call.getContext());
  return widened;
}
