//===- attention.cpp - records of gradients of attention ------------------===//
//
// Tensors as in ../attention.cpp, and the gradient of `out`; `out` itself and
// `logsumexp` where the kernel reads them. With `per_head` the gradients of
// keys and values have a head for each query head, and
// meshplan.sum_shared_heads sums them afterwards: where ranks share key heads,
// each rank has only addends of their gradients.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/attention_args.h"
#include "compiler/sharding/record_support/attention_memory.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The operands that have a dim for each query head.
static constexpr StringRef queryTensors[] = {"query", "gradient", "out", "logsumexp"};

/// Gives these operands a factor for their heads.
static void appendHeads(RuleBuilder &builder, unsigned factor) {
  for (StringRef name : queryTensors)
    if (TensorRef tensor = builder.operand(name))
      builder.append(tensor[1], factor);
}

static SmallVector<DimRef> batchDims(RuleBuilder &builder) {
  SmallVector<DimRef> dims;
  for (StringRef name : {"query", "gradient", "key", "value", "mask", "key_mask", "out", "logsumexp"})
    if (TensorRef tensor = builder.operand(name))
      dims.push_back(tensor[0]);
  return dims;
}

static FactorRule backwardRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef query = builder.operand("query"), key = builder.operand("key"), mask = builder.operand("mask");
  int64_t heads = query[1].size, groups = key[1].size;
  if (drawsFreely(call) || groups == 0 || heads % groups != 0)
    return builder.finish();
  SmallVector<DimRef> batch = batchDims(builder);
  for (unsigned index = 0; index < 3; ++index)
    batch.push_back(builder.result(index)[0]);
  builder.tie(batch);
  if (dropsByNumber(call))
    builder.count(query[0]);
  // With a single key head every rank would have addends of its gradient, and no dim of the gradient shows this.
  bool isPerHead = call.getBool("per_head", false);
  if (heads == 1 || (groups == 1 && !isPerHead))
    return builder.finish();
  unsigned factor = builder.add(heads);
  appendHeads(builder, factor);
  builder.append(builder.result(0)[1], factor);
  if (dropsByNumber(call))
    builder.count(query[1]);
  if (mask[1].size == heads)
    builder.append(mask[1], factor);
  for (unsigned index : {1u, 2u}) {
    if (isPerHead)
      builder.append(builder.result(index)[1], factor);
    else
      // A dim of a single index for all query heads is shared, too, although no key is divided.
      builder.share(builder.result(index)[1], factor, heads / groups);
  }
  if (groups > 1)
    for (StringRef name : {"key", "value"})
      builder.share(builder.operand(name)[1], factor, heads / groups);
  return builder.finish();
}

/// A mask that is the same for all samples or heads is summed over them.
static FactorRule maskRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef query = builder.operand("query"), key = builder.operand("key"), mask = builder.operand("mask");
  int64_t heads = query[1].size, groups = key[1].size;
  if (drawsFreely(call) || groups == 0 || heads % groups != 0)
    return builder.finish();
  SmallVector<DimRef> batch = batchDims(builder);
  // A mask of one sample was broadcast, so its gradient is the sum over samples: a rank that has some of them has an
  // addend.
  bool hasBatch = mask[0].size != 1;
  if (hasBatch)
    batch.push_back(builder.result()[0]);
  builder.tie(batch, hasBatch ? FactorKind::parallel : FactorKind::sum);
  if (dropsByNumber(call))
    builder.count(query[0]);
  if (heads == 1)
    return builder.finish();
  bool hasHeads = mask[1].size == heads;
  unsigned factor = builder.add(heads, hasHeads ? FactorKind::parallel : FactorKind::sum);
  appendHeads(builder, factor);
  if (dropsByNumber(call))
    builder.count(query[1]);
  if (hasHeads) {
    builder.append(mask[1], factor);
    builder.append(builder.result()[1], factor);
  }
  if (groups > 1)
    for (StringRef name : {"key", "value"})
      builder.share(builder.operand(name)[1], factor, heads / groups);
  return builder.finish();
}

/// Five products of the size of the scores; the forward call has two.
static OpCost attentionGradientCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<AttentionSizes> sizes = AttentionSizes::of(call);
  if (!sizes)
    return cost;
  cost.flops = 2 * sizes->batch * sizes->heads * sizes->rows * sizes->keys * (3 * sizes->size + 2 * sizes->valueSize);
  if (call.getBool("causal", false))
    cost.flops /= 2;
  cost.equalParts = std::max<int64_t>(sizes->batch * sizes->heads, 1);
  cost.workspaceBytes = attentionGradientWorkspace(call, *sizes);
  return cost;
}

/// The kernel stores a row of all heads contiguously, except for sums of keys that ranks share.
static Strides backwardStrides(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  Strides strides = contiguousStrides(shape);
  bool areSums = result > 0 && call.get("heads_per_key") && !call.getBool("per_head", false);
  if (shape.size() == 4 && !areSums) {
    strides[1] = shape[3];
    strides[2] = shape[3] * shape[1];
    strides[0] = shape[3] * shape[1] * shape[2];
  }
  return strides;
}

static std::optional<SharedSums> splitHeads(const CallView &call) {
  std::optional<unsigned> query = call.getOperand("query"), key = call.getOperand("key");
  if (!query || !key || call.getBool("per_head", false))
    return std::nullopt;
  int64_t heads = call.operands[*query].getDimSize(1), groups = call.operands[*key].getDimSize(1);
  if (groups == 0 || heads == groups || heads % groups != 0)
    return std::nullopt;
  Attribute apart = BoolAttr::get(call.args.getContext(), true);
  return SharedSums{withArg(call.args, "per_head", apart), {1, 2}, 1, heads / groups, *query};
}

//===----------------------------------------------------------------------===//
// sum_shared_heads: input [B, heads, T, D], result [B, groups, T, D]
//===----------------------------------------------------------------------===//

static FactorRule sumHeadsRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef input = builder.operand("input"), result = builder.result();
  for (int64_t dim : {0, 2, 3})
    builder.tie({input[dim], result[dim]});
  builder.tie({input[1]}, FactorKind::sum);
  builder.count(input[1]);
  return builder.finish();
}

static LocalCall localizeSumHeads(const CallView &call, plan::MeshOp) {
  if (!isDivided(call.operands.front(), 1))
    return unchanged(call);
  Attribute offset = plan::LocalIntAttr::get(call.args.getContext(), 0, /*ofResult=*/false, 0, 1, 1, 0);
  return {call.target.str(), withArg(call.args, "first_head", offset)};
}

void addAttentionGradientRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.attention_backward",
                .rule = backwardRule,
                .linearity = notLinear,
                .cost = attentionGradientCost,
                .strides = backwardStrides,
                .localize = localizeAttention,
                .splitSharedSums = splitHeads});
  registry.add({.target = "meshplan.attention_mask_gradient",
                .rule = maskRule,
                .linearity = notLinear,
                .cost = attentionGradientCost,
                .localize = localizeAttention});
  registry.add({.target = "meshplan.sum_shared_heads",
                .rule = sumHeadsRule,
                .linearity = inInput,
                .cost = copyCost,
                .localize = localizeSumHeads});
}

} // namespace meshplan
