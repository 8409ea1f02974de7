//===- rows.cpp - gradients of losses, tables and norms -------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"
#include "runtime/schema/kernel_blocks.h"

using namespace mlir;

namespace meshplan {

/// The call with the index of the first element that the rank holds of a divided dim of an operand.
static LocalCall withOffset(const CallView &call, StringRef operand, int64_t dim) {
  std::optional<unsigned> index = call.getOperand(operand);
  if (!index || !isDivided(call.operands[*index], dim))
    return unchanged(call);
  Attribute offset =
      plan::LocalIntAttr::get(call.args.getContext(), call.getInt("offset", 0), /*ofResult=*/false, *index, dim, 1, 0);
  return {call.target.str(), withArg(call.args, "offset", offset)};
}

//===----------------------------------------------------------------------===//
// row_loss_gradient: input and result [N, C]; every other tensor has one number for each row
//===----------------------------------------------------------------------===//

static FactorRule rowLossRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef input = builder.operand("input"), result = builder.result();
  SmallVector<DimRef> rows{input[0], result[0]};
  for (StringRef name : {"gradient", "target", "max", "sum_exp", "weight"})
    if (TensorRef tensor = builder.operand(name))
      rows.push_back(tensor[0]);
  builder.tie(rows);
  builder.tie({input[1], result[1]});
  builder.count(input[1]);
  return builder.finish();
}

static LocalCall localizeRowLoss(const CallView &call, plan::MeshOp) { return withOffset(call, "input", 1); }

/// Per row: an ignore flag, the column, and gradient, factor and target share in the computation type; weights and
/// smoothed labels need further ones. A block of rows is computed in the result, or separately if the result has a half
/// type. Shares of smoothed labels by class need another block.
static OpCost rowLossCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  cost.flops = 14 * result.getNumElements();
  int64_t elementBytes = plan::elementBytes(result.getElementType()), bytes = std::max<int64_t>(elementBytes, 4);
  bool isSmoothed = call.getFloat("label_smoothing", 0) != 0;
  int64_t blocks = (elementBytes < 4) + (isSmoothed && call.getOperand("class_weight"));
  int64_t columns = result.getRank() > 1 ? result.getDimSize(1) : 1;
  int64_t rows = result.getNumElements() / std::max<int64_t>(columns, 1);
  int64_t ofRow = 11 + bytes * (3 + call.getOperand("weight").has_value() + 4 * isSmoothed);
  cost.workspaceBytes =
      rows * ofRow + blocks * bytes * std::min(result.getNumElements(), std::max(kernel_blocks::rowElements, columns));
  return cost;
}

//===----------------------------------------------------------------------===//
// embedding_gradient: gradient [.., E], indices [..], weight and result [V, E]
//===----------------------------------------------------------------------===//

/// The table is read only for its shape and sharding. Frequencies are counted over all indices.
static FactorRule embeddingWeightRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("gradient"), indices = builder.operand("indices");
  TensorRef weight = builder.operand("weight"), result = builder.result();
  auto ofWeight = [&](int64_t dim) { return weight ? weight[dim] : DimRef(); };
  // A frequency that is counted over a rank's own indices would divide by too small a number.
  for (int64_t dim = 0; dim < indices.getRank() && !call.getBool("scale_grad_by_freq", false); ++dim)
    builder.tie({gradient[dim], indices[dim]}, FactorKind::sum);
  builder.tie({ofWeight(0), result[0]});
  // A rank that has a part of the table must translate indices into its rows, which it does by the offset of its part.
  builder.count(result[0]);
  builder.tie({gradient[-1], ofWeight(1), result[1]});
  return builder.finish();
}

/// The call with the rows of the table that the rank holds.
static LocalCall localizeEmbeddingWeight(const CallView &call, plan::MeshOp) {
  if (call.getOperand("weight"))
    return withOffset(call, "weight", 0);
  if (!isDivided(call.results.front(), 0))
    return unchanged(call);
  MLIRContext *context = call.args.getContext();
  DictionaryAttr args =
      withArg(call.args, "rows", plan::LocalIntAttr::get(context, 0, /*ofResult=*/true, 0, /*dim=*/0, 0, 1));
  Attribute offset = plan::LocalIntAttr::get(context, call.getInt("offset", 0), /*ofResult=*/true, 0, /*dim=*/0, 1, 0);
  return {call.target.str(), withArg(args, "offset", offset)};
}

