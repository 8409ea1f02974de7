//===- experts.cpp - records of layers of experts -------------------------===//
//
// Rules and linearity read global shapes, in which rows are [experts, tokens.., features] although a rank stores only
// the rows of pairs of a token and an expert that it chose: costs and strides read rows [R, features], a table [R] and
// counts [experts]. Any sharding of experts and tokens leaves each row on one rank.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/record_support/wide_products.h"
#include "compiler/sharding/records/records.h"
#include "runtime/schema/kernel_blocks.h"

using namespace mlir;

namespace meshplan {

/// Ties the dims of tokens: of `tokens` [tokens.., last], and of `routed`, which are [experts, tokens.., features] or
/// without the features. The first one has no features.
static void tieTokens(RuleBuilder &builder, TensorRef tokens, ArrayRef<TensorRef> routed,
                      FactorKind kind = FactorKind::parallel) {
  for (int64_t dim = 1; dim < routed.front().getRank(); ++dim) {
    SmallVector<DimRef> dims{tokens[dim - 1]};
    for (const TensorRef &tensor : routed)
      dims.push_back(tensor[dim]);
    builder.tie(dims, kind);
  }
}

//===----------------------------------------------------------------------===//
// route: indices [tokens.., slots]; table and counts [experts, tokens..]
//===----------------------------------------------------------------------===//

static FactorRule routeRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef table = builder.result(0), counts = builder.result(1);
  builder.tie({table[0], counts[0]});
  // A rank is told the number of its first expert.
  builder.count(table[0]);
  tieTokens(builder, builder.operand("indices"), {table, counts});
  return builder.finish();
}

/// The range of experts of the rank.
static LocalCall localizeRoute(const CallView &call, plan::MeshOp) {
  if (!isDivided(call.results.front(), 0))
    return unchanged(call);
  MLIRContext *context = call.args.getContext();
  auto ofExperts = [&](int64_t constant, int64_t offset, int64_t extent) {
    return plan::LocalIntAttr::get(context, constant, /*ofResult=*/true, 0, /*dim=*/0, offset, extent);
  };
  DictionaryAttr args = withArg(call.args, "first", ofExperts(call.getInt("first", 0), 1, 0));
  return {call.target.str(), withArg(args, "experts", ofExperts(0, 0, 1))};
}

/// The pairs are sorted by expert, in four lists of integers, of which the table may be one.
static OpCost routeCost(const CallView &call) {
  OpCost cost = copyCost(call);
  int64_t pairs = call.operands.front().getNumElements();
  cost.flops = 20 * pairs;
  cost.workspaceBytes = std::max(32 * pairs - tensorBytes(call.results.front()), 24 * pairs);
  return cost;
}

//===----------------------------------------------------------------------===//
// expert_tokens: counts and table [experts, tokens..], result [experts]
//===----------------------------------------------------------------------===//

/// A rank that has some of the tokens has an addend.
static FactorRule expertTokensRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef counts = builder.operand("counts"), table = builder.operand("table");
  builder.tie({counts[0], table[0], builder.result()[0]});
  tieTokens(builder, TensorRef(), {counts, table}, FactorKind::sum);
  return builder.finish();
}

//===----------------------------------------------------------------------===//
// drop_choices: indices [samples, positions.., slots], result like it
//===----------------------------------------------------------------------===//

/// Whether an expert takes a token follows from all tokens before it in the sample.
static FactorRule dropChoicesRule(const CallView &call) {
  RuleBuilder builder(call);
  builder.tie({builder.operand("indices")[0], builder.result()[0]});
  return builder.finish();
}

/// The pairs of each sample are sorted by expert: their order, their positions, and what is kept of them.
static OpCost dropChoicesCost(const CallView &call) {
  OpCost cost = copyCost(call);
  int64_t pairs = call.operands.front().getNumElements();
  cost.flops = 20 * pairs;
  cost.workspaceBytes = 48 * pairs;
  return cost;
}

//===----------------------------------------------------------------------===//
// dispatch: self [tokens.., H], result [experts, tokens.., H]. dispatch_gates: gates [tokens.., slots], result like the
// table
//===----------------------------------------------------------------------===//

/// Every rank of an axis of experts reads all tokens of its shard, of which it takes those of its experts. Both calls
/// only move elements, but addends are summed before them: a token has several rows, and rows do not move between
/// ranks.
static FactorRule dispatchRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), table = builder.operand("table"), result = builder.result();
  builder.tie({table[0], result[0]});
  tieTokens(builder, self, {table, result});
  builder.tie({self[-1], result[-1]});
  return builder.finish();
}

