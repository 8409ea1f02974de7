//===- capacity_experts.cpp - experts with a capacity ---------------------===//
//
// Each expert takes a number of tokens and drops the others. With 64 tokens, 4 experts of 20 positions and one slot:
//
//   hot       [64, 4]      one_hot(chosen)
//   position  [64, 4]      cumsum(hot, 0) - 1
//   mask      [64, 4]      hot * (position < 20)
//   places    [64, 20]     one_hot(sum(position * mask, -1))
//   dispatch  [64, 4, 20]  mask x places
//   combine   [64, 4, 20]  gates * dispatch
//   rows      [4, 20, 32]  einsum("tec,tm->ecm", dispatch, x)
//   ..                     products and operators on each row
//   out       [64, 32]     einsum("tec,ecm->tm", combine, rows)
//
// Tokens of one expert have different positions, since each adds one to the running sum: a row is one token, and what
// comes back to the token is the row times its gate, which is 0 without a position. So the rows of a routed tensor give
// the same, with the gates times sum(mask, -1). Where a token chooses several experts, one after the other, dispatch is
// a sum over the slots, and the positions of a slot begin after all tokens of the slots before it.

#include "compiler/transforms/import/experts/capacity_experts.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/experts/region_reader.h"
#include "compiler/transforms/import/index_functions/call_reader.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// One slot of a dispatch or combine tensor: mask x places, times numbers of each token.
struct Slot {
  Value mask;                ///< integers [*tokens, experts]
  Value hot;                 ///< one_hot(chosen), of which the mask has the part that is kept
  Value places;              ///< one_hot(position)
  SmallVector<Value> gates;  ///< factors, [*tokens] with dims of size 1
  SmallVector<Value> before; ///< one-hot vectors of the slots whose tokens come first
};

/// `bsec,bsm->ebcm`
struct Einsum {
  std::string left, right, result;
  Value leftValue, rightValue;
};

class CapacityReader {
public:
  CapacityReader(IndexFunctions &functions, plan::CallOp combine) : functions(functions), combine(combine) {}

  std::optional<RoutedRegion> read();

private:
  bool readSpread(Value value, SmallVectorImpl<Slot> &slots, unsigned depth = 0);
  std::optional<Slot> readProduct(Value mask, Value places);
  bool readMask(Value value, Slot &slot);
  bool readPosition(Slot &slot);
  bool countTokens(Value value, const Slot &slot, int64_t &constant, unsigned &sums, SmallVectorImpl<Value> &before);
  bool readRows(Value value);
  bool readCall(plan::CallOp call);
  bool readWeighted(plan::CallOp call, Value rows, Value weight, StringRef rowLabels, StringRef weightLabels,
                    StringRef result);
  bool areOrdered(ArrayRef<Slot> slots);
  bool choose(ArrayRef<Slot> slots);
  void addGates(ArrayRef<Slot> slots, Value rows);

  Value tokensOf(Value value);

  IndexFunctions &functions;
  plan::CallOp combine, dispatch;
  RoutedRegion region;
  Einsum back, out;
  int64_t lead = 0;      ///< dims of rows in front of the features
  int64_t tokenDim = -1; ///< along which tokens are counted
  llvm::DenseSet<Operation *> calls;
};

} // namespace

static plan::CallOp callOf(Value value, StringRef target = {}) {
  auto call = value ? value.getDefiningOp<plan::CallOp>() : plan::CallOp();
  return call && (target.empty() || call.getTarget() == target) ? call : plan::CallOp();
}

static std::optional<Einsum> einsumOf(plan::CallOp call) {
  if (!call || call.getTarget() != "aten.einsum.default" || call.getNumOperands() != 2)
    return std::nullopt;
  CallView view = CallView::of(call);
  auto text = dyn_cast_or_null<StringAttr>(view.get("equation"));
  SmallVector<std::optional<unsigned>> operands = view.getOperands("tensors");
  if (!text || operands.size() != 2 || !operands[0] || !operands[1])
    return std::nullopt;
  std::string letters;
  for (char letter : text.getValue())
    if (letter != ' ')
      letters += letter;
  auto [inputs, result] = StringRef(letters).split("->");
  auto [left, right] = inputs.split(',');
  Einsum einsum{left.str(), right.str(), result.str(), call.getOperand(*operands[0]), call.getOperand(*operands[1])};
  bool isPlain = !StringRef(letters).contains('.') && static_cast<int64_t>(left.size()) == rankOf(einsum.leftValue) &&
                 static_cast<int64_t>(right.size()) == rankOf(einsum.rightValue) &&
                 static_cast<int64_t>(result.size()) == rankOf(call.getResult(0));
  return isPlain ? std::optional(einsum) : std::nullopt;
}

