//===- sparse_gates.cpp - tensors that matter at chosen experts -----------===//
//
// A tensor is read from the call that makes it. Scatters and sums of one-hot vectors are where sparse tensors begin;
// an operator on elements keeps the property if what it makes of the fill is one number again. Its values are then
// computed by the same operator, on what its operands have at the indices:
//
//   g = p / s             p sparse with fill 0, s [tokens, 1]         values: those of p, divided by s
//   g = where(m, p, c)    m a mask, c a number                        values: p at the indices
//   g = softmax(p)        p sparse with fill -inf, whose exp is 0,    values: softmax over the slots
//                         or the lowest number of its type

#include "compiler/transforms/import/experts/sparse_gates.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/chosen_experts.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/index_functions/real_bounds.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>
#include <tuple>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

/// The number that all elements of a tensor are.
static std::optional<double> numberOf(IndexFunctions &functions, Value tensor) {
  Expr element = tensor ? functions.of(tensor) : nullptr;
  if (element && element->kind == ExprKind::Number)
    return element->number;
  return element && element->isConstant() ? std::optional<double>(element->value) : std::nullopt;
}

/// The call with other operands, and a result [*tokens, slots].
static Value withOperands(plan::CallOp call, ArrayRef<Value> operands, Value indices) {
  auto own = cast<plan::CallOp>(OpBuilder(call).clone(*call));
  own->setOperands(operands);
  Value result = own.getResult(0);
  result.setType(RankedTensorType::get(shapeOf(indices), elementOf(result)));
  return result;
}

std::optional<SparseGates> SparseGatesReader::read(Value tensor) {
  auto found = known.find(tensor);
  if (found != known.end())
    return found->second;
  std::optional<SparseGates> gates = tensor ? compute(tensor) : std::nullopt;
  known[tensor] = gates;
  return gates;
}

std::optional<SparseGates> SparseGatesReader::compute(Value tensor) {
  plan::CallOp call = callOf(tensor);
  if (!call || call.getNumResults() != 1 || rankOf(tensor) < 2)
    return std::nullopt;
  if (keepsOrder(call)) {
    Value self = call.getOperand(0);
    return rankOf(self) > 1 && shapeOf(self).back() == shapeOf(tensor).back() ? read(self) : std::nullopt;
  }
  CallView view = CallView::of(call);
  using Reader = std::optional<SparseGates> (SparseGatesReader::*)(plan::CallOp, const CallView &);
  auto reader =
      llvm::StringSwitch<Reader>(view.target)
          .Cases({"aten.scatter.src", "aten.scatter.value", "aten.scatter_add.default"},
                 &SparseGatesReader::readScatter)
          .Case("aten.any.dim", &SparseGatesReader::readComparison)
          .Case("aten.one_hot.default", &SparseGatesReader::readOneHotOfOne)
          .Case("aten.sum.dim_IntList", &SparseGatesReader::readOneHot)
          .Case("aten.einsum.default", &SparseGatesReader::readOneHotProduct)
          .Cases({"aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.masked_fill.Scalar",
                  "aten.masked_fill.Tensor"},
                 &SparseGatesReader::readSelection)
          .Cases({"aten.mul.Tensor", "aten.div.Tensor"},
                 call.getNumOperands() == 2 ? &SparseGatesReader::readProduct : &SparseGatesReader::readFunction)
          .Case("aten.add.Tensor",
                call.getNumOperands() == 2 ? &SparseGatesReader::readSum : &SparseGatesReader::readFunction)
          .Cases({"aten.softmax.int", "aten._softmax.default"}, &SparseGatesReader::readSoftmax)
          .Default(&SparseGatesReader::readFunction);
  return (this->*reader)(call, view);
}

/// True if the numbers of each token are those of different experts.
bool SparseGatesReader::differ(Value indices, int64_t experts) {
  std::optional<ChosenExperts> chosen = findChosenExperts(functions, indices);
  return chosen && chosen->experts == experts && shapeOf(indices).back() == chosen->slots;
}

