//===- call_patterns.cpp - forms of calls around experts ------------------===//

#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/derivatives/arithmetic.h"
#include "compiler/sharding/record_support/einsum.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

plan::CallOp meshplan::callOf(Value value, StringRef target) {
  auto call = value ? value.getDefiningOp<plan::CallOp>() : plan::CallOp();
  return call && (target.empty() || call.getTarget() == target) ? call : plan::CallOp();
}

Value meshplan::tensorArgument(plan::CallOp call, const CallView &view, StringRef name) {
  std::optional<unsigned> operand = view.getOperand(name);
  return operand ? Value(call.getOperand(*operand)) : Value();
}

bool meshplan::isAlong(plan::CallOp call, int64_t dim) {
  CallView view = CallView::of(call);
  int64_t rank = rankOf(call.getOperand(0));
  if (std::optional<SmallVector<int64_t>> dims = view.getInts("dim"))
    return dims->size() == 1 && countedDim(dims->front(), rank) == dim;
  // A reduction whose dims are None is over all of them.
  Attribute given = view.get("dim");
  return (!given || isa<IntegerAttr>(given)) && countedDim(view.getInt("dim", 0), rank) == dim;
}

//===----------------------------------------------------------------------===//
// Conversions and views
//===----------------------------------------------------------------------===//

bool meshplan::convertsElements(plan::CallOp call) {
  return call.getNumOperands() == 1 &&
         llvm::is_contained({"aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default"}, call.getTarget());
}

bool meshplan::isExactIn(Type from, Type to) {
  auto narrow = dyn_cast<FloatType>(from), wide = dyn_cast<FloatType>(to);
  return narrow && wide && (narrow == wide || (narrow.getWidth() < wide.getWidth() && wide.getWidth() >= 32));
}

Value meshplan::converted(Value tensor, Type element, plan::CallOp before) {
  return Arithmetic([before](StringRef target) { return CallBuilder(target, before); }).convert(tensor, element);
}

Value meshplan::beforeConversions(Value value) {
  plan::CallOp call = callOf(value);
  while (call && convertsElements(call) &&
         (isa<FloatType>(elementOf(value)) || !isa<FloatType>(elementOf(call.getOperand(0))))) {
    value = call.getOperand(0);
    call = callOf(value);
  }
  return value;
}

Value meshplan::beforeViews(Value value) {
  plan::CallOp call = callOf(value);
  return call && keepsOrder(call) ? beforeViews(call.getOperand(0)) : value;
}

Value meshplan::beforeViews(Value value, Type type) {
  while (value.getType() != type) {
    plan::CallOp call = callOf(value);
    if (!call || !keepsOrder(call))
      return {};
    value = call.getOperand(0);
  }
  return value;
}

bool meshplan::isZero(IndexFunctions &functions, Value value) {
  Expr element = value ? functions.of(value) : nullptr;
  return element && element->kind == ExprKind::Number && element->number == 0;
}

bool meshplan::exchangesLastDims(ExprBuilder &builder, Value value) {
  Indices indices = coordinatesOf(builder, shapeOf(value));
  if (indices.size() < 2 || llvm::is_contained(indices, nullptr))
    return false;
  std::optional<MovedRead> read = readThroughMovement(builder, value, indices);
  std::swap(indices.end()[-1], indices.end()[-2]);
  // A slice reads at the same indices, of a larger tensor.
  return read && read->indices == indices && typeOf(read->operand).getNumElements() == typeOf(value).getNumElements();
}

std::optional<Pick> meshplan::pickOf(ExprBuilder &builder, Value value, int64_t dim) {
  plan::CallOp call = callOf(value);
  if (!call || call.getNumOperands() != 1 || rankOf(call.getOperand(0)) <= dim || !isAlong(call, dim))
    return std::nullopt;
  Value self = call.getOperand(0);
  StringRef target = call.getTarget();
  int64_t number = cast<OpResult>(value).getResultNumber();
  if (target == "aten.unbind.int")
    return Pick{self, number};
  bool isSplit =
      llvm::is_contained({"aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default"}, target);
  if (isSplit && llvm::all_of(call.getResults().take_front(number + 1),
                              [&](Value part) { return rankOf(part) > dim && shapeOf(part)[dim] == 1; }))
    return Pick{self, number};
  if (target != "aten.select.int" && target != "aten.slice.Tensor")
    return std::nullopt;
  std::optional<MovedRead> read = readThroughMovement(builder, value, coordinatesOf(builder, shapeOf(value)));
  if (!read || !read->indices[dim] || !read->indices[dim]->isConstant())
    return std::nullopt;
  return Pick{read->operand, read->indices[dim]->value};
}

