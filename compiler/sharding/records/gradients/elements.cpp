//===- elements.cpp - records of gradients of pointwise ops ---------------===//
//
// ATen's backward operators. They read the gradient, and the operand or the
// result.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static Linearity inOutputGradient(const CallView &call) { return linearIn(call, {{"grad_output"}}); }

/// Each element depends on the whole dim.
static FactorRule softmaxRule(const CallView &call) { return wholeDimRule(call, 0); }

/// The products of all elements, their sums, and the result.
static OpCost softmaxGradientCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = 4 * call.results.front().getNumElements();
  cost.workspaceBytes = contiguousBytes(call);
  return cost;
}

/// For the exact gelu of a row-major operand of these types ATen calls oneDNN, which makes gradient and result
/// row-major, too.
static OpCost geluCost(const CallView &call) {
  OpCost cost = pointwiseCost<20>(call);
  Type element = call.results.front().getElementType();
  std::optional<unsigned> self = call.getOperand("self"), gradient = call.getOperand("grad_output");
  auto approximate = dyn_cast_or_null<StringAttr>(call.get("approximate"));
  bool isExact = !approximate || approximate.getValue() == "none";
  if (!self || !gradient || !isExact || !(element.isF32() || element.isBF16()))
    return cost;
  ArrayRef<int64_t> shape = call.results.front().getShape();
  auto isRowMajor = [&](const Strides &strides) { return StridedShape{shape, strides}.isContiguous(); };
  if (isRowMajor(call.getStrides(*self)))
    for (const Strides &strides : {call.getStrides(*gradient), likeOperands(call, 0)})
      cost.workspaceBytes += isRowMajor(strides) ? 0 : tensorBytes(call.results.front());
  return cost;
}

void addElementGradientRecords(OpRegistry &registry) {
  for (StringRef target :
       {"aten.threshold_backward.default", "aten.leaky_relu_backward.default", "aten.hardtanh_backward.default",
        "aten.sigmoid_backward.default", "aten.tanh_backward.default", "aten.hardsigmoid_backward.default",
        "aten.hardswish_backward.default"})
    registry.add({.target = target,
                  .rule = alignedRule,
                  .linearity = inOutputGradient,
                  .cost = pointwiseCost<4>,
                  .strides = likeOperands});
  for (StringRef target : {"aten.silu_backward.default", "aten.mish_backward.default", "aten.softplus_backward.default",
                           "aten.elu_backward.default"})
    registry.add({.target = target,
                  .rule = alignedRule,
                  .linearity = inOutputGradient,
                  .cost = pointwiseCost<20>,
                  .strides = likeOperands});
  registry.add({.target = "aten.gelu_backward.default",
                .rule = alignedRule,
                .linearity = inOutputGradient,
                .cost = geluCost,
                .strides = likeOperands});
  for (StringRef target : {"aten._softmax_backward_data.default", "aten._log_softmax_backward_data.default"})
    registry.add({.target = target, .rule = softmaxRule, .linearity = inOutputGradient, .cost = softmaxGradientCost});
}

} // namespace meshplan
