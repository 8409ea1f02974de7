//===- loss.cpp - records of losses ---------------------------------------===//
//
// Cross entropy over a vocabulary that may be divided: the maximum, the sum of
// exponentials, the sum of logarithms and the target's logit of each row are
// reduced over the ranks; the logits stay where they are. Of log probabilities
// only that of the target is read. Losses of single elements are elementwise as
// long as they are not reduced; the importer splits the reduction off.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"
#include "runtime/schema/kernel_blocks.h"

using namespace mlir;

namespace meshplan {

/// Ties the rows of input [N, C] to those of every other tensor, which has one element for each row. The operand
/// `ofColumns` has one for each column instead. The columns are reduced.
static FactorRule rowsRule(const CallView &call, FactorKind columns, bool counts = false, StringRef ofColumns = {}) {
  RuleBuilder builder(call);
  std::optional<unsigned> columnsOperand = ofColumns.empty() ? std::nullopt : call.getOperand(ofColumns);
  SmallVector<DimRef> rows{builder.result()[0]};
  for (unsigned index = 0; index < call.operands.size(); ++index)
    if (index != columnsOperand)
      rows.push_back(builder.operand(index)[0]);
  builder.tie(rows);
  DimRef column = builder.operand("input")[1];
  builder.tie({column, builder.operand(columnsOperand)[0]}, columns);
  if (counts)
    builder.count(column);
  return builder.finish();
}

static FactorRule rowMaxRule(const CallView &call) { return rowsRule(call, FactorKind::max); }
static FactorRule rowSumRule(const CallView &call) { return rowsRule(call, FactorKind::sum); }
static FactorRule rowSumLogSoftmaxRule(const CallView &call) {
  return rowsRule(call, FactorKind::sum, /*counts=*/false, "weight");
}

/// Targets are column indices.
static FactorRule rowPickRule(const CallView &call) { return rowsRule(call, FactorKind::sum, /*counts=*/true); }

static FactorRule countRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("target")[0]}, FactorKind::sum);
  return builder.finish();
}

/// Any target may choose any of the weights.
static FactorRule classWeightRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("target")[0], builder.result()[0]});
  return builder.finish();
}

/// The shifted logits of a block of rows. Half types are converted first.
template <int64_t Flops> static OpCost shiftedCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType input = call.operands.front();
  cost.flops = Flops * input.getNumElements();
  int64_t elementBytes = plan::elementBytes(input.getElementType());
  int64_t block = std::min(input.getNumElements(),
                           std::max(kernel_blocks::rowElements, input.getRank() > 1 ? input.getDimSize(1) : 1));
  cost.workspaceBytes = block * (elementBytes < 4 ? 8 : elementBytes);
  return cost;
}

template <int64_t Flops> static OpCost rowsCost(const CallView &call) {
  OpCost cost = copyCost(call);
  if (!call.operands.empty())
    cost.flops = Flops * call.operands.front().getNumElements();
  return cost;
}

/// Targets are indices in the whole vocabulary: a rank subtracts the index of its first column.
static LocalCall localizePick(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> input = call.getOperand("input");
  if (!input || !isDivided(call.operands[*input], 1))
    return unchanged(call);
  Attribute offset =
      plan::LocalIntAttr::get(call.args.getContext(), call.getInt("offset", 0), /*ofResult=*/false, *input, 1, 1, 0);
  return {call.target.str(), withArg(call.args, "offset", offset)};
}

/// Each loss depends on one element of each operand if `reduction` is none.
static FactorRule elementLossRule(const CallView &call) {
  RuleBuilder builder(call);
  if (call.getInt("reduction", 1) == 0)
    builder.tieAligned();
  return builder.finish();
}

/// `Temporaries` more tensors like the operand, and `OfReduced` more where the losses are reduced.
template <int64_t Flops, int64_t Temporaries = 0, int64_t OfReduced = 1>
static OpCost elementLossCost(const CallView &call) {
  OpCost cost = pointwiseCost(call, Flops);
  int64_t held = Temporaries + (call.getInt("reduction", 1) == 0 ? 0 : OfReduced);
  if (!call.operands.empty())
    cost.workspaceBytes += held * tensorBytes(call.operands.front());
  return cost;
}

namespace {
struct ElementLoss {
  StringRef target;
  OpCost (*cost)(const CallView &);
};
} // namespace

static constexpr ElementLoss elementLosses[] = {
    {"aten.mse_loss.default", elementLossCost<2, 0, 2>},
    {"aten.l1_loss.default", elementLossCost<2, 1>},
    {"aten.smooth_l1_loss.default", elementLossCost<6, 0, 2>},
    {"aten.huber_loss.default", elementLossCost<6>},
    {"aten.soft_margin_loss.default", elementLossCost<24>},
    {"aten.binary_cross_entropy.default", elementLossCost<24>},
    {"aten.binary_cross_entropy_with_logits.default", elementLossCost<24, 1>},
    {"aten.kl_div.default", elementLossCost<14, 2>},
};

void addLossRecords(OpRegistry &registry) {
  for (const ElementLoss &loss : elementLosses)
    registry.add({.target = loss.target,
                  .rule = elementLossRule,
                  .linearity = notLinear,
                  .cost = loss.cost,
                  .isElementLoss = true});
  registry.add({.target = "meshplan.row_max", .rule = rowMaxRule, .linearity = notLinear, .cost = rowsCost<1>});
  registry.add({.target = "meshplan.row_sum_exp", .rule = rowSumRule, .linearity = notLinear, .cost = shiftedCost<12>});
  registry.add({.target = "meshplan.row_sum_log_softmax",
                .rule = rowSumLogSoftmaxRule,
                .linearity = notLinear,
                .cost = shiftedCost<4>});
  registry.add({.target = "meshplan.row_pick",
                .rule = rowPickRule,
                .linearity = inInput,
                .cost = rowsCost<0>,
                .localize = localizePick,
                .picksElements = true});
  registry.add({.target = "meshplan.token_loss", .rule = rowSumRule, .linearity = notLinear, .cost = rowsCost<12>});
  registry.add(
      {.target = "meshplan.class_weight", .rule = classWeightRule, .linearity = inWeight, .cost = rowsCost<1>});
  registry.add({.target = "meshplan.count_tokens", .rule = countRule, .linearity = notLinear, .cost = rowsCost<1>});
}

} // namespace meshplan
