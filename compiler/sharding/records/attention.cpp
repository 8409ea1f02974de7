//===- attention.cpp - record of meshplan.attention -----------------------===//
//
// query [B, H, S, D], key [B, G, T, D], value [B, G, T, E], mask broadcast to
// [B, H, S, T], key_mask [B, T]; results [B, H, S, E] and [B, H, S]. Query head
// g * R + r reads key head g.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Batch and heads may be divided, all else is whole. A key head is shared by the query heads of its group.
static FactorRule attentionRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef query = builder.operand("query"), key = builder.operand("key"), value = builder.operand("value");
  TensorRef mask = builder.operand("mask"), out = builder.result(0), logsumexp = builder.result(1);
  int64_t heads = query[1].size, groups = key[1].size;
  // Dropout of a part draws other numbers than dropout of the whole.
  if (call.getFloat("dropout", 0) != 0 || groups == 0 || heads % groups != 0)
    return builder.finish();
  builder.tie({query[0], key[0], value[0], mask[0], builder.operand("key_mask")[0], out[0], logsumexp[0]});
  if (heads == 1)
    return builder.finish();
  unsigned factor = builder.add(heads);
  for (const DimRef &dim : {query[1], out[1], logsumexp[1]})
    builder.append(dim, factor);
  if (mask[1].size == heads)
    builder.append(mask[1], factor);
  if (groups > 1)
    for (const DimRef &dim : {key[1], value[1]})
      builder.share(dim, factor, heads / groups);
  return builder.finish();
}

/// Where neighbours share key heads, the rank's heads are not groups of one size: the kernel is told which of its keys
/// each head reads.
static LocalCall localizeAttention(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> query = call.getOperand("query"), key = call.getOperand("key");
  plan::ShardingAttr sharding = key ? plan::getSharding(call.operands[*key]) : plan::ShardingAttr();
  if (!query || !sharding || sharding.getDims()[1].getRepeat() == 1)
    return unchanged(call);
  MLIRContext *context = call.args.getContext();
  auto offset = [&](unsigned operand) {
    return plan::LocalIntAttr::get(context, 0, /*ofResult=*/false, operand, /*dim=*/1, 1, 0);
  };
  int64_t sharers = call.operands[*query].getDimSize(1) / call.operands[*key].getDimSize(1);
  DictionaryAttr args = withArg(call.args, "first_head", offset(*query));
  args = withArg(args, "first_key_head", offset(*key));
  return {call.target.str(), withArg(args, "heads_per_key", intLiteral(context, sharers))};
}

namespace {
/// Sizes of a call, as the head of the file names them.
struct AttentionSizes {
  int64_t batch, heads, rows, keys, size, valueSize;
  int64_t elementBytes;
};
} // namespace

static std::optional<AttentionSizes> sizesOf(const CallView &call) {
  std::optional<unsigned> query = call.getOperand("query"), key = call.getOperand("key"),
                          value = call.getOperand("value");
  if (!query || !key || !value)
    return std::nullopt;
  RankedTensorType queryType = call.operands[*query];
  ArrayRef<int64_t> q = queryType.getShape(), k = call.operands[*key].getShape(), v = call.operands[*value].getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return std::nullopt;
  return AttentionSizes{q[0], q[1], q[2], k[2], q[3], v[3], plan::elementBytes(queryType.getElementType())};
}

/// Rows of queries that the runtime's kernel gives one additive mask.
static constexpr int64_t maskedRows = 512;

/// The flash kernel of ATen on CPU, one thread for each rank: a tile of scores with its maxima, sums and products in
/// float, and the scores once more for half types. Heads that share a key head do not copy it.
static int64_t flashTileBytes(const AttentionSizes &sizes, int64_t rows) {
  int64_t tile = rows >= 768 ? 256 : rows >= 192 ? 64 : 32;
  int64_t tileRows = std::min(tile, rows), tileKeys = std::min<int64_t>(512, sizes.keys);
  int64_t scores = tileRows * tileKeys;
  return 4 * (scores + tileRows * (2 + sizes.valueSize)) + (sizes.elementBytes < 4 ? 2 * scores : 0);
}

namespace {
/// Bytes of the additive mask of a block of rows.
struct MaskBytes {
  int64_t most = 0;  ///< while it is made
  int64_t final = 0; ///< while it is used
};
} // namespace

static MaskBytes maskBytes(const CallView &call, const AttentionSizes &sizes, int64_t rows) {
  int64_t places = rows * sizes.keys, mask = places * sizes.elementBytes, most = mask;
  if (call.getBool("causal", false) || call.getInt("window", 0) != 0)
    most += places * (8 + 1); // distances and where they are too large
  bool ofKeys = call.getOperand("key_mask").has_value();
  if (ofKeys) {
    most = std::max(most, mask + mask * sizes.batch);
    mask *= sizes.batch;
  }
  if (std::optional<unsigned> given = call.getOperand("mask")) {
    ArrayRef<int64_t> shape = call.operands[*given].getShape();
    int64_t copies = shape.size() == 4 ? std::max(ofKeys ? sizes.batch : 1, shape[0]) * shape[1] : 1;
    int64_t made = copies * places * sizes.elementBytes;
    most = std::max(most, mask + made);
    mask = made;
  }
  return {most, mask};
}

static int64_t attentionWorkspace(const CallView &call, const AttentionSizes &sizes) {
  bool flash = sizes.size == sizes.valueSize && call.getFloat("softcap", 0) == 0;
  bool masked = call.getOperand("mask") || call.getOperand("key_mask") || call.getInt("window", 0) != 0;
  if (flash && !masked)
    return flashTileBytes(sizes, sizes.rows);
  int64_t rows = std::min(maskedRows, sizes.rows), scores = sizes.batch * sizes.heads * rows;
  MaskBytes mask = maskBytes(call, sizes, rows);
  // The definition: scores and shared keys and values in float. Flash: results of a block, copied to their place.
  int64_t shared = sizes.batch * sizes.heads * sizes.keys * (sizes.size + sizes.valueSize);
  int64_t block = sizes.rows > rows ? scores * (sizes.valueSize * sizes.elementBytes + 4) : 0;
  int64_t computed = flash ? flashTileBytes(sizes, rows) : 4 * (2 * scores * sizes.keys + shared);
  return std::max(mask.most, mask.final + block + computed);
}

static OpCost attentionCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<AttentionSizes> sizes = sizesOf(call);
  if (!sizes)
    return cost;
  cost.flops = 2 * sizes->batch * sizes->heads * sizes->rows * sizes->keys * (sizes->size + sizes->valueSize);
  if (call.getBool("causal", false))
    cost.flops /= 2;
  cost.workspaceBytes = attentionWorkspace(call, *sizes);
  // Shared key heads are copied to each head that reads them.
  if (call.get("heads_per_key"))
    cost.workspaceBytes +=
        sizes->batch * sizes->heads * sizes->keys * (sizes->size + sizes->valueSize) * sizes->elementBytes;
  return cost;
}

void addAttentionRecords(OpRegistry &registry) {
  registry.add({.target = "meshplan.attention",
                .rule = attentionRule,
                .linearity = notLinear,
                .cost = attentionCost,
                .localize = localizeAttention});
}

} // namespace meshplan
