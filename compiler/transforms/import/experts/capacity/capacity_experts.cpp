//===- capacity_experts.cpp - experts with a capacity ---------------------===//
//
// Each expert takes a number of tokens and drops the others. With 64 tokens, 4 experts of 20 positions and one slot:
//
//   hot       [64, 4]      one_hot(chosen)
//   position  [64, 4]      cumsum(hot, 0) - 1
//   mask      [64, 4]      hot * (position < 20)
//   positions [64, 20]     one_hot(sum(position * mask, -1))
//   dispatch  [64, 4, 20]  mask x positions
//   combine   [64, 4, 20]  gates * dispatch
//   rows      [4, 20, 32]  einsum("tec,tm->ecm", dispatch, x)
//   ..                     products and operators on each row
//   out       [64, 32]     einsum("tec,ecm->tm", combine, rows)
//
// A position without a token has a row of zeros, which biases change. Nothing gives it back.
//
// Tokens of one expert have different positions, since each adds one to the running sum: a row is one token, and what
// comes back to the token is the row times its gate, which is 0 without a position. So the rows of a routed tensor give
// the same, with the gates times sum(mask, -1). Where a token chooses several experts, one after the other, dispatch is
// a sum over the slots (capacity_slots.h), and the positions of a slot begin after all tokens of the slots before it.

#include "compiler/transforms/import/experts/capacity/capacity_experts.h"
#include "compiler/support/layer_names.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/experts/capacity/capacity_slots.h"
#include "compiler/transforms/import/movement_chain.h"
#include "dialect/plan/call_builder.h"
#include <limits>

using namespace mlir;
using namespace meshplan;

namespace {

class CapacityReader {
public:
  CapacityReader(IndexFunctions &functions, plan::CallOp combine) : functions(functions), combine(combine) {}

  std::optional<RoutedRegion> read();

private:
  bool findDispatch();
  bool areInverse() const;
  bool areGatesOfRows();
  bool choose();
  bool readRows(Value value);
  bool readCall(plan::CallOp call);
  bool readProduct(plan::CallOp call, const PairEinsum &product);
  bool readSum(plan::CallOp call, const CallView &view);
  bool addBias(plan::CallOp call, Value rows, Value bias);
  bool isMadeOfRows(Value value) const;
  bool isReadOnlyHere();
  void giveBiasesTheirShape();
  bool refuse(Operation *op, const Twine &why);
  void addGates(Value rows);

  char expertLetter() const { return out.left.end()[-2]; }
  bool isRows(Value value) {
    return rankOf(value) == lead + 1 && shapeOf(value).drop_back() == shapeOf(dispatch.getResult(0)).drop_back();
  }

  IndexFunctions &functions;
  plan::CallOp combine, dispatch;
  PairEinsum back, out; ///< the einsums of both
  SmallVector<CapacitySlot> slots;
  RoutedRegion region;
  int64_t lead = 0; ///< dims of rows in front of the features
  llvm::DenseSet<Operation *> calls;
};

} // namespace

//===----------------------------------------------------------------------===//
// Dispatch and combine
//===----------------------------------------------------------------------===//

bool CapacityReader::refuse(Operation *op, const Twine &why) {
  if (!region.obstacle) {
    region.obstacle = op;
    region.why = why.str();
  }
  return false;
}

/// Finds the first call of the rows, a product of the tokens with one-hot vectors. False unless its slots are those of
/// the combine, without gates.
bool CapacityReader::findDispatch() {
  SmallVector<Value> values{back.rightValue};
  llvm::DenseSet<Value> seen(values.begin(), values.end());
  for (size_t next = 0; next < values.size() && values.size() < 256; ++next) {
    plan::CallOp call = callOf(values[next]);
    std::optional<PairEinsum> einsum = pairEinsumOf(call);
    bool isSpread = einsum && rankOf(einsum->leftValue) == rankOf(back.leftValue);
    if (std::optional<SmallVector<CapacitySlot>> own = isSpread ? readCapacitySlots(einsum->leftValue) : std::nullopt) {
      dispatch = call;
      out = *einsum;
      return llvm::equal(*own, slots, [](const CapacitySlot &one, const CapacitySlot &other) {
        return one.mask == other.mask && one.positions == other.positions && one.gates.empty();
      });
    }
    if (call)
      for (Value operand : call.getOperands())
        if (seen.insert(operand).second)
          values.push_back(operand);
  }
  return false;
}