static FactorRule dispatchGatesRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef table = builder.operand("table"), result = builder.result();
  builder.tie({table[0], result[0]});
  tieTokens(builder, builder.operand("gates"), {table, result});
  return builder.finish();
}

/// The token of each row is a division of its pair.
static OpCost dispatchCost(const CallView &call) {
  OpCost cost;
  RankedTensorType result = call.results.front();
  cost.bytes = 2 * tensorBytes(result);
  if (std::optional<unsigned> table = call.getOperand("table")) {
    cost.bytes += tensorBytes(call.operands[*table]);
    cost.workspaceBytes = tensorBytes(call.operands[*table]);
  }
  return cost;
}

static OpCost dispatchGatesCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.workspaceBytes = contiguousBytes(call, "gates");
  return cost;
}

//===----------------------------------------------------------------------===//
// combine and collect_gates, the transposes of these two
//===----------------------------------------------------------------------===//

/// A rank that has some of the experts has an addend of each token. With `features`, rows and result have that dim.
static FactorRule combineRule(const CallView &call, bool features) {
  RuleBuilder builder(call);
  TensorRef rows = builder.operand("rows"), table = builder.operand("table"), result = builder.result();
  builder.tie({rows[0], table[0]}, FactorKind::sum);
  tieTokens(builder, result, {table, rows});
  if (features)
    builder.tie({rows[-1], result[-1]});
  return builder.finish();
}
static FactorRule combineRule(const CallView &call) { return combineRule(call, /*features=*/true); }
static FactorRule collectGatesRule(const CallView &call) { return combineRule(call, /*features=*/false); }

static Linearity inRows(const CallView &call) { return linearIn(call, {{"rows"}}); }

/// The kernel sums in f32 and rounds to `dtype`.
static std::optional<LocalCall> widenCombine(const CallView &call) {
  Attribute type = TypeAttr::get(Float32Type::get(call.args.getContext()));
  return LocalCall{call.target.str(), withArg(call.args, "dtype", type)};
}

/// The row of each pair; for a block of tokens the rows of one slot and their numbers. 16-bit rows are converted to
/// f32, in which they are summed.
static OpCost combineCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType rows = call.operands.front(), result = call.results.front();
  int64_t columns = std::max<int64_t>(lastDim(call, "rows"), 1), tokens = result.getNumElements() / columns;
  cost.flops = rows.getNumElements();
  int64_t block = std::min(result.getNumElements(), std::max(kernel_blocks::rowElements, columns));
  int64_t elementBytes = plan::elementBytes(rows.getElementType());
  constexpr int64_t sumBytes = 4;
  bool isSummedElsewhere = elementBytes < sumBytes && result.getElementType() == rows.getElementType();
  // An archive may contain any number of slots; there are not more than experts, whose number is not known here.
  constexpr int64_t mostSlots = 1 << 10;
  cost.workspaceBytes = 8 * tokens * std::clamp<int64_t>(call.getInt("slots", 1), 1, mostSlots) + block * elementBytes +
                        8 * block / columns;
  if (elementBytes < sumBytes)
    cost.workspaceBytes += block * sumBytes * (1 + isSummedElsewhere);
  return cost;
}

//===----------------------------------------------------------------------===//
// grouped_linear: rows [experts, tokens.., H], weight [experts, F, H] or [experts, H, F], counts [experts, tokens..]
//===----------------------------------------------------------------------===//

/// Ties the experts of all tensors of the call.
static void tieExperts(RuleBuilder &builder, const CallView &call) {
  SmallVector<DimRef> dims;
  for (unsigned index = 0; index < call.operands.size(); ++index)
    dims.push_back(builder.operand(index)[0]);
  dims.push_back(builder.result()[0]);
  builder.tie(dims);
}

static FactorRule linearOfExpertsRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef rows = builder.operand("rows"), weight = builder.operand("weight"), result = builder.result();
  bool transposed = call.getBool("transposed", false);
  tieExperts(builder, call);
  tieTokens(builder, TensorRef(), {builder.operand("counts"), rows, result});
  builder.tie({weight[transposed ? 2 : 1], result[-1]});
  builder.tie({rows[-1], weight[transposed ? 1 : 2]}, FactorKind::sum);
  return builder.finish();
}

static Linearity linearOfExpertsLinearity(const CallView &call) { return linearIn(call, {{"rows"}, {"weight"}}); }