/// Right after the later one of two values of a block, so that all readers of both come after it.
static OpBuilder afterBoth(Value one, Value other) {
  Operation *first = one.getDefiningOp(), *second = other.getDefiningOp();
  Operation *later = !first || (second && first->isBeforeInBlock(second)) ? second : first;
  OpBuilder builder(one.getContext());
  if (later)
    builder.setInsertionPointAfter(later);
  else
    builder.setInsertionPointToStart(one.getParentBlock());
  return builder;
}

/// What a tensor [*tokens, experts] has at the indices, or one that broadcasts to it along the experts; or null.
Value SparseGatesReader::atChosen(Value tensor, Value indices, plan::CallOp place) {
  if (!tensor || rankOf(tensor) != rankOf(indices) || shapeOf(tensor).drop_back() != shapeOf(indices).drop_back())
    return {};
  if (shapeOf(tensor).back() == 1)
    return tensor;
  if (std::optional<SparseGates> sparse = read(tensor); sparse && sparse->indices == indices && sparse->values)
    return sparse->values;
  plan::CallOp maxima = callOf(indices, "aten.topk.default");
  if (maxima && maxima.getOperand(0) == tensor)
    return maxima.getResult(0);
  Value &chosen = gathered[{tensor, indices}];
  if (!chosen)
    chosen = CallBuilder::at("aten.gather.default", place, afterBoth(tensor, indices))
                 .tensor("self", tensor)
                 .integer("dim", -1)
                 .tensor("index", indices)
                 .build(shapeOf(indices), elementOf(tensor));
  return chosen;
}

/// Values, or one, that are written over a constant.
std::optional<SparseGates> SparseGatesReader::readScatter(plan::CallOp call, const CallView &view) {
  Value result = call.getResult(0), indices = tensorArgument(call, view, "index"),
        values = tensorArgument(call, view, "src");
  std::optional<double> fill = numberOf(functions, tensorArgument(call, view, "self"));
  if (!fill || !indices || rankOf(indices) != rankOf(result) ||
      shapeOf(indices).drop_back() != shapeOf(result).drop_back() ||
      countedDim(view.getInt("dim", 0), rankOf(result)) != rankOf(result) - 1 ||
      !differ(indices, shapeOf(result).back()))
    return std::nullopt;
  // What is added to zeros once is written.
  if (view.target == "aten.scatter_add.default" && *fill != 0)
    return std::nullopt;
  if (!values)
    return SparseGates{indices, {}, view.getFloat("value", 0), *fill};
  if (shapeOf(values) != shapeOf(indices))
    return std::nullopt;
  if (std::optional<double> number = numberOf(functions, values))
    return SparseGates{indices, {}, *number, *fill};
  return SparseGates{indices, values, 0, *fill};
}

/// One-hot vectors before conversions, and before views that divide or merge the dims of the tokens.
static plan::CallOp oneHotBehind(Value vectors) {
  for (plan::CallOp call = callOf(vectors); call; call = callOf(vectors)) {
    if (call.getTarget() == "aten.one_hot.default")
      return call.getNumOperands() == 1 ? call : plan::CallOp();
    Value before = beforeConversions(vectors);
    if (before == vectors && keepsOrder(call) && rankOf(call.getOperand(0)) > 2 &&
        shapeOf(call.getOperand(0)).take_back(2) == shapeOf(vectors).take_back(2))
      before = call.getOperand(0);
    if (before == vectors)
      break;
    vectors = before;
  }
  return {};
}

