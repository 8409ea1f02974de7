//===- convolution.cpp - records of gradients of convolutions -------------===//
//
// gradient [batch, out, positions..], input [batch, in, positions..], weight
// [out, in / groups, window..]; the result is like the input or like the
// weight.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/convolution_memory.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/grouped_features.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The number of groups follows from the input features of a group, which the weight gives.
static int64_t groupsOf(TensorRef input, TensorRef weight) {
  int64_t ofGroup = weight[1].size;
  return ofGroup > 0 ? input[1].size / ofGroup : 0;
}

static FactorRule inputRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("gradient"), input = builder.operand("input"), result = builder.result();
  TensorRef weight = builder.operand("weight");
  builder.tie({gradient[0], input[0], result[0]});
  GroupedFeatures features(builder, groupsOf(input, weight));
  // The output features of a group are contracted; the group itself is parallel, because an input feature belongs to
  // one group. GroupedFeatures makes it the shared major factor of both sides.
  features.tie({gradient[1], weight[0]}, {}, FactorKind::sum);
  features.tie({input[1], result[1]}, {weight[1]}, FactorKind::parallel);
  return builder.finish();
}

static FactorRule weightRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("gradient"), input = builder.operand("input"), result = builder.result();
  TensorRef weight = builder.operand("weight");
  builder.tie({gradient[0], input[0]}, FactorKind::sum);
  GroupedFeatures features(builder, groupsOf(input, weight));
  features.tie({gradient[1], weight[0], result[0]}, {}, FactorKind::parallel);
  features.tie({input[1]}, {weight[1], result[1]}, FactorKind::parallel);
  return builder.finish();
}

/// The forward call, with the same local shapes.
static Convolution forwardOf(const CallView &call, RankedTensorType gradient, RankedTensorType input,
                             RankedTensorType weight) {
  Convolution forward{.source = input, .weight = weight, .result = gradient};
  SmallVector<int64_t> strides = call.getInts("stride").value_or(SmallVector<int64_t>());
  forward.isDense = llvm::all_of(strides, [](int64_t stride) { return stride == 1; });
  forward.overlaps = strides.empty();
  for (auto [size, stride] : llvm::zip(weight.getShape().drop_front(2), strides))
    forward.overlaps |= size > stride;
  return forward;
}

/// The gradient of a bf16 weight for volumes is computed in f32, from copies of all tensors.
static int64_t wideWeightBytes(Convolution forward) {
  int64_t elements = 0;
  for (RankedTensorType *type : {&forward.source, &forward.weight, &forward.result}) {
    *type = RankedTensorType::get(type->getShape(), Float32Type::get(type->getContext()));
    elements += type->getNumElements();
  }
  // The result is not yet allocated while its f32 form is computed.
  return 4 * elements + weightGradientBytes(forward) + 2 * forward.weight.getNumElements();
}

static int64_t kernelBytes(const CallView &call, Convolution forward) {
  if (call.target == "meshplan.convolution_input_gradient") {
    std::swap(forward.source, forward.result);
    forward.kind = ConvolutionKind::gradient;
    return convolutionBytes(forward);
  }
  bool isWide = forward.weight.getRank() == 5 && forward.weight.getElementType().isBF16();
  return isWide ? wideWeightBytes(forward) : weightGradientBytes(forward);
}

/// As many products as the forward call has.
static OpCost convolutionGradientCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> gradientIndex = call.getOperand("gradient"), inputIndex = call.getOperand("input");
  std::optional<unsigned> weightIndex = call.getOperand("weight");
  if (!gradientIndex || !inputIndex || !weightIndex)
    return cost;
  RankedTensorType gradient = call.operands[*gradientIndex], input = call.operands[*inputIndex];
  RankedTensorType weight = call.operands[*weightIndex];
  if (weight.getRank() < 3 || input.getRank() != weight.getRank() || gradient.getRank() != weight.getRank())
    return cost;
  cost.flops = 2 * gradient.getNumElements() * (weight.getNumElements() / std::max<int64_t>(weight.getDimSize(0), 1));
  cost.workspaceBytes = contiguousBytes(call) + kernelBytes(call, forwardOf(call, gradient, input, weight));
  return cost;
}

void addConvolutionGradientRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.convolution_input_gradient",
                .rule = inputRule,
                .linearity = inGradient,
                .cost = convolutionGradientCost});
  registry.add({.target = "meshplan.convolution_weight_gradient",
                .rule = weightRule,
                .linearity = inGradient,
                .cost = convolutionGradientCost});
}

} // namespace meshplan