static std::optional<CallRewrite> withoutTable(const CallView &call) {
  if (!call.getOperand("weight"))
    return std::nullopt;
  CallRewrite rewrite = withoutOperand(call, call.target, "weight");
  Attribute rows = intLiteral(call.args.getContext(), call.results.front().getDimSize(0));
  rewrite.args = withArg(rewrite.args, "rows", rows);
  return rewrite;
}

/// The indices are sorted.
static OpCost embeddingCost(const CallView &call) {
  OpCost cost;
  cost.flops = call.operands.front().getNumElements();
  cost.bytes = tensorBytes(call.operands.front()) + 2 * tensorBytes(call.results.front());
  if (std::optional<unsigned> indices = call.getOperand("indices"))
    cost.workspaceBytes = 24 * call.operands[*indices].getNumElements();
  return cost;
}

//===----------------------------------------------------------------------===//
// Norms of rows: gradient and input [rows.., normalized..]
//===----------------------------------------------------------------------===//

static FactorRule normRule(const CallView &call, bool ofInput) {
  RuleBuilder builder(call);
  TensorRef input = builder.operand("input"), gradient = builder.operand("gradient");
  std::optional<SmallVector<int64_t>> normalized = call.getInts("normalized_shape");
  int64_t rows = normalized ? input.getRank() - static_cast<int64_t>(normalized->size()) : 0;
  for (int64_t dim = 0; dim < rows; ++dim)
    builder.tie({input[dim], gradient[dim], ofInput ? builder.result()[dim] : DimRef()},
                ofInput ? FactorKind::parallel : FactorKind::sum);
  return builder.finish();
}

static FactorRule normInputRule(const CallView &call) { return normRule(call, /*ofInput=*/true); }
static FactorRule normWeightRule(const CallView &call) { return normRule(call, /*ofInput=*/false); }

/// The statistics of each row are recomputed. Rows are computed in blocks, `blocks` of them at a time, with a few
/// numbers for each row and column, in the computation type.
static OpCost normCost(const CallView &call, int64_t blocks) {
  OpCost cost = copyCost(call);
  RankedTensorType input = call.operands.front();
  cost.flops = 12 * input.getNumElements();
  // A call that has not been verified may have any sizes.
  int64_t columns = 1, most = std::max<int64_t>(input.getNumElements(), 1);
  for (int64_t size : call.getInts("normalized_shape").value_or(SmallVector<int64_t>()))
    columns = size > 0 && size <= most / columns ? columns * size : most;
  int64_t rows = std::min(input.getNumElements() / columns, std::max<int64_t>(kernel_blocks::rowElements / columns, 1));
  int64_t bytes = std::max<int64_t>(plan::elementBytes(input.getElementType()), 4);
  cost.workspaceBytes = contiguousBytes(call) + bytes * (rows * (blocks * columns + 2) + columns);
  return cost;
}

static OpCost normInputCost(const CallView &call) { return normCost(call, /*blocks=*/3); }
static OpCost normWeightCost(const CallView &call) {
  bool isHalf = plan::elementBytes(call.operands.front().getElementType()) < 4;
  return normCost(call, isHalf ? 3 : 2);
}

void addRowGradientRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.row_loss_gradient",
                .rule = rowLossRule,
                .linearity = inGradient,
                .cost = rowLossCost,
                .localize = localizeRowLoss});
  registry.add({.target = "meshplan.embedding_gradient",
                .rule = embeddingWeightRule,
                .linearity = inGradient,
                .cost = embeddingCost,
                .localize = localizeEmbeddingWeight,
                .dropShape = withoutTable});
  for (StringRef target : {"meshplan.layer_norm_input_gradient", "meshplan.rms_norm_input_gradient"})
    registry.add({.target = target, .rule = normInputRule, .linearity = inGradient, .cost = normInputCost});
  for (StringRef target : {"meshplan.layer_norm_weight_gradient", "meshplan.rms_norm_weight_gradient"})
    registry.add({.target = target, .rule = normWeightRule, .linearity = inGradient, .cost = normWeightCost});
}

} // namespace meshplan