/// True if the letters say that dispatch sums over the tokens [*groups, tokens] of a group, and combine over what
/// dispatch has made of them.
bool CapacityReader::areInverse() const {
  StringRef labels = out.left, tokens = labels.drop_back(2);
  char feature = out.right.back(), result = back.right.back();
  bool isDispatch = static_cast<int64_t>(tokens.size()) == slots.front().tokenDim + 1 &&
                    out.right == (tokens + Twine(feature)).str() && out.result.size() == labels.size() &&
                    out.result.back() == feature && !StringRef(out.result).contains(tokens.back());
  // The rows in the letters of the combine.
  std::string rows = out.result;
  for (char &letter : rows)
    if (size_t at = labels.find(letter); at != StringRef::npos)
      letter = back.left[at];
  rows.back() = result;
  return isDispatch && back.right == rows && back.result == (StringRef(back.left).drop_back(2) + Twine(result)).str() &&
         !StringRef(back.left).contains(result);
}

/// The number of the expert that each token chooses in a slot, which the one-hot vectors are made of.
static Value chosenIn(const CapacitySlot &slot) { return slot.hot.getDefiningOp()->getOperand(0); }

/// True if the expert of each slot is the best one without those of the slots before it, whose one-hot vectors replace
/// scores by minus infinity.
static bool areSuccessiveMaxima(ArrayRef<CapacitySlot> slots) {
  SmallVector<Value> earlier;
  for (const CapacitySlot &slot : slots) {
    std::optional<Maxima> maxima = maximaOf(beforeViews(chosenIn(slot)));
    if (!maxima || maxima->dim != rankOf(maxima->scores) - 1)
      return false;
    SmallVector<Value> hidden;
    for (plan::CallOp fill = callOf(maxima->scores, "aten.masked_fill.Scalar");
         fill && CallView::of(fill).getFloat("value", 0) == -std::numeric_limits<double>::infinity();
         fill = callOf(fill.getOperand(0), "aten.masked_fill.Scalar"))
      hidden.push_back(oneHotOf(fill.getOperand(1)));
    if (!llvm::all_of(earlier, [&](Value hot) { return llvm::is_contained(hidden, hot); }))
      return false;
    earlier.push_back(slot.hot);
  }
  return true;
}