/// Rows of a tensor [.., features].
static int64_t rowsOf(RankedTensorType type) {
  int64_t columns = type.getRank() > 0 ? type.getShape().back() : 1;
  return columns == 0 ? 0 : type.getNumElements() / columns;
}

/// Rows of one expert, if all experts have as many: how many they have is known only when the step runs.
static int64_t rowsOfExpert(const CallView &call, int64_t rows) {
  std::optional<unsigned> counts = call.getOperand("counts");
  bool isList = counts && call.operands[*counts].getRank() > 0;
  return llvm::divideCeil(rows, isList ? std::max<int64_t>(call.operands[*counts].getDimSize(0), 1) : 1);
}

/// Products are computed expert by expert.
static OpCost linearOfExpertsCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  int64_t rows = rowsOf(call.operands.front()), k = lastDim(call, "rows");
  int64_t n = result.getRank() > 0 ? result.getShape().back() : 1;
  cost.flops = 2 * rows * n * k;
  cost.product = ProductExtents{rows, n, k, 1};
  if (result.getElementType().isBF16())
    cost.workspaceBytes = bf16ProductBytes({rowsOfExpert(call, rows), k, n, /*isLeftTransposed=*/false});
  return cost;
}

/// Both operands of the product of an expert are converted.
static OpCost linearOfExpertsF32Cost(const CallView &call) {
  OpCost cost = linearOfExpertsCost(call);
  ProductExtents all = *cost.product;
  int64_t rows = rowsOfExpert(call, all.m);
  cost.workspaceBytes += wideProductBytes(rows * all.k, all.k * all.n, all.k);
  return cost;
}

static std::optional<LocalCall> widenToF32(const CallView &call) {
  return LocalCall{(call.target + "_f32").str(), call.args};
}

//===----------------------------------------------------------------------===//
// grouped_bias: rows [experts, tokens.., F], bias [experts, F]
//===----------------------------------------------------------------------===//

static FactorRule biasOfExpertsRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef rows = builder.operand("rows"), result = builder.result();
  tieExperts(builder, call);
  tieTokens(builder, TensorRef(), {builder.operand("counts"), rows, result});
  builder.tie({rows[-1], builder.operand("bias")[1], result[-1]});
  return builder.finish();
}

static Linearity biasOfExpertsLinearity(const CallView &call) { return linearIn(call, {{"rows", "bias"}}); }

static OpCost biasOfExpertsCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = call.results.front().getNumElements();
  return cost;
}

//===----------------------------------------------------------------------===//
// grouped_linear_weight_gradient: gradient [experts, tokens.., F], rows [experts, tokens.., H], result like the weight
//===----------------------------------------------------------------------===//

static FactorRule weightOfExpertsRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("gradient"), rows = builder.operand("rows"), result = builder.result();
  bool transposed = call.getBool("transposed", false);
  tieExperts(builder, call);
  // Ranks of an axis of tokens each have an addend, as for the weight of a linear layer.
  tieTokens(builder, TensorRef(), {builder.operand("counts"), gradient, rows}, FactorKind::sum);
  builder.tie({gradient[-1], result[transposed ? 2 : 1]});
  builder.tie({rows[-1], result[transposed ? 1 : 2]});
  return builder.finish();
}

static Linearity weightOfExpertsLinearity(const CallView &call) { return linearIn(call, {{"gradient"}, {"rows"}}); }

static OpCost weightOfExpertsCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  int64_t rows = rowsOf(call.operands.front()), f = lastDim(call, "gradient"), h = lastDim(call, "rows");
  cost.flops = 2 * rows * f * h;
  cost.product = ProductExtents{f, h, rows, 1};
  if (result.getElementType().isBF16()) {
    bool transposed = call.getBool("transposed", false);
    cost.workspaceBytes =
        bf16ProductBytes({transposed ? h : f, rowsOfExpert(call, rows), transposed ? f : h, /*isLeftTransposed=*/true});
  }
  return cost;
}

static OpCost weightOfExpertsF32Cost(const CallView &call) {
  OpCost cost = weightOfExpertsCost(call);
  ProductExtents all = *cost.product;
  int64_t rows = rowsOfExpert(call, all.k);
  bool transposed = call.getBool("transposed", false);
  cost.workspaceBytes +=
      wideProductBytes(rows * (transposed ? all.n : all.m), rows * (transposed ? all.m : all.n), rows);
  return cost;
}

//===----------------------------------------------------------------------===//
// grouped_bias_gradient: gradient [experts, tokens.., F], result [experts, F]
//===----------------------------------------------------------------------===//

