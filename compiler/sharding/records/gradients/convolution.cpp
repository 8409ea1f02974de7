//===- convolution.cpp - record of gradients of convolutions --------------===//
//
// gradient [batch, out, places..], input [batch, in, places..], weight [out,
// in / groups, window..]; the result is like input or like weight.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static FactorRule inputRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("gradient"), input = builder.operand("input"), result = builder.result();
  TensorRef weight = builder.operand("weight");
  builder.tie({gradient[0], input[0], result[0]});
  if (call.getInt("groups", 1) == 1) {
    builder.tie({gradient[1], weight[0]}, FactorKind::sum);
    builder.tie({input[1], weight[1], result[1]});
  }
  return builder.finish();
}

static FactorRule weightRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("gradient"), input = builder.operand("input"), result = builder.result();
  TensorRef weight = builder.operand("weight");
  builder.tie({gradient[0], input[0]}, FactorKind::sum);
  if (call.getInt("groups", 1) == 1) {
    builder.tie({gradient[1], weight[0], result[0]});
    builder.tie({input[1], weight[1], result[1]});
  }
  return builder.finish();
}

static Linearity inGradient(const CallView &call) { return linearIn(call, {{"gradient"}}); }

/// As many products as the forward call has, and the windows of the input beside each other.
static OpCost backwardCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> gradient = call.getOperand("gradient"), weight = call.getOperand("weight");
  if (!gradient || !weight || call.operands[*weight].getRank() < 3)
    return cost;
  int64_t out = std::max<int64_t>(call.operands[*weight].getDimSize(0), 1);
  int64_t window = call.operands[*weight].getNumElements() / out;
  cost.flops = 2 * call.operands[*gradient].getNumElements() * window;
  cost.workspaceBytes = contiguousBytes(call);
  // Weights for volumes of bf16 have their gradient made in f32.
  bool isWide = call.target == "meshplan.convolution_weight_gradient" && call.operands[*weight].getRank() == 5 &&
                call.operands[*weight].getElementType().isBF16();
  for (RankedTensorType operand : call.operands)
    if (isWide)
      cost.workspaceBytes += 4 * operand.getNumElements();
  return cost;
}

void addConvolutionGradientRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.convolution_input_gradient",
                .rule = inputRule,
                .linearity = inGradient,
                .cost = backwardCost});
  registry.add({.target = "meshplan.convolution_weight_gradient",
                .rule = weightRule,
                .linearity = inGradient,
                .cost = backwardCost});
}

} // namespace meshplan
