//===- capacity_slots.cpp - one-hot positions of tokens -------------------===//
//
// The position of a token among those of its expert is a running sum over the tokens. For the second slot it begins
// after all tokens of the first one. With 64 tokens and 4 experts of 20 positions
//
//   hot       [64, 4]      one_hot(chosen in slot 1)
//   position  [64, 4]      cumsum(hot, 0) - 1 + sum(hot of slot 0, 0)
//
// is read as one running sum, the constant -1, and `before` = {hot of slot 0}. A running sum counts from 1, so that any
// other constant would leave a position free or take one below 0.

#include "compiler/transforms/import/experts/capacity/capacity_slots.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;

namespace {

/// The terms of the positions of a slot.
struct PositionTerms {
  int64_t constant = 0;
  unsigned runningSums = 0;
  SmallVector<plan::CallOp, 2> earlier; ///< sums of all tokens of other slots
};

class SlotReader {
public:
  bool readSum(Value value, unsigned depth = 0);

  SmallVector<CapacitySlot> slots;

private:
  bool readConversion(plan::CallOp call, unsigned depth);
  bool readFactors(plan::CallOp call, unsigned depth);
  bool readProduct(Value mask, Value positions);
};

} // namespace

Value meshplan::oneHotOf(Value value) {
  value = beforeConversions(value);
  for (plan::CallOp call = callOf(value); call && keepsOrder(call); call = callOf(value)) {
    ArrayRef<int64_t> shape = shapeOf(call.getOperand(0));
    if (shape.empty() || shapeOf(value).empty() || shape.back() != shapeOf(value).back())
      break;
    value = call.getOperand(0);
  }
  return callOf(value, "aten.one_hot.default") ? value : Value();
}

/// The two operands of a product; nullopt for anything else.
static std::optional<std::pair<Value, Value>> factorsOf(Value value) {
  plan::CallOp call = callOf(value, "aten.mul.Tensor");
  return call && call.getNumOperands() == 2 ? std::optional(std::pair(call.getOperand(0), call.getOperand(1)))
                                            : std::nullopt;
}

/// True if `value` [*tokens] or with further dims of size 1 has the tokens of `like` [*tokens, ..].
static bool hasTokensOf(Value value, Value like, int64_t tokenRank) {
  return rankOf(value) >= tokenRank && isa<FloatType>(elementOf(value)) &&
         shapeOf(value).take_front(tokenRank) == shapeOf(like).take_front(tokenRank) &&
         llvm::all_of(shapeOf(value).drop_front(tokenRank), [](int64_t size) { return size == 1; });
}

//===----------------------------------------------------------------------===//
// One slot
//===----------------------------------------------------------------------===//

static bool readTerms(Value value, CapacitySlot &slot, PositionTerms &terms);

/// The number of all tokens of an earlier slot, or of those up to each token of this one.
static bool readCount(plan::CallOp call, const CallView &view, CapacitySlot &slot, PositionTerms &terms) {
  Value hot = oneHotOf(call.getOperand(0));
  if (!hot || shapeOf(call.getOperand(0)) != shapeOf(slot.mask))
    return false;
  std::optional<int64_t> dim = countedDim(view.getInt("dim", 0), rankOf(slot.mask));
  if (view.target == "aten.cumsum.default" && hot == slot.hot && dim) {
    ++terms.runningSums;
    slot.tokenDim = *dim;
    return true;
  }
  terms.earlier.push_back(call);
  slot.before.push_back(hot);
  return view.target == "aten.sum.dim_IntList" && view.getBool("keepdim", false);
}

/// Adds what the positions of a slot are the sum of.
static bool readTerms(Value value, CapacitySlot &slot, PositionTerms &terms) {
  plan::CallOp call = callOf(value);
  if (!call || !isa<IntegerType>(elementOf(value)))
    return false;
  CallView view = CallView::of(call);
  bool isSum = view.target == "aten.add.Tensor", isDifference = view.target == "aten.sub.Tensor";
  if ((isSum || isDifference) && view.getFloat("alpha", 1) == 1) {
    if (call.getNumOperands() == 1 && isa_and_present<IntegerAttr>(view.get("other"))) {
      terms.constant += (isSum ? 1 : -1) * view.getInt("other", 0);
      return readTerms(call.getOperand(0), slot, terms);
    }
    return isSum && call.getNumOperands() == 2 && readTerms(call.getOperand(0), slot, terms) &&
           readTerms(call.getOperand(1), slot, terms);
  }
  // Where the mask is, a factor `hot` is 1.
  if (auto factors = factorsOf(value)) {
    auto [left, right] = *factors;
    if (oneHotOf(left) == slot.hot || oneHotOf(right) == slot.hot)
      return readTerms(oneHotOf(left) == slot.hot ? right : left, slot, terms);
  }
  return readCount(call, view, slot, terms);
}

