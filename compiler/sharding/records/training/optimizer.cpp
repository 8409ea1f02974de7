//===- optimizer.cpp - records of optimizer steps -------------------------===//
//
// Parameter, gradient and states have one shape and are updated elementwise.
// Learning rate, step number and gradient factor have rank 0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/axes.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"
#include "runtime/schema/kernel_blocks.h"

using namespace mlir;

namespace meshplan {

static constexpr StringLiteral adamWrites[] = {"parameter", "average", "square_average"};
static constexpr StringLiteral momentumWrites[] = {"parameter", "momentum"};
static constexpr StringLiteral sgdWrites[] = {"parameter"};
static constexpr StringLiteral assignWrites[] = {"self"};

static FactorRule stepRule(const CallView &call) {
  RuleBuilder builder(call);
  for (int64_t dim = 0; dim < builder.result().getRank(); ++dim) {
    SmallVector<DimRef> dims;
    for (StringRef name : {"parameter", "gradient", "average", "square_average", "momentum"})
      if (TensorRef tensor = builder.operand(name))
        dims.push_back(tensor[dim]);
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim]);
    builder.tie(dims);
  }
  return builder.finish();
}

/// A gradient that is scaled, or whose strides differ from those of its parameter, is copied.
template <int64_t Flops> static OpCost stepCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType parameter = call.results.front();
  cost.flops = Flops * parameter.getNumElements();
  bool copies = call.getOperand("factor").has_value() || contiguousBytes(call, "gradient") != 0;
  cost.workspaceBytes = copies ? tensorBytes(parameter) : 0;
  // States of another dtype are converted.
  for (StringRef name : {"average", "square_average", "momentum"})
    if (std::optional<unsigned> state = call.getOperand(name);
        state && call.operands[*state].getElementType() != parameter.getElementType())
      cost.workspaceBytes += tensorBytes(parameter);
  return cost;
}

/// Parameters, gradients and momentum of 16 bits are converted to f32, in which the step is computed.
template <int64_t Flops> static OpCost sgdCost(const CallView &call) {
  OpCost cost = stepCost<Flops>(call);
  RankedTensorType parameter = call.results.front();
  constexpr int64_t wideBytes = 4;
  if (plan::elementBytes(parameter.getElementType()) < wideBytes)
    cost.workspaceBytes += wideBytes * parameter.getNumElements() * (call.getOperand("momentum") ? 3 : 2);
  return cost;
}

/// Sets `summed`: the value is not partial and some ranks hold the same elements, so other ranks may have produced a
/// non-finite element.
static LocalCall localizeNote(const CallView &call, plan::MeshOp mesh) {
  plan::ShardingAttr sharding = plan::getSharding(call.operands.front());
  if (!sharding || !mesh)
    return {call.target.str(), call.args};
  // Ranks that hold different elements, or addends, see different values, and one of them may be the only one with a
  // non-finite number. Where every axis divides the value, each element is seen by one rank, and nothing is seen twice.
  AxisList axes = allAxes(sharding);
  llvm::erase_if(axes, plan::isTime);
  int64_t ranks = 1;
  for (auto axis : mesh.getAxes().getAsRange<plan::MeshAxisAttr>())
    ranks *= axis.getName() == plan::timeAxisName ? 1 : axis.getSize();
  bool isPartial = timeAxesOf(sharding).size() < sharding.getPartialAxes().size();
  NamedAttrList args(call.args);
  args.set("summed", BoolAttr::get(call.args.getContext(), !isPartial && plan::shardCount(axes, mesh) < ranks));
  return {call.target.str(), args.getDictionary(call.args.getContext())};
}

/// Every element is an addend. Elements that several ranks hold count once.
static FactorRule squareSumRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  for (int64_t dim = 0; dim < self.getRank(); ++dim)
    builder.tie({self[dim]}, FactorKind::sum);
  return builder.finish();
}

/// A comparison of each element, without a temporary.
static OpCost nonfiniteCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = call.operands.front().getNumElements();
  return cost;
}

/// The result aliases the operand, which is read once for the count.
static OpCost noteCost(const CallView &call) {
  OpCost cost = viewCost(call);
  cost.flops = call.operands.front().getNumElements();
  return cost;
}

/// The squares are converted to f64 in chunks and summed. 16-bit elements are converted to f32 first.
static OpCost squareSumCost(const CallView &call) {
  constexpr int64_t piece = kernel_blocks::squaredElements;
  OpCost cost = copyCost(call);
  RankedTensorType self = call.operands.front();
  cost.flops = 2 * self.getNumElements();
  int64_t elementBytes = plan::elementBytes(self.getElementType());
  int64_t held = 8; // bytes for each element: squares in f64
  if (elementBytes < 8)
    held += 4; // in f32
  if (elementBytes < 4)
    held += 4; // and the elements in f32
  cost.workspaceBytes = contiguousBytes(call) + std::min(piece, self.getNumElements()) * held + 2 * sizeof(double);
  return cost;
}

void addOptimizerRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.adam",
                .rule = stepRule,
                .linearity = notLinear,
                .cost = stepCost<14>,
                .overwrites = adamWrites,
                .isPointwise = true});
  registry.add({.target = "meshplan.sgd_momentum",
                .rule = stepRule,
                .linearity = notLinear,
                .cost = sgdCost<6>,
                .overwrites = momentumWrites,
                .isPointwise = true});
  registry.add({.target = "meshplan.sgd",
                .rule = stepRule,
                .linearity = notLinear,
                .cost = sgdCost<3>,
                .overwrites = sgdWrites,
                .isPointwise = true});
  registry.add({.target = "meshplan.square_sum",
                .rule = squareSumRule,
                .linearity = notLinear,
                .cost = squareSumCost,
                .isPointwise = true,
                .sumsElements = true});
  registry.add({.target = "meshplan.nonfinite_count",
                .rule = squareSumRule,
                .linearity = notLinear,
                .cost = nonfiniteCost,
                .isPointwise = true,
                .sumsElements = true});
  // A rank inspects its own addends.
  registry.add({.target = "meshplan.note_nonfinite",
                .rule = alignedRule,
                .linearity = movesOperand,
                .cost = noteCost,
                .strides = likeFirst,
                .localize = localizeNote,
                .isPointwise = true});
  for (StringRef target : {"meshplan.assign", "meshplan.accumulate"})
    registry.add({.target = target,
                  .rule = alignedRule,
                  .linearity = notLinear,
                  .cost = copyCost,
                  .overwrites = assignWrites,
                  .isPointwise = true});
  // Another op decides the dim: it is whole in this rule, and the call is created after layouts are decided.
  registry.add({.target = "meshplan.take_microbatch",
                .rule = undividedRule,
                .linearity = notLinear,
                .cost = viewCost,
                .strides = likeFirst});
  registry.add({.target = "meshplan.clip_factor", .rule = undividedRule, .linearity = notLinear, .cost = copyCost});
}

} // namespace meshplan
