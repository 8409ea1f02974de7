//===- expert_gates.cpp - gates of experts that see all tokens ------------===//
//
// Models write the gate of expert e in two ways, from the indices and the values of a topk, both [*tokens, slots]:
//
//   sum(values * (indices == e), -1)                  a mask for each expert; also with where
//   scatter(zeros [*tokens, experts], indices, values)[.., e]
//   sum(one_hot(indices) * values, slots)[.., e]      the gates of all experts, of which one is taken

#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// True if every number of `from` is also one of `to`. The product of a mask and a value has the wider of both types.
static bool isExactIn(Type from, Type to) {
  auto narrow = dyn_cast<FloatType>(from), wide = dyn_cast<FloatType>(to);
  return narrow && wide && (narrow == wide || (narrow.getWidth() < wide.getWidth() && wide.getWidth() >= 32));
}

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
static std::optional<ExpertGate> readAllGates(IndexFunctions &functions, Value gates) {
  int64_t rank = rankOf(gates);
  ExpertGate found;
  if (plan::CallOp call = callOf(gates, "aten.scatter.src")) {
    CallView view = CallView::of(call);
    found = {tensorArgument(call, view, "index"), tensorArgument(call, view, "src")};
    if (!isAlong(call, rank - 1) || !isZero(functions, tensorArgument(call, view, "self")))
      return std::nullopt;
  } else if (plan::CallOp sum = callOf(gates, "aten.sum.dim_IntList")) {
    CallView view = CallView::of(sum);
    plan::CallOp product = callOf(tensorArgument(sum, view, "self"), "aten.mul.Tensor");
    if (!product || !isAlong(sum, rank - 1) || view.getBool("keepdim", false) || product.getNumOperands() != 2 ||
        rankOf(product.getResult(0)) != rank + 1)
      return std::nullopt;
    Value mask = product.getOperand(0), values = product.getOperand(1);
    if (!callOf(beforeConversions(mask), "aten.one_hot.default"))
      std::swap(mask, values);
    plan::CallOp hot = callOf(beforeConversions(mask), "aten.one_hot.default");
    auto wide = values.getDefiningOp<plan::CallOp>();
    if (!hot || hot.getNumOperands() != 1 || !wide || !keepsOrder(wide) || rankOf(values) != rank + 1 ||
        shapeOf(values).back() != 1)
      return std::nullopt;
    found = {hot.getOperand(0), wide.getOperand(0)};
  }
  if (!found.indices || !found.values || rank < 1 || shapeOf(found.indices) != shapeOf(found.values) ||
      rankOf(found.indices) != rank || !isExactIn(elementOf(found.values), elementOf(gates)) ||
      shapeOf(found.indices).drop_back() != shapeOf(gates).drop_back())
    return std::nullopt;
  return found;
}

std::optional<ExpertGate> meshplan::readExpertGates(IndexFunctions &functions, Value gates) {
  auto call = gates.getDefiningOp<plan::CallOp>();
  bool isColumn =
      call && keepsOrder(call) && rankOf(call.getOperand(0)) + 1 == rankOf(gates) && shapeOf(gates).back() == 1;
  return readAllGates(functions, isColumn ? call.getOperand(0) : gates);
}

std::optional<ExpertGate> meshplan::readExpertGate(IndexFunctions &functions, Value gate) {
  auto call = gate.getDefiningOp<plan::CallOp>();
  // Dims of size 1 for the features.
  while (call && keepsOrder(call) && rankOf(call.getOperand(0)) + 1 == rankOf(gate) && shapeOf(gate).back() == 1) {
    gate = call.getOperand(0);
    call = gate.getDefiningOp<plan::CallOp>();
  }
  int64_t rank = call && call.getNumOperands() == 1 ? rankOf(call.getOperand(0)) : 0;
  if (std::optional<Pick> pick = rank > 0 ? pickOf(functions.builder, gate, rank - 1) : std::nullopt) {
    std::optional<ExpertGate> all = readAllGates(functions, pick->tensor);
    if (all)
      all->expert = pick->index;
    return all;
  }
  bool isSum = rank > 0 && call.getTarget() == "aten.sum.dim_IntList" && isAlong(call, rank - 1) &&
               elementOf(gate) == elementOf(call.getOperand(0));
  return isSum ? readMaskedValues(functions, call.getOperand(0)) : std::nullopt;
}