/// The experts of each token in one tensor, if those of a token differ.
bool CapacityReader::choose() {
  SmallVector<Value> chosen = llvm::map_to_vector(slots, chosenIn);
  // The numbers of all slots, of which the model may take some, in any order.
  Value numbers;
  SmallVector<int64_t> taken;
  for (Value value : chosen) {
    Value own = beforeViews(value);
    std::optional<Pick> pick = pickOf(functions.builder, own, rankOf(own));
    bool isNext = pick && (taken.empty() || pick->tensor == numbers) && !llvm::is_contained(taken, pick->index);
    if (!isNext) {
      taken.clear();
      break;
    }
    numbers = pick->tensor;
    taken.push_back(pick->index);
  }
  numbers = taken.empty() ? Value() : numbers;
  std::optional<ChosenExperts> proven = numbers ? findChosenExperts(functions, numbers) : std::nullopt;
  if (!(proven && proven->experts > 0) && !areSuccessiveMaxima(slots))
    return false;
  int64_t count = slots.size();
  region.chosen = {numbers, typeOf(chosen.front()).getNumElements(), count, shapeOf(slots.front().hot).back()};
  if (numbers && shapeOf(numbers).back() == count && llvm::is_sorted(taken))
    return true;
  SmallVector<int64_t> shape(shapeOf(slots.front().mask).drop_back());
  for (Value &value : chosen)
    value = reshaped(value, shape, dispatch);
  shape.push_back(count);
  region.chosen.indices = CallBuilder("aten.stack.default", dispatch)
                              .tensors("tensors", chosen)
                              .integer("dim", -1)
                              .build(shape, elementOf(chosen.front()));
  return true;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Rows times a matrix of their expert.
bool CapacityReader::readProduct(plan::CallOp call, const PairEinsum &product) {
  if (!readRows(product.leftValue))
    return false;
  StringRef rows = product.left, result = product.result;
  char expert = rows[out.result.find(expertLetter())], in = rows.back(), made = result.back();
  bool isTransposed = product.right == std::string({expert, in, made});
  Type element = elementOf(call.getResult(0));
  if ((!isTransposed && product.right != std::string({expert, made, in})) || result.drop_back() != rows.drop_back() ||
      in == made || elementOf(product.leftValue) != element || elementOf(product.rightValue) != element)
    return false;
  region.steps.push_back(
      {RoutedStep::product, call, call.getResult(0), product.leftValue, product.rightValue, isTransposed});
  return true;
}

/// True if the dispatch is among the calls that the value is computed from.
bool CapacityReader::isMadeOfRows(Value value) const {
  SmallVector<Value> values{value};
  llvm::DenseSet<Value> seen(values.begin(), values.end());
  for (size_t next = 0; next < values.size(); ++next) {
    plan::CallOp call = callOf(values[next]);
    if (call == dispatch)
      return true;
    if (call && dispatch->isBeforeInBlock(call))
      for (Value operand : call.getOperands())
        if (seen.insert(operand).second)
          values.push_back(operand);
  }
  return false;
}

/// Adds a step for `bias`, of which each expert has a part that it adds to all its rows; false if it is something else.
bool CapacityReader::addBias(plan::CallOp call, Value rows, Value bias) {
  Value result = call.getResult(0);
  SmallVector<int64_t> wanted(rankOf(result), 1), shape(shapeOf(bias));
  size_t expert = out.result.find(expertLetter());
  wanted[expert] = shapeOf(result)[expert];
  wanted.back() = shapeOf(result).back();
  shape.insert(shape.begin(), std::max<int64_t>(wanted.size() - shape.size(), 0), 1);
  if (shape != wanted || elementOf(bias) != elementOf(result) || isMadeOfRows(bias))
    return false;
  region.steps.push_back({RoutedStep::bias, call, result, rows, bias});
  return true;
}

/// Rows plus the biases of their experts, or another sum.
bool CapacityReader::readSum(plan::CallOp call, const CallView &view) {
  if (call.getNumOperands() != 2 || view.getFloat("alpha", 1) != 1)
    return false;
  for (unsigned side : {0, 1}) {
    Value rows = call.getOperand(side), bias = call.getOperand(1 - side);
    if (rows.getType() == call.getResult(0).getType() && isMadeOfRows(rows) && !isMadeOfRows(bias) && readRows(rows))
      return addBias(call, rows, bias);
  }
  return false;
}

bool CapacityReader::readCall(plan::CallOp call) {
  if (call == dispatch)
    return true;
  CallView view = CallView::of(call);
  if (!llvm::all_of(call.getResults(), [&](Value value) { return isRows(value); }))
    return false;
  if (std::optional<PairEinsum> einsum = pairEinsumOf(call))
    return readProduct(call, *einsum);
  bool isBiased = view.target == "aten.baddbmm.default";
  if (view.target == "aten.bmm.default" || isBiased) {
    Value rows = tensorArgument(call, view, isBiased ? "batch1" : "self"),
          weight = tensorArgument(call, view, isBiased ? "batch2" : "mat2"), result = call.getResult(0);
    bool isScaled = isBiased && (view.getFloat("alpha", 1) != 1 || view.getFloat("beta", 1) != 1);
    return lead == 2 && out.result.front() == expertLetter() && rows && weight && !isScaled &&
           readProduct(call, {"eci", "eio", "eco", rows, weight}) &&
           (!isBiased || addBias(call, result, tensorArgument(call, view, "self")));
  }
  if (view.target == "aten.add.Tensor" && readSum(call, view))
    return true;
  if (region.obstacle)
    return false;
  bool isEachRow = computesEachRow(call, lead) && llvm::all_of(call.getOperands(), [&](Value operand) {
                     return isSameForRows(operand) || (isRows(operand) && readRows(operand));
                   });
  if (isEachRow)
    region.steps.push_back({RoutedStep::compute, call, {}, {}, {}});
  return isEachRow;
}

/// Rows [experts, .., positions, features] in the order of the dims of the dispatch.
bool CapacityReader::readRows(Value value) {
  plan::CallOp call = callOf(value);
  if (!call)
    return refuse(combine, "they are not computed from the tokens");
  if (calls.contains(call))
    return true;
  if (!readCall(call))
    return refuse(call, operatorText(call.getTarget(), call.getModule()) +
                            " computes in a form that is not known for experts with a capacity");
  calls.insert(call);
  for (Value result : call.getResults())
    region.rows[result] = {{}, static_cast<unsigned>(lead)};
  return true;
}

/// True if no other call reads rows.
bool CapacityReader::isReadOnlyHere() {
  for (Operation *call : calls)
    for (Operation *user : call->getUsers())
      if (user != combine && !calls.contains(user))
        return refuse(user, "their rows are also read elsewhere");
  return true;
}

/// Biases are [experts, features].
void CapacityReader::giveBiasesTheirShape() {
  for (RoutedStep &step : region.steps) {
    if (step.kind != RoutedStep::bias)
      continue;
    SmallVector<int64_t> shape{region.chosen.experts, shapeOf(step.with).back()};
    Value given = beforeViews(step.with, RankedTensorType::get(shape, elementOf(step.with)));
    step.with = given ? given : reshaped(step.with, shape, step.place);
  }
}

/// Rows times their gates, which a product with one-hot vectors does not show.
void CapacityReader::addGates(Value rows) {
  Type type = elementOf(rows);
  SmallVector<Value> gates;
  for (const CapacitySlot &slot : slots) {
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

/// True if the product may give rows back: the experts and positions of its left operand [*tokens, experts, positions]
/// are not in its result.
static bool sumsExperts(const PairEinsum &product) {
  StringRef left = product.left;
  return left.size() >= 3 && StringRef(product.result).find_first_of(left.take_back(2)) == StringRef::npos;
}

/// True if tokens are floats, and gates and results of the type of the rows.
bool CapacityReader::areGatesOfRows() {
  Type element = elementOf(back.rightValue);
  return isa<FloatType>(elementOf(out.rightValue)) && elementOf(combine.getResult(0)) == element &&
         llvm::all_of(slots, [&](const CapacitySlot &slot) {
           return llvm::all_of(slot.gates, [&](Value gate) { return elementOf(gate) == element; });
         });
}

std::optional<RoutedRegion> CapacityReader::read() {
  std::optional<PairEinsum> given = pairEinsumOf(combine);
  if (!given || !sumsExperts(*given))
    return std::nullopt;
  std::optional<SmallVector<CapacitySlot>> combined = readCapacitySlots(given->leftValue);
  if (!combined)
    return std::nullopt;
  back = *given;
  slots = std::move(*combined);
  // What was found is a mixture: if it stays as it is, the region says why.
  region.multiplies = true;
  std::string own = operatorText(combine.getTarget(), combine.getModule());
  if (!havePositionsOfTheirOwn(slots))
    refuse(combine, "two tokens of an expert may have the same position");
  else if (!findDispatch() || !areInverse())
    refuse(combine, own + " gives rows back by other one-hot vectors than those that they were made by");
  else if (!areGatesOfRows())
    refuse(combine, "gates, tokens and rows are of several types");
  if (region.obstacle)
    return region;
  lead = out.result.size() - 1;
  Value tokens = out.rightValue, tensor = findTokenRows(functions, tokens);
  region.steps.push_back({RoutedStep::dispatch, dispatch, dispatch.getResult(0), tensor ? tensor : tokens, {}});
  if (!readRows(back.rightValue) || !isReadOnlyHere())
    return region;
  if (!choose()) {
    refuse(dispatch, slots.size() == 1
                         ? "the numbers of their experts are not known to come from topk, sort or a maximum"
                         : "a token may choose an expert twice");
    return region;
  }
  giveBiasesTheirShape();
  addGates(back.rightValue);
  region.setTokenDims();
  return region;
}

std::optional<RoutedRegion> meshplan::readCapacityExperts(IndexFunctions &functions, plan::CallOp combine) {
  return CapacityReader(functions, combine).read();
}
