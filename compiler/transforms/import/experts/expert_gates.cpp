//===- expert_gates.cpp - gates of experts that see all tokens ------------===//
//
// Models write the gate of expert e in three ways, from the indices and the values of a topk, both [*tokens, slots]:
//
//   sum(values * (indices == e), -1)                  a mask for each expert; also with where
//   any(indices == e, -1) * scores[.., e]         a mask for each expert times a score
//   the gates of all experts [.., e], which are 0 but at the indices (sparse_gates.h)

#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// `indices == e`, of which the gate has no values yet.
static std::optional<ExpertGate> readMask(Value mask) {
  plan::CallOp call = callOf(beforeConversions(mask), "aten.eq.Scalar");
  if (!call)
    return std::nullopt;
  CallView view = CallView::of(call);
  Value self = tensorArgument(call, view, "self");
  if (!self || !isa<IntegerType>(elementOf(self)) || !isa_and_present<IntegerAttr>(view.get("other")))
    return std::nullopt;
  return ExpertGate{self, {}, view.getInt("other", 0)};
}

/// values * mask, or values where the mask is true.
static std::optional<ExpertGate> readMaskedValues(IndexFunctions &functions, Value masked) {
  auto call = masked.getDefiningOp<plan::CallOp>();
  if (!call)
    return std::nullopt;
  CallView view = CallView::of(call);
  Value self = tensorArgument(call, view, "self"), other = tensorArgument(call, view, "other");
  std::optional<ExpertGate> gate;
  if (view.target == "aten.mul.Tensor" && self && other) {
    gate = readMask(other);
    if (!gate) {
      gate = readMask(self);
      self = other;
    }
  } else if (view.target == "aten.where.self"
                 ? isZero(functions, other)
                 : view.target == "aten.where.ScalarOther" && view.getFloat("other", 1) == 0) {
    gate = readMask(tensorArgument(call, view, "condition"));
  }
  if (!gate || !self || !isExactIn(elementOf(self), elementOf(masked)) || shapeOf(self) != shapeOf(gate->indices) ||
      shapeOf(masked) != shapeOf(self))
    return std::nullopt;
  gate->values = self;
  return gate;
}

/// The gates of all experts, [*tokens, experts].
static std::optional<ExpertGate> readAllGates(SparseGatesReader &reader, Value gates) {
  std::optional<SparseGates> sparse = reader.read(gates);
  if (!sparse || !sparse->values || sparse->fill != 0)
    return std::nullopt;
  return ExpertGate{sparse->indices, sparse->values};
}

std::optional<ExpertGate> meshplan::readExpertGates(SparseGatesReader &reader, Value gates) {
  auto call = gates.getDefiningOp<plan::CallOp>();
  bool isColumn =
      call && keepsOrder(call) && rankOf(call.getOperand(0)) + 1 == rankOf(gates) && shapeOf(gates).back() == 1;
  return readAllGates(reader, isColumn ? call.getOperand(0) : gates);
}

/// The value without dims of size 1 that have been added for its features, perhaps by a view that divides the tokens.
static Value withoutFeatures(Value gate) {
  auto call = gate.getDefiningOp<plan::CallOp>();
  while (call && keepsOrder(call) && rankOf(call.getOperand(0)) < rankOf(gate) && shapeOf(gate).back() == 1) {
    gate = call.getOperand(0);
    call = gate.getDefiningOp<plan::CallOp>();
  }
  return gate;
}

/// Whether a token has chosen one expert: any(indices == e) over the slots, or ids == e without slots. The gate has no
/// values yet.
static std::optional<ExpertGate> readAnyMask(SparseGatesReader &reader, Value mask) {
  mask = beforeConversions(withoutFeatures(beforeConversions(mask)));
  if (plan::CallOp any = callOf(mask, "aten.any.dim")) {
    Value self = any.getOperand(0);
    std::optional<ExpertGate> read = isAlong(any, rankOf(self) - 1) ? readMask(self) : std::nullopt;
    return read && shapeOf(read->indices) == shapeOf(self) ? read : std::nullopt;
  }
  std::optional<ExpertGate> read = readMask(mask);
  if (!read || !callOf(read->indices) || shapeOf(read->indices) != shapeOf(mask))
    return std::nullopt;
  read->indices = reader.withSlot(read->indices);
  return read;
}