static FactorRule biasGradientRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef gradient = builder.operand("gradient"), result = builder.result();
  tieExperts(builder, call);
  tieTokens(builder, TensorRef(), {builder.operand("counts"), gradient}, FactorKind::sum);
  builder.tie({gradient[-1], result[1]});
  return builder.finish();
}

/// The sum of one expert. 16-bit rows of the expert are converted to f32.
static OpCost biasGradientCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType gradient = call.operands.front();
  cost.flops = gradient.getNumElements();
  int64_t elementBytes = plan::elementBytes(gradient.getElementType()), bytes = std::max<int64_t>(elementBytes, 4);
  int64_t converted = elementBytes < bytes ? rowsOfExpert(call, rowsOf(gradient)) : 0;
  cost.workspaceBytes = bytes * (converted + 1) * lastDim(call, "gradient");
  return cost;
}

//===----------------------------------------------------------------------===//
// Calls around an exchange of rows. plan-lower-exchanges makes them, after layouts are decided and calls have the form
// of a rank: they have no rule.
//===----------------------------------------------------------------------===//

/// A permutation of rows, and its positions.
static OpCost orderCost(const CallView &call) {
  OpCost cost = copyCost(call);
  ArrayRef<int64_t> shape = call.results.front().getShape();
  cost.workspaceBytes = shape.empty() ? 0 : 8 * shape.front();
  return cost;
}

static void addExchangeRecords(OpRegistry &registry) {
  for (StringRef target : {"meshplan.counts_to_gather", "meshplan.counts_on_host", "meshplan.counts_of_experts"})
    registry.add({.target = target, .rule = undividedRule, .linearity = notLinear, .cost = copyCost});
  for (StringRef target : {"meshplan.order_by_expert", "meshplan.order_by_rank"})
    registry.add({.target = target, .rule = undividedRule, .linearity = notLinear, .cost = orderCost});
}

void addExpertRecords(OpRegistry &registry) {
  addExchangeRecords(registry);
  registry.add({.target = "meshplan.route",
                .rule = routeRule,
                .linearity = notLinear,
                .cost = routeCost,
                .localize = localizeRoute});
  registry.add(
      {.target = "meshplan.expert_tokens", .rule = expertTokensRule, .linearity = notLinear, .cost = copyCost});
  registry.add({.target = "meshplan.balanced_bias", .rule = undividedRule, .linearity = notLinear, .cost = copyCost});
  registry.add(
      {.target = "meshplan.drop_choices", .rule = dropChoicesRule, .linearity = notLinear, .cost = dropChoicesCost});
  registry.add({.target = "meshplan.dispatch", .rule = dispatchRule, .linearity = notLinear, .cost = dispatchCost});
  registry.add({.target = "meshplan.dispatch_gates",
                .rule = dispatchGatesRule,
                .linearity = notLinear,
                .cost = dispatchGatesCost});
  registry.add({.target = "meshplan.combine",
                .rule = combineRule,
                .linearity = inRows,
                .cost = combineCost,
                .localize = localizeSizes<argument::size>,
                .widen = widenCombine});
  registry.add({.target = "meshplan.collect_gates",
                .rule = collectGatesRule,
                .linearity = inRows,
                .cost = copyCost,
                .localize = localizeSizes<argument::size>,
                .picksElements = true});
  registry.add({.target = "meshplan.grouped_linear",
                .rule = linearOfExpertsRule,
                .linearity = linearOfExpertsLinearity,
                .cost = linearOfExpertsCost,
                .widen = widenToF32});
  registry.add({.target = "meshplan.grouped_linear_f32",
                .rule = linearOfExpertsRule,
                .linearity = linearOfExpertsLinearity,
                .cost = linearOfExpertsF32Cost});
  registry.add({.target = "meshplan.grouped_bias",
                .rule = biasOfExpertsRule,
                .linearity = biasOfExpertsLinearity,
                .cost = biasOfExpertsCost});
  registry.add({.target = "meshplan.grouped_linear_weight_gradient",
                .rule = weightOfExpertsRule,
                .linearity = weightOfExpertsLinearity,
                .cost = weightOfExpertsCost,
                .widen = widenToF32});
  registry.add({.target = "meshplan.grouped_linear_weight_gradient_f32",
                .rule = weightOfExpertsRule,
                .linearity = weightOfExpertsLinearity,
                .cost = weightOfExpertsF32Cost});
  registry.add({.target = "meshplan.grouped_bias_gradient",
                .rule = biasGradientRule,
                .linearity = inGradient,
                .cost = biasGradientCost});
}

} // namespace meshplan
