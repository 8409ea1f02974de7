//===- convolution.cpp - record of gradients of convolutions --------------===//
//
// grad_output [batch, out, places..], input [batch, in, places..], weight [out,
// in / groups, window..]; of the three results `output_mask` chooses one.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The result that the mask chooses, if it is one of the first two and the only one.
static std::optional<unsigned> chosenResult(const CallView &call) {
  auto mask = dyn_cast_or_null<ArrayAttr>(call.get("output_mask"));
  std::optional<unsigned> chosen;
  for (auto [index, item] : llvm::enumerate(mask ? mask.getValue() : ArrayRef<Attribute>()))
    if (auto isChosen = dyn_cast<BoolAttr>(item); isChosen && isChosen.getValue()) {
      if (chosen)
        return std::nullopt;
      chosen = index;
    }
  return chosen && *chosen < 2 ? chosen : std::nullopt;
}

static FactorRule backwardRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("grad_output"), input = builder.operand("input");
  TensorRef weight = builder.operand("weight");
  std::optional<unsigned> chosen = chosenResult(call);
  if (!chosen || call.getBool("transposed", false))
    return builder.finish();
  TensorRef result = builder.result(*chosen);
  bool isPlain = call.getInt("groups", 1) == 1;
  if (*chosen == 0) {
    builder.tie({gradient[0], input[0], result[0]});
    if (!isPlain)
      return builder.finish();
    builder.tie({gradient[1], weight[0]}, FactorKind::sum);
    builder.tie({input[1], weight[1], result[1]});
    return builder.finish();
  }
  builder.tie({gradient[0], input[0]}, FactorKind::sum);
  if (!isPlain)
    return builder.finish();
  builder.tie({gradient[1], weight[0], result[0]});
  builder.tie({input[1], weight[1], result[1]});
  return builder.finish();
}

static Linearity inGradient(const CallView &call) { return linearIn(call, {{"grad_output"}}); }

/// As many products as the forward call has, and the windows of the input beside each other.
static OpCost backwardCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> gradient = call.getOperand("grad_output"), weight = call.getOperand("weight");
  if (!gradient || !weight || call.operands[*weight].getRank() < 3)
    return cost;
  int64_t out = std::max<int64_t>(call.operands[*weight].getDimSize(0), 1);
  int64_t window = call.operands[*weight].getNumElements() / out;
  cost.flops = 2 * call.operands[*gradient].getNumElements() * window;
  cost.workspaceBytes = contiguousBytes(call);
  return cost;
}

void addConvolutionGradientRecords(OpRegistry &registry) {
  registry.add({.target = "aten.convolution_backward.default",
                .rule = backwardRule,
                .linearity = inGradient,
                .cost = backwardCost});
}

} // namespace meshplan