/// True if both are the part of one slot, of tensors [*tokens, slots].
static bool areOfOneSlot(ExprBuilder &builder, Value ids, Value number) {
  // The number may have kept the dim of slots.
  std::optional<Pick> left = pickOf(builder, ids, rankOf(ids)), right = pickOf(builder, number, rankOf(ids));
  return left && right && left->index == right->index && shapeOf(left->tensor) == shapeOf(right->tensor);
}

/// A mask of one expert and a number for each token, which may be that of the expert among those of all. `place` makes
/// the gate of them.
static std::optional<ExpertGate> readMaskedNumber(SparseGatesReader &reader, plan::CallOp place, Value mask,
                                                  Value number) {
  std::optional<ExpertGate> gate = readAnyMask(reader, mask);
  number = withoutFeatures(number);
  if (!gate || !isa<FloatType>(elementOf(number)) || !isExactIn(elementOf(number), elementOf(place.getResult(0))))
    return std::nullopt;
  int64_t dim = rankOf(gate->indices) - 1;
  plan::CallOp slotted = shapeOf(gate->indices).back() == 1 ? callOf(gate->indices) : plan::CallOp();
  bool isOfSlot =
      slotted && keepsOrder(slotted) && areOfOneSlot(reader.functions.builder, withoutFeatures(gate->indices), number);
  std::optional<Pick> pick = pickOf(reader.functions.builder, number, dim);
  if (pick && pick->index == gate->expert && !isOfSlot)
    gate->values = reader.atChosen(pick->tensor, gate->indices, place);
  else if (callOf(number) && shapeOf(gate->indices).back() == 1 &&
           shapeOf(number) == shapeOf(gate->indices).drop_back())
    gate->values = reader.withSlot(number);
  else if (shapeOf(gate->indices).back() == 1 && shapeOf(number) == shapeOf(gate->indices))
    gate->values = number;
  return gate->values && shapeOf(gate->values) == shapeOf(gate->indices) ? gate : std::nullopt;
}

/// The same in a product, or a selection of the number where the mask is true.
static std::optional<ExpertGate> readMaskedNumber(SparseGatesReader &reader, plan::CallOp call) {
  CallView view = CallView::of(call);
  Value self = tensorArgument(call, view, "self"), other = tensorArgument(call, view, "other");
  if (view.target == "aten.mul.Tensor") {
    std::optional<ExpertGate> gate = self && other ? readMaskedNumber(reader, call, self, other) : std::nullopt;
    return !gate && self && other ? readMaskedNumber(reader, call, other, self) : gate;
  }
  Value mask = tensorArgument(call, view, "condition");
  bool isSelection = view.target == "aten.where.self"
                         ? isZero(reader.functions, other)
                         : view.target == "aten.where.ScalarOther" && view.getFloat("other", 1) == 0;
  return isSelection && mask && self && shapeOf(mask) == shapeOf(self) ? readMaskedNumber(reader, call, mask, self)
                                                                       : std::nullopt;
}

std::optional<ExpertGate> meshplan::readExpertGate(SparseGatesReader &reader, Value gate) {
  gate = withoutFeatures(gate);
  auto call = gate.getDefiningOp<plan::CallOp>();
  if (call && ((call.getTarget() == "aten.mul.Tensor" && call.getNumOperands() == 2) ||
               call.getTarget().starts_with("aten.where.")))
    return call.getNumResults() == 1 ? readMaskedNumber(reader, call) : std::nullopt;
  // Values are converted once, to the type of the gate.
  if (call && convertsElements(call) && isa<FloatType>(elementOf(gate)) &&
      isa<FloatType>(elementOf(call.getOperand(0)))) {
    std::optional<ExpertGate> same = readExpertGate(reader, call.getOperand(0));
    return same && elementOf(same->values) == elementOf(call.getOperand(0)) ? same : std::nullopt;
  }
  int64_t rank = call && call.getNumOperands() == 1 ? rankOf(call.getOperand(0)) : 0;
  if (std::optional<Pick> pick = rank > 0 ? pickOf(reader.functions.builder, gate, rank - 1) : std::nullopt) {
    std::optional<ExpertGate> all = readAllGates(reader, pick->tensor);
    if (all)
      all->expert = pick->index;
    return all;
  }
  bool isSum = rank > 0 && call.getTarget() == "aten.sum.dim_IntList" && isAlong(call, rank - 1) &&
               elementOf(gate) == elementOf(call.getOperand(0));
  return isSum ? readMaskedValues(reader.functions, call.getOperand(0)) : std::nullopt;
}