static bool isConversion(plan::CallOp call) {
  return call && llvm::is_contained({"aten.to.dtype", "aten._to_copy.default"}, call.getTarget()) &&
         call.getNumOperands() == 1;
}

/// The value before conversions. Ones and zeros are the same in each type.
static Value converted(Value value) {
  while (auto call = callOf(value)) {
    if (!isConversion(call))
      break;
    value = call.getOperand(0);
  }
  return value;
}

/// The value before views that keep its last dim.
static Value beforeViews(Value value) {
  plan::CallOp call = callOf(value);
  bool isView = call && keepsOrder(call) && rankOf(call.getOperand(0)) > 0 && rankOf(value) > 0 &&
                shapeOf(call.getOperand(0)).back() == shapeOf(value).back();
  return isView ? beforeViews(call.getOperand(0)) : value;
}

/// The one-hot vectors that a value is, in another type or with other dims of tokens; null if it is none.
static Value hotOf(Value value) {
  Value hot = beforeViews(converted(value));
  return callOf(hot, "aten.one_hot.default") ? hot : Value();
}

static bool isAlong(plan::CallOp call, int64_t dim) {
  CallView view = CallView::of(call);
  int64_t rank = rankOf(call.getOperand(0));
  std::optional<SmallVector<int64_t>> dims = view.getInts("dim");
  return dims ? dims->size() == 1 && countedDim(dims->front(), rank) == dim
              : countedDim(view.getInt("dim", 0), rank) == dim;
}

/// What is before a view that adds a dim of size 1 at `dim`, or null.
static Value withoutUnit(Value value, int64_t dim) {
  plan::CallOp call = callOf(value, "aten.unsqueeze.default");
  if (!call || countedDim(CallView::of(call).getInt("dim", 0), rankOf(value)) != dim)
    return {};
  return call.getOperand(0);
}

//===----------------------------------------------------------------------===//
// Dispatch and combine
//===----------------------------------------------------------------------===//

/// True if `value` [*tokens] or with further dims of size 1 has the tokens of `like` [*tokens, ..].
static bool hasTokensOf(Value value, Value like, int64_t tokenRank) {
  return rankOf(value) >= tokenRank && isa<FloatType>(elementOf(value)) &&
         shapeOf(value).take_front(tokenRank) == shapeOf(like).take_front(tokenRank) &&
         llvm::all_of(shapeOf(value).drop_front(tokenRank), [](int64_t size) { return size == 1; });
}

/// hot * (position < capacity), times gates.
bool CapacityReader::readMask(Value value, Slot &slot) {
  value = converted(value);
  plan::CallOp product = callOf(value, "aten.mul.Tensor");
  if (!product || product.getNumOperands() != 2)
    return false;
  for (unsigned side : {0, 1}) {
    Value one = product.getOperand(side), other = product.getOperand(1 - side);
    if (hotOf(one) && isa<IntegerType>(elementOf(value)) && shapeOf(one) == shapeOf(value)) {
      slot.mask = value;
      slot.hot = hotOf(one);
      return readPosition(slot);
    }
    if (hasTokensOf(one, other, rankOf(other) - 1) && shapeOf(other) == shapeOf(value) && readMask(other, slot)) {
      slot.gates.push_back(one);
      return true;
    }
  }
  return false;
}