/// mask = hot * (position < capacity) and positions = one_hot(sum(position * mask, -1)).
static bool readPosition(CapacitySlot &slot) {
  plan::CallOp sum = callOf(slot.positions.getDefiningOp()->getOperand(0), "aten.sum.dim_IntList");
  auto factors = sum ? factorsOf(sum.getOperand(0)) : std::nullopt, kept = factorsOf(slot.mask);
  if (!factors || !isAlong(sum, rankOf(slot.mask) - 1) || CallView::of(sum).getBool("keepdim", false))
    return false;
  auto [position, mask] = *factors;
  if (mask != slot.mask)
    std::swap(position, mask);
  plan::CallOp less =
      callOf(beforeConversions(oneHotOf(kept->first) == slot.hot ? kept->second : kept->first), "aten.lt.Scalar");
  PositionTerms terms;
  return mask == slot.mask && less && less.getOperand(0) == position && shapeOf(position) == shapeOf(slot.mask) &&
         readTerms(position, slot, terms) && terms.constant == -1 && terms.runningSums == 1 &&
         llvm::all_of(terms.earlier, [&](plan::CallOp earlier) { return isAlong(earlier, slot.tokenDim); });
}

/// hot * (position < capacity), times gates.
static bool readMask(Value value, CapacitySlot &slot) {
  value = beforeConversions(value);
  auto factors = factorsOf(value);
  if (!factors)
    return false;
  auto [left, right] = *factors;
  for (auto [one, other] : {std::pair(left, right), std::pair(right, left)}) {
    if (oneHotOf(one) && isa<IntegerType>(elementOf(value)) && shapeOf(one) == shapeOf(value)) {
      slot.mask = value;
      slot.hot = oneHotOf(one);
      return readPosition(slot);
    }
    if (hasTokensOf(one, other, rankOf(other) - 1) && shapeOf(other) == shapeOf(value) && readMask(other, slot)) {
      slot.gates.push_back(one);
      return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// All slots
//===----------------------------------------------------------------------===//

bool SlotReader::readProduct(Value mask, Value positions) {
  CapacitySlot slot;
  slot.positions = beforeConversions(positions);
  bool isRead = callOf(slot.positions, "aten.one_hot.default") && readMask(mask, slot);
  if (isRead)
    slots.push_back(std::move(slot));
  return isRead;
}

bool SlotReader::readConversion(plan::CallOp call, unsigned depth) {
  Value self = call.getOperand(0), result = call.getResult(0);
  size_t first = slots.size();
  bool isTruth = elementOf(result).isInteger(1), rounds = isa<IntegerType>(elementOf(result)) && !isTruth;
  if (!readSum(self, depth) || (rounds && isa<FloatType>(elementOf(self))))
    return false;
  // A bool is true for any number but 0: it does not have the gates.
  if (isTruth)
    for (CapacitySlot &slot : MutableArrayRef(slots).drop_front(first))
      slot.gates.clear();
  return true;
}

/// What is before a view that adds a dim of size 1 at `dim`, or null.
static Value beforeUnsqueeze(Value value, int64_t dim) {
  plan::CallOp call = callOf(value, "aten.unsqueeze.default");
  bool addsDim = call && countedDim(CallView::of(call).getInt("dim", 0), rankOf(value)) == dim;
  return addsDim ? Value(call.getOperand(0)) : Value();
}

/// mask x positions by broadcasting, or a gate times slots.
bool SlotReader::readFactors(plan::CallOp call, unsigned depth) {
  Value value = call.getResult(0);
  auto factors = factorsOf(value);
  if (!factors)
    return false;
  auto [left, right] = *factors;
  int64_t rank = rankOf(value);
  for (auto [one, other] : {std::pair(left, right), std::pair(right, left)}) {
    Value mask = beforeUnsqueeze(one, rank - 1), positions = beforeUnsqueeze(other, rank - 2);
    if (mask && positions)
      return readProduct(mask, positions);
    size_t first = slots.size();
    if (shapeOf(other) != shapeOf(value) || !hasTokensOf(one, other, rank - 2) || !readSum(other, depth))
      continue;
    for (CapacitySlot &slot : MutableArrayRef(slots).drop_front(first))
      slot.gates.push_back(one);
    return true;
  }
  return false;
}

bool SlotReader::readSum(Value value, unsigned depth) {
  plan::CallOp call = callOf(value);
  if (!call || ++depth > 32)
    return false;
  if (convertsElements(call))
    return readConversion(call, depth);
  CallView view = CallView::of(call);
  if (view.target == "aten.add.Tensor" && view.getFloat("alpha", 1) == 1) {
    bool addsNothing = call.getNumOperands() == 2 || view.getFloat("other", 1) == 0;
    return addsNothing && llvm::all_of(call.getOperands(), [&](Value addend) {
             return shapeOf(addend) == shapeOf(value) && readSum(addend, depth);
           });
  }
  std::optional<PairEinsum> einsum = pairEinsumOf(call);
  if (!einsum)
    return readFactors(call, depth);
  StringRef left = einsum->left, right = einsum->right;
  bool isOuter = left.drop_back() == right.drop_back() && einsum->result == (left + right.take_back(1)).str();
  return isOuter && readProduct(einsum->leftValue, einsum->rightValue);
}

std::optional<SmallVector<CapacitySlot>> meshplan::readCapacitySlots(Value value) {
  SlotReader reader;
  return reader.readSum(value) ? std::optional(std::move(reader.slots)) : std::nullopt;
}

bool meshplan::havePositionsOfTheirOwn(ArrayRef<CapacitySlot> slots) {
  SmallVector<Value> earlier;
  for (const CapacitySlot &slot : slots) {
    if (slot.tokenDim != slots.front().tokenDim || slot.before.size() != earlier.size() ||
        !llvm::all_of(earlier, [&](Value hot) { return llvm::is_contained(slot.before, hot); }) ||
        llvm::is_contained(earlier, slot.hot))
      return false;
    earlier.push_back(slot.hot);
  }
  return true;
}