/// One-hot vectors of all slots, possibly times a value for each slot, summed over the slots.
std::optional<SparseGates> SparseGatesReader::readOneHot(plan::CallOp call, const CallView &view) {
  Value result = call.getResult(0), vectors = tensorArgument(call, view, "self"), values;
  int64_t rank = rankOf(result);
  if (!isAlong(call, rank - 1) || view.getBool("keepdim", false) || rankOf(vectors) != rank + 1)
    return std::nullopt;
  if (plan::CallOp product = callOf(vectors, "aten.mul.Tensor"); product && product.getNumOperands() == 2) {
    values = product.getOperand(1);
    vectors = product.getOperand(0);
    if (!oneHotBehind(vectors))
      std::swap(vectors, values);
    auto wide = values.getDefiningOp<plan::CallOp>();
    if (!wide || !keepsOrder(wide) || rankOf(values) != rank + 1 || shapeOf(values).back() != 1)
      return std::nullopt;
    values = wide.getOperand(0);
  }
  return oneHotSum(result, vectors, values);
}

/// The same as `tke,tk->te`.
std::optional<SparseGates> SparseGatesReader::readOneHotProduct(plan::CallOp call, const CallView &) {
  std::optional<PairEinsum> pair = pairEinsumOf(call);
  if (!pair)
    return std::nullopt;
  if (pair->left.size() < pair->right.size()) {
    std::swap(pair->left, pair->right);
    std::swap(pair->leftValue, pair->rightValue);
  }
  StringRef vectors = pair->left, values = pair->right;
  bool isSum = vectors.size() > 2 && vectors.drop_back() == values &&
               pair->result == values.drop_back().str() + vectors.back() && isa<FloatType>(elementOf(pair->rightValue));
  return isSum ? oneHotSum(call.getResult(0), pair->leftValue, pair->rightValue) : std::nullopt;
}

/// One-hot vectors [*tokens, slots, experts], times `values` [*tokens, slots] if they are not null, of which `sum` are
/// the sums over the slots.
std::optional<SparseGates> SparseGatesReader::oneHotSum(Value sum, Value vectors, Value values) {
  plan::CallOp hot = oneHotBehind(vectors);
  Value indices = hot ? hot.getOperand(0) : Value();
  SmallVector<int64_t> pairs(shapeOf(vectors).drop_back());
  if (!indices || rankOf(vectors) != rankOf(sum) + 1 || shapeOf(vectors).back() != shapeOf(sum).back() ||
      ArrayRef(pairs).drop_back() != shapeOf(sum).drop_back() || shapeOf(indices).back() != pairs.back() ||
      (values && (shapeOf(values) != ArrayRef(pairs) || !isExactIn(elementOf(values), elementOf(sum)))) ||
      !differ(indices, shapeOf(sum).back()))
    return std::nullopt;
  if (values)
    values = reshaped(values, shapeOf(indices), cast<plan::CallOp>(sum.getDefiningOp()));
  return SparseGates{indices, values, 1, 0};
}

Value SparseGatesReader::withSlot(Value ids) {
  Value &indices = slotted[ids];
  if (!indices) {
    OpBuilder place = afterBoth(ids, ids);
    auto like = cast<plan::CallOp>(ids.getDefiningOp());
    SmallVector<int64_t> shape(shapeOf(ids));
    shape.push_back(1);
    indices = CallBuilder::at("aten.unsqueeze.default", like, place)
                  .tensor("self", ids)
                  .integer("dim", -1)
                  .build(shape, elementOf(ids));
  }
  return indices;
}

Value SparseGatesReader::ofSlot(Value tensor, int64_t slot) {
  Value &single = singled[{tensor, slot}];
  if (!single)
    single = CallBuilder::at("aten.select.int", cast<plan::CallOp>(tensor.getDefiningOp()), afterBoth(tensor, tensor))
                 .tensor("self", tensor)
                 .integer("dim", -1)
                 .integer("index", slot)
                 .build(shapeOf(tensor).drop_back(), elementOf(tensor));
  return single;
}