std::optional<ExpertGate> meshplan::readMovedGates(SparseGatesReader &reader, Value value, Indices lead,
                                                   const ExpertAndToken &of) {
  ExprBuilder &builder = reader.functions.builder;
  lead.push_back(builder.integer(0));
  std::optional<MovedRead> at = MovedRead{value, std::move(lead)};
  for (; at && !llvm::is_contained(at->indices, nullptr); at = readThroughMovement(builder, at->operand, at->indices)) {
    ArrayRef<int64_t> shape = shapeOf(at->operand);
    if (shape.size() < 2 || shape.back() != of.experts || at->indices.back() != of.expert ||
        typeOf(at->operand).getNumElements() != of.experts * of.tokens ||
        ArrayRef(at->indices).drop_back() != ArrayRef(digitsOf(builder, of.token, of.tokens, shape.drop_back())))
      continue;
    if (std::optional<ExpertGate> all = readExpertGates(reader, at->operand))
      return all;
  }
  return std::nullopt;
}

/// True if the gates of all experts are computed from a sort of their scores, by calls that keep the experts last.
static bool dependOnChoice(Value gates) {
  constexpr size_t most = 64;
  int64_t experts = shapeOf(gates).back();
  SmallVector<Value> values{gates};
  llvm::SmallDenseSet<Value> seen{gates};
  for (size_t next = 0; next < values.size() && values.size() < most; ++next) {
    auto call = values[next].getDefiningOp<plan::CallOp>();
    if (!call)
      continue;
    // Numbers are sorted for their order.
    if (llvm::is_contained({"aten.topk.default", "aten.sort.default", "aten.kthvalue.default"}, call.getTarget()) &&
        shapeOf(call.getOperand(0)).back() == experts && isa<FloatType>(elementOf(call.getOperand(0))))
      return true;
    // What makes the scores does not belong to the choice, and routed gates are those of recognized experts.
    bool isEnd =
        call.getTarget().starts_with("meshplan.") ||
        llvm::is_contained({"aten.linear.default", "aten.mm.default", "aten.addmm.default", "aten.matmul.default"},
                           call.getTarget());
    if (!isEnd)
      for (Value operand : call.getOperands())
        if (rankOf(operand) > 1 && seen.insert(operand).second)
          values.push_back(operand);
  }
  return false;
}

/// The gates of all experts of which `gate` is one, or that it is but for dims of size 1; or null.
static Value allGatesOf(ExprBuilder &builder, Value gate) {
  auto call = gate.getDefiningOp<plan::CallOp>();
  while (call && call.getNumOperands() == 1 && shapeOf(gate).back() == 1 && keepsOrder(call)) {
    gate = call.getOperand(0);
    call = gate.getDefiningOp<plan::CallOp>();
  }
  for (int64_t dim : {rankOf(gate) - 1, rankOf(gate)})
    if (std::optional<Pick> pick = call && dim >= 0 ? pickOf(builder, gate, dim) : std::nullopt;
        pick && rankOf(pick->tensor) == dim + 1)
      return pick->tensor;
  return exchangesLastDims(builder, gate) ? Value(call.getOperand(0)) : gate;
}

bool meshplan::hasUnknownGates(SparseGatesReader &reader, plan::CallOp product) {
  Value gates;
  if (std::optional<PairEinsum> pair = pairEinsumOf(product)) {
    // te,ted->td
    bool isSum = pair->left.size() + 1 == pair->right.size() && pair->result.size() == pair->left.size() &&
                 !StringRef(pair->result).contains(pair->left.back());
    gates = isSum ? pair->leftValue : Value();
  } else if (product.getTarget() == "aten.mul.Tensor" && product.getNumOperands() == 2) {
    for (unsigned side : {0, 1}) {
      Value gate = product.getOperand(side), rows = product.getOperand(1 - side);
      if (rankOf(gate) > 1 && rankOf(gate) == rankOf(rows) && shapeOf(gate).back() == 1 && shapeOf(rows).back() > 1)
        gates = allGatesOf(reader.functions.builder, gate);
    }
  }
  return gates && rankOf(gates) > 1 && shapeOf(gates).back() > 1 && isa<FloatType>(elementOf(gates)) &&
         dependOnChoice(gates) && !readExpertGates(reader, gates);
}
