//===- expert_gates.cpp - gates of experts that see all tokens ------------===//
//
// Models write the gate of expert e in two ways, from the indices and the values of a topk, both [*tokens, slots]:
//
//   sum(values * (indices == e), -1)                  a mask for each expert; also with where
//   scatter(zeros [*tokens, experts], indices, values)[.., e]
//   sum(one_hot(indices) * values, slots)[.., e]      the gates of all experts, of which one is taken

#include "compiler/transforms/import/experts/expert_gates.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/experts/region_reader.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

static bool isConversion(StringRef target) {
  return llvm::is_contained({"aten.to.dtype", "aten.to.dtype_layout", "aten._to_copy.default"}, target);
}

static plan::CallOp callOf(Value value, StringRef target) {
  auto call = value ? value.getDefiningOp<plan::CallOp>() : plan::CallOp();
  return call && call.getTarget() == target ? call : plan::CallOp();
}

/// The integers or booleans before conversions to other types.
static Value beforeConversions(Value value) {
  while (auto call = value ? value.getDefiningOp<plan::CallOp>() : plan::CallOp()) {
    if (!isConversion(call.getTarget()) || isa<FloatType>(elementOf(call.getOperand(0))))
      break;
    value = call.getOperand(0);
  }
  return value;
}

static bool isZero(IndexFunctions &functions, Value value) {
  Expr element = value ? functions.of(value) : nullptr;
  return element && element->kind == ExprKind::Number && element->number == 0;
}

/// True if every number of `from` is also one of `to`. The product of a mask and a value has the wider of both types.
static bool isExactIn(Type from, Type to) {
  auto narrow = dyn_cast<FloatType>(from), wide = dyn_cast<FloatType>(to);
  return narrow && wide && (narrow == wide || (narrow.getWidth() < wide.getWidth() && wide.getWidth() >= 32));
}

/// True if the call is along this dim alone.
static bool isAlong(const CallView &view, int64_t dim, int64_t rank) {
  std::optional<SmallVector<int64_t>> dims = view.getInts("dim");
  return dims ? dims->size() == 1 && countedDim(dims->front(), rank) == dim
              : countedDim(view.getInt("dim", 0), rank) == dim;
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
    if (!isAlong(view, rank - 1, rank) || !isZero(functions, tensorArgument(call, view, "self")))
      return std::nullopt;
  } else if (plan::CallOp sum = callOf(gates, "aten.sum.dim_IntList")) {
    CallView view = CallView::of(sum);
    plan::CallOp product = callOf(tensorArgument(sum, view, "self"), "aten.mul.Tensor");
    if (!product || !isAlong(view, rank - 1, rank + 1) || view.getBool("keepdim", false) ||
        product.getNumOperands() != 2 || rankOf(product.getResult(0)) != rank + 1)
      return std::nullopt;
    Value mask = product.getOperand(0), values = product.getOperand(1);
    if (!callOf(beforeConversions(mask), "aten.one_hot.default"))
      std::swap(mask, values);
    plan::CallOp hot = callOf(beforeConversions(mask), "aten.one_hot.default");
    auto wide = values.getDefiningOp<plan::CallOp>();
    if (!hot || !wide || !keepsOrder(wide) || rankOf(values) != rank + 1 || shapeOf(values).back() != 1)
      return std::nullopt;
    found = {hot.getOperand(0), wide.getOperand(0)};
  }
  if (!found.indices || !found.values || rank < 1 || shapeOf(found.indices) != shapeOf(found.values) ||
      rankOf(found.indices) != rank || !isExactIn(elementOf(found.values), elementOf(gates)) ||
      shapeOf(found.indices).drop_back() != shapeOf(gates).drop_back())
    return std::nullopt;
  return found;
}

namespace {

/// One index of the last dim of a tensor.
struct Pick {
  Value tensor;
  int64_t index = 0;
};

} // namespace

/// The tensor of which `value` is the part at one index of the last dim.
static std::optional<Pick> readPick(IndexFunctions &functions, Value value) {
  auto call = value.getDefiningOp<plan::CallOp>();
  if (!call || call.getNumOperands() != 1)
    return std::nullopt;
  Value self = call.getOperand(0);
  CallView view = CallView::of(call);
  int64_t last = rankOf(self) - 1, place = cast<OpResult>(value).getResultNumber();
  if (last < 0 || !isAlong(view, last, last + 1))
    return std::nullopt;
  if (view.target == "aten.unbind.int")
    return Pick{self, place};
  bool isSplit =
      llvm::is_contained({"aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default"}, view.target);
  if (isSplit && llvm::all_of(call.getResults().take_front(place + 1),
                              [](Value part) { return rankOf(part) > 0 && shapeOf(part).back() == 1; }))
    return Pick{self, place};
  if (view.target != "aten.select.int" && view.target != "aten.slice.Tensor")
    return std::nullopt;
  Indices coordinates = coordinatesOf(functions.builder, shapeOf(value));
  std::optional<MovedRead> read = readThroughMovement(functions.builder, value, coordinates);
  if (!read || !read->indices.back() || !read->indices.back()->isConstant())
    return std::nullopt;
  return Pick{read->operand, read->indices.back()->value};
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
  if (std::optional<Pick> pick = readPick(functions, gate)) {
    std::optional<ExpertGate> all = readAllGates(functions, pick->tensor);
    if (all)
      all->expert = pick->index;
    return all;
  }
  if (!call || call.getTarget() != "aten.sum.dim_IntList" || call.getNumOperands() != 1 ||
      elementOf(gate) != elementOf(call.getOperand(0)))
    return std::nullopt;
  int64_t rank = rankOf(call.getOperand(0));
  return isAlong(CallView::of(call), rank - 1, rank) ? readMaskedValues(functions, call.getOperand(0)) : std::nullopt;
}