/// One-hot vectors of the only expert of each token.
std::optional<SparseGates> SparseGatesReader::readOneHotOfOne(plan::CallOp call, const CallView &) {
  Value ids = call.getOperand(0);
  if (call.getNumOperands() != 1 || !callOf(ids))
    return std::nullopt;
  Value indices = withSlot(ids);
  return differ(indices, shapeOf(call.getResult(0)).back()) ? std::optional(SparseGates{indices, {}, 1, 0})
                                                            : std::nullopt;
}

namespace {

/// One side of a selection: a tensor, or a number that is the same everywhere.
struct Side {
  Value tensor;
  std::optional<double> number;
};

/// Elements of `chosen` where `mask` is true, of `other` elsewhere.
struct Selection {
  Value mask;
  Side chosen, other;
};

} // namespace

static Selection selectionOf(IndexFunctions &functions, plan::CallOp call, const CallView &view) {
  auto side = [&](StringRef name) {
    Value tensor = tensorArgument(call, view, name);
    return tensor                                                    ? Side{tensor, numberOf(functions, tensor)}
           : isa_and_present<FloatAttr, IntegerAttr>(view.get(name)) ? Side{{}, view.getFloat(name, 0)}
                                                                     : Side();
  };
  if (view.target.starts_with("aten.where"))
    return {tensorArgument(call, view, "condition"), side("self"), side("other")};
  return {tensorArgument(call, view, "mask"), side("value"), side("self")};
}

/// `where` and `masked_fill` by a mask of chosen experts: one side is a number, the other one anything.
std::optional<SparseGates> SparseGatesReader::readSelection(plan::CallOp call, const CallView &view) {
  Selection selection = selectionOf(functions, call, view);
  std::optional<SparseGates> mask = read(selection.mask);
  if (!mask || mask->values || mask->number == mask->fill || shapeOf(selection.mask) != shapeOf(call.getResult(0)))
    return std::nullopt;
  auto [chosen, other] =
      mask->number != 0 ? std::tie(selection.chosen, selection.other) : std::tie(selection.other, selection.chosen);
  if (!other.number)
    return std::nullopt;
  if (chosen.number)
    return SparseGates{mask->indices, {}, *chosen.number, *other.number};
  Value values = atChosen(chosen.tensor, mask->indices, call);
  if (!values || shapeOf(values) != shapeOf(mask->indices) || elementOf(values) != elementOf(call.getResult(0)))
    return std::nullopt;
  return SparseGates{mask->indices, values, 0, *other.number};
}

/// Zeros stay zeros in a product, and in a quotient above the line.
std::optional<SparseGates> SparseGatesReader::readProduct(plan::CallOp call, const CallView &view) {
  Value result = call.getResult(0);
  bool isQuotient = view.target.starts_with("aten.div");
  if (view.get("rounding_mode") || !isa<FloatType>(elementOf(result)))
    return std::nullopt;
  for (auto [side, operand] : llvm::enumerate(call.getOperands())) {
    std::optional<SparseGates> sparse = isQuotient && side > 0 ? std::nullopt : read(operand);
    if (!sparse || sparse->fill != 0 || shapeOf(operand) != shapeOf(result))
      continue;
    Value other = atChosen(call.getOperand(1 - side), sparse->indices, call);
    if (!other || (!sparse->values && (sparse->number != 1 || isQuotient)))
      continue;
    SmallVector<Value> operands{sparse->values, other};
    if (side == 1)
      std::swap(operands[0], operands[1]);
    if (sparse->values)
      return SparseGates{sparse->indices, withOperands(call, operands, sparse->indices), 0, 0};
    // A mask times a tensor.
    if (isExactIn(elementOf(other), elementOf(result)) && shapeOf(other) == shapeOf(sparse->indices))
      return SparseGates{sparse->indices, converted(other, elementOf(result), call), 0, 0};
  }
  return std::nullopt;
}