/// The terms of the number of a token: running sums of `hot` over the tokens, constants, and sums of other one-hot
/// vectors.
bool CapacityReader::countTokens(Value value, const Slot &slot, int64_t &constant, unsigned &sums,
                                 SmallVectorImpl<Value> &before) {
  plan::CallOp call = callOf(value);
  if (!call || !isa<IntegerType>(elementOf(value)))
    return false;
  CallView view = CallView::of(call);
  bool isSum = view.target == "aten.add.Tensor", isDifference = view.target == "aten.sub.Tensor";
  if ((isSum || isDifference) && view.getFloat("alpha", 1) == 1) {
    if (call.getNumOperands() == 1 && isa_and_present<IntegerAttr>(view.get("other"))) {
      constant += (isSum ? 1 : -1) * view.getInt("other", 0);
      return countTokens(call.getOperand(0), slot, constant, sums, before);
    }
    return isSum && call.getNumOperands() == 2 && countTokens(call.getOperand(0), slot, constant, sums, before) &&
           countTokens(call.getOperand(1), slot, constant, sums, before);
  }
  // Where the mask is, a factor `hot` is 1.
  if (view.target == "aten.mul.Tensor" && call.getNumOperands() == 2)
    for (unsigned side : {0, 1})
      if (hotOf(call.getOperand(side)) == slot.hot)
        return countTokens(call.getOperand(1 - side), slot, constant, sums, before);
  if (view.target == "aten.cumsum.default" && hotOf(call.getOperand(0)) == slot.hot) {
    tokenDim = tokenDim < 0 ? countedDim(view.getInt("dim", 0), rankOf(value)).value_or(-1) : tokenDim;
    ++sums;
    return tokenDim >= 0 && isAlong(call, tokenDim) && shapeOf(value) == shapeOf(slot.mask);
  }
  if (view.target != "aten.sum.dim_IntList" || !view.getBool("keepdim", false) || !hotOf(call.getOperand(0)) ||
      shapeOf(call.getOperand(0)) != shapeOf(slot.mask) || tokenDim < 0 || !isAlong(call, tokenDim))
    return false;
  before.push_back(hotOf(call.getOperand(0)));
  return true;
}

/// places = one_hot(sum(position * mask, -1)), where mask = hot * (position < capacity).
bool CapacityReader::readPosition(Slot &slot) {
  plan::CallOp hot = callOf(slot.places, "aten.one_hot.default");
  plan::CallOp sum = hot ? callOf(hot.getOperand(0), "aten.sum.dim_IntList") : plan::CallOp();
  plan::CallOp product = sum ? callOf(sum.getOperand(0), "aten.mul.Tensor") : plan::CallOp();
  if (!product || product.getNumOperands() != 2 || !isAlong(sum, rankOf(slot.mask) - 1) ||
      CallView::of(sum).getBool("keepdim", false))
    return false;
  Value position = product.getOperand(0), mask = product.getOperand(1);
  if (mask != slot.mask)
    std::swap(position, mask);
  plan::CallOp kept = callOf(slot.mask, "aten.mul.Tensor");
  Value limit = hotOf(kept.getOperand(0)) == slot.hot ? kept.getOperand(1) : kept.getOperand(0);
  plan::CallOp less = callOf(converted(limit), "aten.lt.Scalar");
  int64_t constant = 0;
  unsigned sums = 0;
  // Running sums first: they tell the dim of the tokens.
  return mask == slot.mask && less && less.getOperand(0) == position && shapeOf(position) == shapeOf(slot.mask) &&
         countTokens(position, slot, constant, sums, slot.before) && constant == -1 && sums == 1;
}

std::optional<Slot> CapacityReader::readProduct(Value mask, Value places) {
  Slot slot;
  slot.places = converted(places);
  return callOf(slot.places, "aten.one_hot.default") && readMask(mask, slot) ? std::optional(slot) : std::nullopt;
}

/// The slots of a dispatch or combine tensor [*tokens, experts, positions].
bool CapacityReader::readSpread(Value value, SmallVectorImpl<Slot> &slots, unsigned depth) {
  plan::CallOp call = callOf(value);
  int64_t rank = rankOf(value);
  if (!call || depth > 32)
    return false;
  if (isConversion(call)) {
    size_t first = slots.size();
    bool isRead = readSpread(call.getOperand(0), slots, depth + 1);
    // Where anything is, whatever it is.
    if (elementOf(value).isInteger(1))
      for (Slot &slot : MutableArrayRef(slots).drop_front(isRead ? first : slots.size()))
        slot.gates.clear();
    return isRead;
  }
  CallView view = CallView::of(call);
  if (view.target == "aten.add.Tensor" && view.getFloat("alpha", 1) == 1) {
    if (call.getNumOperands() == 1)
      return view.getFloat("other", 1) == 0 && readSpread(call.getOperand(0), slots, depth + 1);
    return llvm::all_of(call.getOperands(), [&](Value addend) {
      return shapeOf(addend) == shapeOf(value) && readSpread(addend, slots, depth + 1);
    });
  }
  if (std::optional<Einsum> einsum = einsumOf(call)) {
    StringRef left = einsum->left, right = einsum->right;
    bool isOuter = left.drop_back() == right.drop_back() && left.back() != right.back() &&
                   einsum->result == (left + right.take_back(1)).str();
    std::optional<Slot> slot = isOuter ? readProduct(einsum->leftValue, einsum->rightValue) : std::nullopt;
    if (slot)
      slots.push_back(*slot);
    return slot.has_value();
  }
  if (view.target != "aten.mul.Tensor" || call.getNumOperands() != 2)
    return false;
  for (unsigned side : {0, 1}) {
    Value one = call.getOperand(side), other = call.getOperand(1 - side);
    Value mask = withoutUnit(one, rank - 1), places = withoutUnit(other, rank - 2);
    if (mask && places) {
      std::optional<Slot> slot = readProduct(mask, places);
      if (slot)
        slots.push_back(*slot);
      return slot.has_value();
    }
    size_t first = slots.size();
    if (shapeOf(other) == shapeOf(value) && hasTokensOf(one, other, rank - 2) && readSpread(other, slots, depth + 1)) {
      for (Slot &slot : MutableArrayRef(slots).drop_front(first))
        slot.gates.push_back(one);
      return true;
    }
  }
  return false;
}

