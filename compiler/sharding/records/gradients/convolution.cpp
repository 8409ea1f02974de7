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

/// On a CPU oneDNN lays the images out in blocks of features, or the gradient's and the weight; with a stride the
/// gradient of an image is made in a larger one, or by products with a buffer of their own. Windows of one element in
/// each place are products of matrices. Measured with PyTorch 2.11.
static int64_t blockedBytes(const CallView &call, RankedTensorType gradient, RankedTensorType input,
                            RankedTensorType weight) {
  auto isOne = [](int64_t size) { return size == 1; };
  bool isDense = llvm::all_of(call.getInts("stride").value_or(SmallVector<int64_t>()), isOne);
  if (isDense && llvm::all_of(weight.getShape().drop_front(2), isOne))
    return 0;
  if (call.target == "meshplan.convolution_weight_gradient")
    return std::max(tensorBytes(weight), tensorBytes(gradient) + tensorBytes(input));
  constexpr int64_t ProductBuffer = 9 * 4096;
  int64_t blocks = tensorBytes(gradient) + tensorBytes(weight);
  return isDense ? blocks : std::max(2 * tensorBytes(call.results.front()), blocks + ProductBuffer);
}

/// Bytes of the matrix of all windows of an image, of which only the gradient of the weight is made.
static int64_t unfoldedBytes(const CallView &call, RankedTensorType gradient, RankedTensorType weight) {
  int64_t out = std::max<int64_t>(weight.getDimSize(0), 1);
  bool ofWeight = call.target == "meshplan.convolution_weight_gradient";
  return ofWeight ? tensorBytes(gradient) / out * (weight.getNumElements() / out) : 0;
}

/// As many products as the forward call has.
static OpCost backwardCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> gradientIndex = call.getOperand("gradient"), inputIndex = call.getOperand("input");
  std::optional<unsigned> weightIndex = call.getOperand("weight");
  if (!gradientIndex || !inputIndex || !weightIndex)
    return cost;
  RankedTensorType gradient = call.operands[*gradientIndex], input = call.operands[*inputIndex];
  RankedTensorType weight = call.operands[*weightIndex];
  if (weight.getRank() < 3 || input.getRank() != weight.getRank())
    return cost;
  cost.flops = 2 * gradient.getNumElements() * (weight.getNumElements() / std::max<int64_t>(weight.getDimSize(0), 1));
  bool isBlocked = isBlockedConvolution(input, weight, input.getDimSize(0), call.getInt("groups", 1));
  cost.workspaceBytes = contiguousBytes(call) + (isBlocked ? blockedBytes(call, gradient, input, weight)
                                                           : unfoldedBytes(call, gradient, weight));
  // Weights for volumes of bf16 have their gradient made in f32.
  bool isWide = call.target == "meshplan.convolution_weight_gradient" && weight.getRank() == 5 &&
                weight.getElementType().isBF16();
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