Value meshplan::stackOf(ExprBuilder &builder, ArrayRef<Value> parts, int64_t dim) {
  Value stack;
  for (auto [index, part] : llvm::enumerate(parts)) {
    std::optional<Pick> pick = pickOf(builder, part, dim);
    if (!pick || pick->index != static_cast<int64_t>(index) || (stack && stack != pick->tensor) ||
        rankOf(pick->tensor) != rankOf(part) + 1)
      return {};
    stack = pick->tensor;
  }
  return stack;
}

std::optional<MovedRead> meshplan::readThroughParts(ExprBuilder &builder, MovedRead read) {
  plan::CallOp call = callOf(read.operand);
  if (!call)
    return std::nullopt;
  if (call.getTarget() == "aten.numpy_T.default") {
    std::reverse(read.indices.begin(), read.indices.end());
    return MovedRead{call.getOperand(0), read.indices};
  }
  for (int64_t dim = 0, rank = call.getNumOperands() == 1 ? rankOf(call.getOperand(0)) : 0; dim < rank; ++dim) {
    std::optional<Pick> pick = pickOf(builder, read.operand, dim);
    if (!pick || pick->tensor != call.getOperand(0))
      continue;
    Expr index = builder.integer(pick->index);
    if (rankOf(read.operand) == rank)
      read.indices[dim] = index;
    else
      read.indices.insert(read.indices.begin() + dim, index);
    return MovedRead{pick->tensor, read.indices};
  }
  return readThroughMovement(builder, read.operand, read.indices);
}

//===----------------------------------------------------------------------===//
// Operators on rows
//===----------------------------------------------------------------------===//

bool meshplan::takesParts(StringRef target) {
  return llvm::is_contained(
      {"aten.slice.Tensor", "aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default"}, target);
}

bool meshplan::dropsElements(plan::CallOp call) {
  StringRef target = call.getTarget();
  // The second result are the elements that are kept.
  bool isDropout = target == "aten.dropout.default" || (target == "aten.native_dropout.default" &&
                                                        call.getNumResults() == 2 && call.getResult(1).use_empty());
  return isDropout && call.getNumOperands() == 1 && call.getOperand(0).getType() == call.getResult(0).getType();
}

bool meshplan::computesEachElement(plan::CallOp call) {
  const OpRecord *record = OpRegistry::get().lookup(call.getTarget());
  return dropsElements(call) || (record && record->isPointwise && !record->sumsElements);
}

bool meshplan::keepsZeros(plan::CallOp call) {
  CallView view = CallView::of(call);
  if (call.getNumOperands() != 1)
    return false;
  // A tensor times itself has one operand, too.
  bool isScaling = llvm::is_contained({"aten.mul.Tensor", "aten.div.Tensor"}, view.target) &&
                   isa_and_present<FloatAttr, IntegerAttr>(view.get("other")) && !view.get("rounding_mode");
  return isScaling || dropsElements(call) || convertsElements(call) ||
         llvm::is_contained({"aten.silu.default", "aten.relu.default", "aten.gelu.default", "aten.tanh.default",
                             "aten.neg.default", "aten.abs.default", "aten.square.default", "aten.clone.default",
                             "aten.detach.default", "aten.alias.default"},
                            view.target);
}

bool meshplan::computesEachRow(plan::CallOp call, unsigned lead) {
  if (takesParts(call.getTarget()))
    return countedDim(CallView::of(call).getInt("dim", 0), lead + 1) == lead;
  return computesEachElement(call);
}

bool meshplan::isSameForRows(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return llvm::all_of(shape.drop_back(shape.empty() ? 0 : 1), [](int64_t size) { return size == 1; });
}

std::optional<PairEinsum> meshplan::pairEinsumOf(plan::CallOp call) {
  if (!call || call.getTarget() != "aten.einsum.default")
    return std::nullopt;
  CallView view = CallView::of(call);
  std::optional<EinsumEquation> equation = EinsumEquation::of(view);
  if (!equation || equation->operands.size() != 2)
    return std::nullopt;
  SmallVector<std::optional<unsigned>> tensors = view.getOperands("tensors");
  return PairEinsum{equation->operands[0], equation->operands[1], equation->output, call.getOperand(*tensors[0]),
                    call.getOperand(*tensors[1])};
}