/// True if the positions of each slot come after those of all slots before it.
bool CapacityReader::areOrdered(ArrayRef<Slot> slots) {
  SmallVector<Value> earlier;
  for (const Slot &slot : slots) {
    if (slot.before.size() != earlier.size() ||
        !llvm::all_of(earlier, [&](Value hot) { return llvm::is_contained(slot.before, hot); }) ||
        llvm::is_contained(earlier, slot.hot))
      return false;
    earlier.push_back(slot.hot);
  }
  return true;
}

/// The scores of the maxima, and the one-hot vectors that hide some of them.
static Value withoutHidden(Value chosen, SmallVectorImpl<Value> &hidden) {
  for (auto view = callOf(chosen); view && keepsOrder(view); view = callOf(chosen))
    chosen = view.getOperand(0);
  plan::CallOp maximum = callOf(chosen);
  if (!maximum || !llvm::is_contained({"aten.argmax.default", "aten.max.dim"}, maximum.getTarget()) ||
      chosen != maximum.getResult(maximum.getNumResults() - 1))
    return {};
  Value scores = maximum.getOperand(0);
  while (plan::CallOp fill = callOf(scores, "aten.masked_fill.Scalar")) {
    if (CallView::of(fill).getFloat("value", 0) != -std::numeric_limits<double>::infinity())
      break;
    hidden.push_back(hotOf(fill.getOperand(1)));
    scores = fill.getOperand(0);
  }
  return isAlong(maximum, rankOf(scores) - 1) ? scores : Value();
}