/// Infinity stays infinity in a sum with anything else.
std::optional<SparseGates> SparseGatesReader::readSum(plan::CallOp call, const CallView &view) {
  Value result = call.getResult(0);
  if (view.getFloat("alpha", 1) != 1)
    return std::nullopt;
  for (auto [side, operand] : llvm::enumerate(call.getOperands())) {
    std::optional<SparseGates> sparse = read(operand);
    if (!sparse || sparse->fill != lowest || shapeOf(operand) != shapeOf(result))
      continue;
    Value other = atChosen(call.getOperand(1 - side), sparse->indices, call);
    if (!other)
      continue;
    if (sparse->values)
      return SparseGates{sparse->indices, withOperands(call, {sparse->values, other}, sparse->indices), 0, lowest};
    if (sparse->number == 0 && isExactIn(elementOf(other), elementOf(result)) &&
        shapeOf(other) == shapeOf(sparse->indices))
      return SparseGates{sparse->indices, converted(other, elementOf(result), call), 0, lowest};
  }
  return std::nullopt;
}

/// True where a slot has the number of the expert: any(indices [*tokens, slots, 1] == arange(experts)) over the slots.
std::optional<SparseGates> SparseGatesReader::readComparison(plan::CallOp call, const CallView &view) {
  Value result = call.getResult(0);
  int64_t rank = rankOf(result);
  plan::CallOp equal = callOf(tensorArgument(call, view, "self"), "aten.eq.Tensor");
  if (!isAlong(call, rank - 1) || view.getBool("keepdim", false) || !equal || rankOf(equal.getResult(0)) != rank + 1)
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    Value wide = equal.getOperand(side), numbers = equal.getOperand(1 - side);
    auto view = wide.getDefiningOp<plan::CallOp>();
    Indices coordinates = coordinatesOf(functions.builder, shapeOf(numbers));
    if (!view || !keepsOrder(view) || rankOf(wide) != rank + 1 || shapeOf(wide).back() != 1 || coordinates.empty() ||
        shapeOf(numbers).back() != shapeOf(result).back() || functions.of(numbers) != coordinates.back() ||
        !isSameForRows(numbers))
      continue;
    Value indices = view.getOperand(0);
    if (rankOf(indices) == rank && shapeOf(indices) == shapeOf(wide).drop_back() &&
        differ(indices, shapeOf(result).back()))
      return SparseGates{indices, {}, 1, 0};
  }
  return std::nullopt;
}

/// A softmax over all experts is one over the chosen ones where the exponentials of all others are 0.
std::optional<SparseGates> SparseGatesReader::readSoftmax(plan::CallOp call, const CallView &view) {
  Value self = tensorArgument(call, view, "self");
  std::optional<SparseGates> sparse = read(self);
  constexpr double low = -1e36; // with moderate scores, the exponential of the difference is 0
  if (!sparse || !sparse->values ||
      (sparse->fill != lowest && (sparse->fill > low || !isModerate(sparse->values, functions))) ||
      countedDim(view.getInt("dim", 0), rankOf(self)) != rankOf(self) - 1)
    return std::nullopt;
  Value values = withOperands(call, {sparse->values}, sparse->indices);
  // A view may have divided the tokens into other dims than those of the indices.
  auto own = cast<plan::CallOp>(values.getDefiningOp());
  NamedAttrList args(own.getArgs());
  args.set("dim", OpBuilder(own).getI64IntegerAttr(-1));
  own.setArgsAttr(args.getDictionary(own.getContext()));
  return SparseGates{sparse->indices, values, 0, 0};
}

