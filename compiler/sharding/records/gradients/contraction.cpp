//===- contraction.cpp - records of gradients of matrices -----------------===//
//
// left [.., m], right [.., k]: the sum of left^T right over all rows, [m, k].
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/record_support/wide_products.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static FactorRule weightGradientRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef left = builder.operand("left"), right = builder.operand("right"), result = builder.result();
  for (int64_t dim = 0; dim + 1 < left.getRank(); ++dim)
    // Rows are samples and positions: ranks of dp each have an addend of the gradient of a weight, which is what data
    // parallelism sums.
    builder.tie({left[dim], right[dim]}, FactorKind::sum);
  builder.tie({left[-1], result[0]});
  builder.tie({right[-1], result[1]});
  return builder.finish();
}

static Linearity inSides(const CallView &call) { return linearIn(call, {{"left"}, {"right"}}); }

/// Bytes of the copy that folds all dims but the last into one.
static int64_t foldedBytes(const CallView &call, StringRef name) {
  std::optional<unsigned> operand = call.getOperand(name);
  if (!operand || call.operands[*operand].getRank() == 0)
    return 0;
  RankedTensorType type = call.operands[*operand];
  int64_t columns = type.getShape().back();
  return reshapeBytes(call, *operand, type.getShape(), {columns == 0 ? 0 : type.getNumElements() / columns, columns});
}

/// Bytes of a bf16 product. All dims but the last of its left operand are summed, so the operand is a transpose.
static int64_t halfBytes(const CallView &call, int64_t summed) {
  RankedTensorType result = call.results.front();
  if (!result.getElementType().isBF16() || result.getRank() < 2)
    return 0;
  bool isRowMajor = call.operands.front().getRank() == 2 && isTransposed(call, 0);
  ArrayRef<int64_t> shape = result.getShape().take_back(2);
  return bf16ProductBytes({shape.front(), summed, shape.back(), !isRowMajor});
}

static OpCost weightGradientCost(const CallView &call) {
  RankedTensorType left = call.operands.front();
  int64_t columns = left.getRank() > 0 ? left.getShape().back() : 1;
  int64_t summed = columns == 0 ? 0 : left.getNumElements() / columns;
  OpCost cost = productCost(call, summed);
  cost.workspaceBytes = foldedBytes(call, "left") + foldedBytes(call, "right") + halfBytes(call, summed);
  return cost;
}

static std::optional<LocalCall> widenWeightGradient(const CallView &call) {
  return LocalCall{"meshplan.weight_gradient_f32", call.args};
}

static OpCost wideCost(const CallView &call) {
  RankedTensorType left = call.operands.front(), right = call.operands.back();
  int64_t columns = left.getRank() > 0 ? left.getShape().back() : 1;
  OpCost cost = weightGradientCost(call);
  cost.workspaceBytes += wideProductBytes(left.getNumElements(), right.getNumElements(),
                                          columns == 0 ? 0 : left.getNumElements() / columns);
  return cost;
}

//===----------------------------------------------------------------------===//
// grouped_weight_gradient: left [rows, k], right [rows, m] in groups of rows, result [groups, k, m]
//===----------------------------------------------------------------------===//

static FactorRule groupedRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("left")[1], builder.result()[1]});
  builder.tie({builder.operand("right")[1], builder.result()[2]});
  return builder.finish();
}

static OpCost groupedGradientCost(const CallView &call) {
  RankedTensorType left = call.operands.front();
  OpCost cost = copyCost(call);
  if (call.results.front().getRank() == 3)
    cost.flops = 2 * left.getNumElements() * call.results.front().getShape().back();
  cost.workspaceBytes = halfBytes(call, rowsOfGroup(call, left.getRank() > 0 ? left.getDimSize(0) : 0));
  return cost;
}

void addContractionGradientRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.grouped_weight_gradient",
                .rule = groupedRule,
                .linearity = inSides,
                .cost = groupedGradientCost});
  registry.add({.target = "meshplan.weight_gradient",
                .rule = weightGradientRule,
                .linearity = inSides,
                .cost = weightGradientCost,
                .widen = widenWeightGradient});
  registry.add(
      {.target = "meshplan.weight_gradient_f32", .rule = weightGradientRule, .linearity = inSides, .cost = wideCost});
}

} // namespace meshplan