/// The experts of each token in one tensor, if those of a token differ.
bool CapacityReader::choose(ArrayRef<Slot> slots) {
  SmallVector<Value> chosen, earlier;
  Value numbers; // of a topk
  bool areSelected = true, areMaxima = true;
  for (auto [index, slot] : llvm::enumerate(slots)) {
    chosen.push_back(reshaped(slot.hot.getDefiningOp()->getOperand(0), shapeOf(slot.mask).drop_back(), dispatch));
    plan::CallOp select = callOf(chosen.back(), "aten.select.int");
    plan::CallOp topk = select ? callOf(select.getOperand(0), "aten.topk.default") : plan::CallOp();
    areSelected &= topk && select.getOperand(0) == topk.getResult(1) && (!numbers || numbers == topk.getResult(1)) &&
                   isAlong(select, rankOf(topk.getResult(1)) - 1) &&
                   CallView::of(select).getInt("index", -1) == static_cast<int64_t>(index);
    numbers = topk ? topk.getResult(1) : Value();
    SmallVector<Value> hidden;
    areMaxima &= withoutHidden(chosen.back(), hidden) &&
                 llvm::all_of(earlier, [&](Value hot) { return llvm::is_contained(hidden, hot); });
    earlier.push_back(slot.hot);
  }
  if (!areSelected && !areMaxima)
    return false;
  region.chosen.slots = slots.size();
  region.chosen.experts = shapeOf(slots[0].hot).back();
  region.chosen.tokens = typeOf(chosen[0]).getNumElements();
  bool areAll = areSelected && shapeOf(numbers).back() == region.chosen.slots;
  SmallVector<int64_t> shape(shapeOf(chosen[0]));
  shape.push_back(region.chosen.slots);
  region.chosen.indices = areAll ? numbers
                                 : CallBuilder("aten.stack.default", dispatch)
                                       .tensors("tensors", chosen)
                                       .integer("dim", -1)
                                       .build(shape, elementOf(chosen[0]));
  return true;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Rows times a matrix of their expert.
bool CapacityReader::readWeighted(plan::CallOp call, Value rows, Value weight, StringRef rowLabels,
                                  StringRef weightLabels, StringRef result) {
  char expert = rowLabels[out.result.find(out.left[out.left.size() - 2])];
  char in = rowLabels.back(), made = result.back();
  bool isTransposed = weightLabels == std::string({expert, in, made});
  if ((!isTransposed && weightLabels != std::string({expert, made, in})) ||
      result.drop_back() != rowLabels.drop_back() || in == made || elementOf(rows) != elementOf(call.getResult(0)) ||
      elementOf(weight) != elementOf(rows))
    return false;
  region.steps.push_back({RoutedStep::product, call, call.getResult(0), rows, weight, isTransposed});
  return true;
}

bool CapacityReader::readCall(plan::CallOp call) {
  if (call == dispatch)
    return true;
  CallView view = CallView::of(call);
  auto isRows = [&](Value value) {
    return rankOf(value) == lead + 1 && shapeOf(value).drop_back() == shapeOf(dispatch.getResult(0)).drop_back();
  };
  if (!llvm::all_of(call.getResults(), isRows))
    return false;
  if (std::optional<Einsum> einsum = einsumOf(call))
    return readRows(einsum->leftValue) &&
           readWeighted(call, einsum->leftValue, einsum->rightValue, einsum->left, einsum->right, einsum->result);
  if (view.target == "aten.bmm.default" && out.result[0] == out.left[out.left.size() - 2])
    return lead == 2 && readRows(call.getOperand(0)) &&
           readWeighted(call, call.getOperand(0), call.getOperand(1), "eci", "eio", "eco");
  if (!computesEachRow(view, lead))
    return false;
  for (Value operand : call.getOperands()) {
    ArrayRef<int64_t> shape = shapeOf(operand);
    bool broadcasts = llvm::all_of(shape.drop_back(shape.empty() ? 0 : 1), [](int64_t size) { return size == 1; });
    if (!broadcasts && (!isRows(operand) || !readRows(operand)))
      return false;
  }
  region.steps.push_back({RoutedStep::compute, call, {}, {}, {}});
  return true;
}

/// Rows [experts, .., positions, features] in the order of the dims of the dispatch.
bool CapacityReader::readRows(Value value) {
  plan::CallOp call = callOf(value);
  if (!call)
    return false;
  if (calls.contains(call))
    return true;
  if (!readCall(call))
    return false;
  calls.insert(call);
  for (Value result : call.getResults())
    region.rows[result] = {{}, static_cast<unsigned>(lead)};
  return true;
}

/// Rows times their gates, which a product with one-hot vectors does not show.
void CapacityReader::addGates(ArrayRef<Slot> slots, Value rows) {
  Type type = elementOf(rows);
  SmallVector<Value> gates;
  for (const Slot &slot : slots) {
    SmallVector<int64_t> shape(shapeOf(slot.mask).drop_back());
    Value kept = CallBuilder("aten.sum.dim_IntList", combine)
                     .tensor("self", slot.mask)
                     .integers("dim", {-1})
                     .build(shape, IntegerType::get(combine.getContext(), 64));
    Value gate = CallBuilder("aten.to.dtype", combine).tensor("self", kept).type("dtype", type).build(shape, type);
    for (Value factor : slot.gates)
      gate = CallBuilder("aten.mul.Tensor", combine)
                 .tensor("self", gate)
                 .tensor("other", reshaped(factor, shape, combine))
                 .build(shape, type);
    gates.push_back(gate);
  }
  SmallVector<int64_t> shape(shapeOf(gates[0]));
  shape.push_back(slots.size());
  Value all =
      CallBuilder("aten.stack.default", combine).tensors("tensors", gates).integer("dim", -1).build(shape, type);
  SmallVector<int64_t> column(shapeOf(rows));
  column.back() = 1;
  Value stand =
      CallBuilder("aten.zeros.default", combine).integers("size", column).type("dtype", type).build(column, type);
  Value weighted =
      CallBuilder("aten.mul.Tensor", combine).tensor("self", rows).tensor("other", stand).build(shapeOf(rows), type);
  auto product = weighted.getDefiningOp<plan::CallOp>();
  region.steps.push_back({RoutedStep::dispatchGates, product, stand, all, {}});
  region.rows[stand] = {{}, static_cast<unsigned>(lead), -1};
  region.steps.push_back({RoutedStep::compute, product, {}, {}, {}});
  region.rows[weighted] = {{}, static_cast<unsigned>(lead)};
  region.steps.push_back({RoutedStep::combine, combine, combine.getResult(0), weighted, {}});
}

/// The tokens before views that merge their dims.
Value CapacityReader::tokensOf(Value value) {
  ExprBuilder &builder = functions.builder;
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t tokens = typeOf(value).getNumElements() / shape.back();
  Expr token = builder.coordinate(0, tokens), feature = builder.coordinate(1, shape.back());
  Indices at = digitsOf(builder, token, tokens, shape.drop_back());
  at.push_back(feature);
  Value tensor = findTokenTensor(functions, {{value, at}, token, tokens, {feature}, {shape.back()}});
  return tensor ? tensor : value;
}

std::optional<RoutedRegion> CapacityReader::read() {
  std::optional<Einsum> given = einsumOf(combine);
  if (!given)
    return std::nullopt;
  back = *given;
  SmallVector<Slot> combined, dispatched;
  if (!readSpread(back.leftValue, combined) || combined.empty())
    return std::nullopt;
  // The first call of the rows: a product of the tokens with one-hot vectors.
  SmallVector<Value> values{back.rightValue};
  llvm::DenseSet<Value> seen(values.begin(), values.end());
  for (size_t next = 0; next < values.size() && values.size() < 256 && !dispatch; ++next)
    if (plan::CallOp call = callOf(values[next])) {
      dispatched.clear();
      std::optional<Einsum> einsum = einsumOf(call);
      if (einsum && rankOf(einsum->leftValue) == rankOf(back.leftValue) && readSpread(einsum->leftValue, dispatched)) {
        dispatch = call;
        out = *einsum;
      }
      for (Value operand : call.getOperands())
        if (seen.insert(operand).second)
          values.push_back(operand);
    }
  if (!dispatch || dispatched.size() != combined.size() || !areOrdered(combined) || tokenDim < 0)
    return std::nullopt;
  for (auto [one, other] : llvm::zip_equal(dispatched, combined))
    if (one.mask != other.mask || one.places != other.places || !one.gates.empty())
      return std::nullopt;
  for (const Slot &slot : combined)
    for (Value gate : slot.gates)
      if (elementOf(gate) != elementOf(back.rightValue))
        return std::nullopt;
  // Tokens [*groups, tokens]; the product sums over the tokens of a group.
  StringRef labels = out.left, tokens = labels.drop_back(2);
  char feature = out.right.back();
  bool isDispatch = static_cast<int64_t>(tokens.size()) == tokenDim + 1 &&
                    out.right == (tokens + Twine(feature)).str() && out.result.size() == labels.size() &&
                    out.result.back() == feature && !StringRef(out.result).contains(tokens.back());
  std::string rows = out.result;
  for (char &letter : rows)
    if (size_t at = labels.find(letter); at != StringRef::npos)
      letter = back.left[at];
  char result = back.right.back();
  rows.back() = result;
  bool isCombine = back.right == rows && back.result == (StringRef(back.left).drop_back(2) + Twine(result)).str() &&
                   !StringRef(back.left).contains(result);
  lead = out.result.size() - 1;
  if (!isDispatch || !isCombine || !isa<FloatType>(elementOf(out.rightValue)) ||
      elementOf(combine.getResult(0)) != elementOf(back.rightValue))
    return std::nullopt;
  region.steps.push_back({RoutedStep::dispatch, dispatch, dispatch.getResult(0), tokensOf(out.rightValue), {}});
  if (!readRows(back.rightValue))
    return std::nullopt;
  for (Operation *call : calls)
    for (Operation *user : call->getUsers())
      if (user != combine && !calls.contains(user))
        return std::nullopt;
  if (!choose(combined))
    return std::nullopt;
  addGates(combined, back.rightValue);
  region.multiplies = true;
  region.setTokenDims();
  return region;
}

std::optional<RoutedRegion> meshplan::readCapacityExperts(IndexFunctions &functions, plan::CallOp combine) {
  return CapacityReader(functions, combine).read();
}