/// What a function of one number, which is not 0 or does not stay 0, makes of it; nullopt for one that is not known.
static std::optional<double> apply(StringRef target, double argument, Type result) {
  if (target == "aten.to.dtype") {
    // Other numbers may be rounded.
    bool isExact = argument == 1 || (std::isinf(argument) && isa<FloatType>(result));
    return result.isInteger(1) ? std::optional<double>(argument != 0)
           : isExact           ? std::optional(argument)
                               : std::nullopt;
  }
  if (target == "aten.logical_not.default" || (target == "aten.bitwise_not.default" && result.isInteger(1)))
    return argument == 0;
  if (target == "aten.sigmoid.default" || target == "aten.exp.default")
    return argument == lowest ? std::optional<double>(0) : std::nullopt;
  if (target == "aten.relu.default")
    return std::max(argument, 0.0);
  if (target == "aten.neg.default")
    return -argument;
  if (target == "aten.clone.default" || target == "aten.detach.default" || target == "aten.alias.default")
    return argument;
  return std::nullopt;
}

/// What arithmetic makes of a number, without rounding: of 0, 1 and infinity.
static std::optional<double> combine(const CallView &view, double left) {
  bool isNumber = isa_and_present<FloatAttr, IntegerAttr>(view.get(view.get("exponent") ? "exponent" : "other"));
  // A tensor with itself is one operand.
  if (!isNumber && view.target == "aten.mul.Tensor")
    return left == 0 || left == 1 ? std::optional(left) : std::nullopt;
  if (!isNumber)
    return std::nullopt;
  double right = view.getFloat(view.get("exponent") ? "exponent" : "other", 0);
  bool isPower = view.target == "aten.pow.Tensor_Scalar",
       isScaling = llvm::is_contained({"aten.mul.Tensor", "aten.div.Tensor", "aten.mul.Scalar", "aten.div.Scalar"},
                                      view.target);
  if (isPower)
    return left == 0 && right > 0 ? std::optional(0.0) : std::nullopt;
  if (isScaling && !view.get("rounding_mode"))
    return right > 0 && std::isinf(left) ? std::optional(left) : std::nullopt;
  bool isSum =
      llvm::is_contained({"aten.add.Tensor", "aten.add.Scalar"}, view.target) && view.getFloat("alpha", 1) == 1;
  return isSum && (right == 0 || std::isinf(left)) ? std::optional(left) : std::nullopt;
}

/// What a comparison with a number makes of one.
static std::optional<double> compare(const CallView &view, double left) {
  double right = view.getFloat("other", std::nan(""));
  return llvm::StringSwitch<std::optional<double>>(std::isnan(right) ? "" : view.target)
      .Case("aten.eq.Scalar", left == right)
      .Case("aten.ne.Scalar", left != right)
      .Case("aten.gt.Scalar", left > right)
      .Case("aten.ge.Scalar", left >= right)
      .Case("aten.lt.Scalar", left < right)
      .Case("aten.le.Scalar", left <= right)
      .Default(std::nullopt);
}

/// A function of each element. Its argument may have values or be a mask.
std::optional<SparseGates> SparseGatesReader::readFunction(plan::CallOp call, const CallView &view) {
  if (call.getNumOperands() != 1)
    return std::nullopt;
  Type type = elementOf(call.getResult(0));
  auto image = [&](double argument) {
    // Numbers that a dropout draws follow from the shape.
    if (argument == 0 && keepsZeros(call) && !dropsElements(call))
      return std::optional(0.0);
    std::optional<double> made = compare(view, argument);
    if (!made)
      made = combine(view, argument);
    return made ? made : apply(view.target, argument, type);
  };
  // Most calls are other operators, whose operands need not be read.
  if (!image(0) && !image(lowest))
    return std::nullopt;
  Value self = call.getOperand(0);
  std::optional<SparseGates> sparse = shapeOf(self) == shapeOf(call.getResult(0)) ? read(self) : std::nullopt;
  std::optional<double> fill = sparse ? image(sparse->fill) : std::nullopt;
  if (!fill)
    return std::nullopt;
  if (sparse->values)
    return SparseGates{sparse->indices, withOperands(call, {sparse->values}, sparse->indices), 0, *fill};
  std::optional<double> number = image(sparse->number);
  return number ? std::optional(SparseGates{sparse->indices, {}, *number, *fill}) : std::nullopt;
}
