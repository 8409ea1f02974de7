//===- attention.cpp - record of meshplan.attention -----------------------===//
//
// query [B, H, S, D], key [B, G, T, D], value [B, G, T, E], mask broadcast to
// [B, H, S, T], key_mask [B, T]; results [B, H, S, E] and [B, H, S]. Query head
// g * R + r reads key head g.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Heads are (group, head of the group); batch and heads may be divided, all else is whole.
static FactorRule attentionRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef query = builder.operand("query"), key = builder.operand("key"), value = builder.operand("value");
  TensorRef mask = builder.operand("mask"), out = builder.result(0), logsumexp = builder.result(1);
  int64_t heads = query[1].size, groups = key[1].size;
  // Dropout of a part draws other numbers than dropout of the whole.
  if (call.getFloat("dropout", 0) != 0 || groups == 0 || heads % groups != 0)
    return builder.finish();
  builder.tie({query[0], key[0], value[0], mask[0], builder.operand("key_mask")[0], out[0], logsumexp[0]});
  SmallVector<DimRef> headDims{query[1], out[1], logsumexp[1]};
  if (mask[1].size == heads)
    headDims.push_back(mask[1]);
  auto append = [&](int64_t size, ArrayRef<DimRef> dims) {
    unsigned factor = builder.add(size);
    for (const DimRef &dim : dims)
      builder.append(dim, factor);
  };
  if (groups > 1) {
    SmallVector<DimRef> groupDims(headDims);
    groupDims.append({key[1], value[1]});
    append(groups, groupDims);
  }
  if (heads > groups)
    append(heads / groups, headDims);
  return builder.finish();
}

/// Rows of queries and of keys of a tile of the flash kernel of ATen on CPU.
static int64_t queryTile(int64_t rows) { return rows >= 768 ? 256 : rows >= 192 ? 64 : 32; }
static constexpr int64_t keyTile = 512;

/// The flash kernel on CPU, one thread for each rank: a tile of scores with its maxima, sums and products in float.
/// Keys and values of fewer heads than the queries are expanded first; a mask is made where arguments ask for one.
static OpCost attentionCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> query = call.getOperand("query"), key = call.getOperand("key"),
                          value = call.getOperand("value");
  if (!query || !key || !value || call.operands[*query].getRank() != 4 || call.operands[*key].getRank() != 4)
    return cost;
  ArrayRef<int64_t> queryShape = call.operands[*query].getShape(), keyShape = call.operands[*key].getShape();
  int64_t batch = queryShape[0], heads = queryShape[1], rows = queryShape[2], keys = keyShape[2];
  int64_t size = queryShape[3], valueSize = call.operands[*value].getShape().back();
  cost.flops = 2 * batch * heads * rows * keys * (size + valueSize);
  if (call.getBool("causal", false))
    cost.flops /= 2;

  int64_t tileRows = std::min(queryTile(rows), rows), tileKeys = std::min(keyTile, keys);
  cost.workspaceBytes = 4 * tileRows * (tileKeys + 2 + valueSize);
  if (int64_t groups = keyShape[1]; groups > 0 && groups < heads)
    cost.workspaceBytes += (tensorBytes(call.operands[*key]) + tensorBytes(call.operands[*value])) / groups * heads;
  if (call.getOperand("key_mask") || call.getInt("window", 0) != 0)
    cost.workspaceBytes += (call.getOperand("key_mask") ? batch : 1) * rows * keys *
                           plan::elementBytes(call.operands[*query].getElementType());
  return cost;
}

void addAttentionRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.attention", .rule = attentionRule, .linearity = notLinear, .cost = attentionCost});
}

} // namespace meshplan
