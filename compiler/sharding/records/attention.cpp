//===- attention.cpp - record of meshplan.attention -----------------------===//
//
// query [B, H, S, D], key [B, G, T, D], value [B, G, T, E], mask broadcast to
// [B, H, S, T], key_mask [B, T]; results [B, H, S, E] and [B, H, S]. Query head
// g * R + r reads key head g.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/attention_args.h"
#include "compiler/sharding/record_support/attention_memory.h"
#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Batch and heads may be divided; all other dims are whole. The query heads of a group share a key head.
static FactorRule attentionRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef query = builder.operand("query"), key = builder.operand("key"), value = builder.operand("value");
  TensorRef mask = builder.operand("mask"), out = builder.result(0), logsumexp = builder.result(1);
  int64_t heads = query[1].size, groups = key[1].size;
  if (drawsFreely(call) || groups == 0 || heads % groups != 0)
    return builder.finish();
  builder.tie({query[0], key[0], value[0], mask[0], builder.operand("key_mask")[0], out[0], logsumexp[0]});
  if (dropsByNumber(call))
    builder.count(query[0]);
  if (heads == 1)
    return builder.finish();
  // One factor of all query heads and not (groups, heads of a group): 9 heads of 3 groups on tp=2 can then be divided
  // although 2 does not divide 3. Ranks whose heads share a key head both get it.
  unsigned factor = builder.add(heads);
  for (const DimRef &dim : {query[1], out[1], logsumexp[1]})
    builder.append(dim, factor);
  if (dropsByNumber(call))
    builder.count(query[1]);
  if (mask[1].size == heads)
    builder.append(mask[1], factor);
  // A single key head is whole on every rank, and has size 1, which needs no factor.
  if (groups > 1)
    for (const DimRef &dim : {key[1], value[1]})
      builder.share(dim, factor, heads / groups);
  return builder.finish();
}

static OpCost attentionCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<AttentionSizes> sizes = AttentionSizes::of(call);
  if (!sizes)
    return cost;
  cost.flops = 2 * sizes->batch * sizes->heads * sizes->rows * sizes->keys * (sizes->size + sizes->valueSize);
  if (call.getBool("causal", false))
    cost.flops /= 2;
  cost.equalParts = std::max<int64_t>(sizes->batch * sizes->heads, 1);
  cost.workspaceBytes = attentionWorkspace(call, *sizes);
  return cost;
}

/// ATen's flash kernel stores a row of all heads contiguously; blocks of rows and the reference definition are
/// row-major.
static Strides attentionStrides(const CallView &call, unsigned result) {
  ArrayRef<int64_t> shape = call.results[result].getShape();
  std::optional<AttentionSizes> sizes = AttentionSizes::of(call);
  Strides strides = contiguousStrides(shape);
  if (!sizes || !isOneFlashCall(call, *sizes) || shape.size() < 3)
    return strides;
  int64_t size = shape.size() == 4 ? shape[3] : 1;
  strides[1] = size;
  strides[2] = size * shape[1];
  return strides;
}

void addAttentionRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.attention",
                .rule = attentionRule,
                .linearity = notLinear,
                .cost = attentionCost,
                .strides = attentionStrides,
                .localize = localizeAttention});
}

} // namespace meshplan
