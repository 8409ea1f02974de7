//===- scatter.cpp - records of writes at chosen positions ----------------===//
//
// Elements along one dim, which is whole, are replaced or added to. Also
// one-hot encodings, and searches for the interval of an element.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

//===----------------------------------------------------------------------===//
// scatter, index_add and similar operators
//===----------------------------------------------------------------------===//

/// result[index[i][j]][j] = src[i][j] for dim 0, which is whole. Another dim can be divided if index covers all of it.
static FactorRule scatterRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), index = builder.operand("index"), src = builder.operand("src");
  TensorRef result = builder.result();
  int64_t written = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim != written && self[dim].size == index[dim].size && (!src || src[dim].size == index[dim].size))
      builder.tie({self[dim], index[dim], src[dim], result[dim]});
  return builder.finish();
}

/// result[:, index[i]] from source[:, i] for dim 1, which is whole.
static FactorRule indexAddRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), source = builder.operand("source"), result = builder.result();
  int64_t written = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim != written)
      builder.tie({self[dim], source[dim], result[dim]});
  return builder.finish();
}

/// meshplan.scatter_sum: result[index[i][j]][j] is the sum of all source[i][j] for dim 0; a part of the index gives
/// some of the addends. Another dim can be divided if index covers all of it. `like` is removed before layouts are
/// decided.
static FactorRule scatterSumRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef source = builder.operand("source"), index = builder.operand("index"), result = builder.result();
  TensorRef like = builder.operand("like");
  int64_t written = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim == written)
      builder.tie({source[dim], index[dim]}, FactorKind::sum);
    else if (result[dim].size == index[dim].size)
      builder.tie({source[dim], index[dim], like ? like[dim] : DimRef(), result[dim]});
  return builder.finish();
}

static Linearity inSelfAndSrc(const CallView &call) { return linearIn(call, {{"self", "src"}}); }
static Linearity inSelfAndSource(const CallView &call) { return linearIn(call, {{"self", "source"}}); }

/// Half types are written and summed in float.
static OpCost scatterCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType result = call.results.front();
  if (isa<FloatType>(result.getElementType()) && result.getElementTypeBitWidth() < 32)
    cost.workspaceBytes = 4 * result.getNumElements();
  return cost;
}

/// Half types are converted to float first.
static OpCost scatterSumCost(const CallView &call) {
  OpCost cost = scatterCost(call);
  if (cost.workspaceBytes > 0)
    cost.workspaceBytes += 4 * call.operands.front().getNumElements();
  return cost;
}

//===----------------------------------------------------------------------===//
// One-hot encodings and searches for intervals
//===----------------------------------------------------------------------===//

/// The classes are a new last dim, which every rank computes whole.
static FactorRule oneHotRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  for (int64_t dim = 0; dim < self.getRank() && call.getInt("num_classes", -1) >= 0; ++dim)
    builder.tie({self[dim], builder.result()[dim]});
  return builder.finish();
}

/// bucketize: each element of self among all boundaries.
static FactorRule bucketizeRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  for (int64_t dim = 0; dim < self.getRank(); ++dim)
    builder.tie({self[dim], builder.result()[dim]});
  return builder.finish();
}

/// searchsorted: each element of the last dim of self is searched in its row, or in a single row for all. The row is
/// whole.
static FactorRule searchRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), rows = builder.operand("sorted_sequence"), result = builder.result();
  bool hasRows = rows.getRank() > 1;
  for (int64_t dim = 0; dim < self.getRank(); ++dim)
    if (dim + 1 == self.getRank() || !hasRows)
      builder.tie({self[dim], result[dim]});
    else
      builder.tie({self[dim], rows[dim], builder.operand("sorter")[dim], result[dim]});
  return builder.finish();
}

static OpCost bucketizeCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = 8 * call.results.front().getNumElements();
  cost.workspaceBytes = contiguousBytes(call);
  return cost;
}

void addScatterRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.scatter.src", "aten.scatter_add.default"})
    registry.add({.target = target, .rule = scatterRule, .linearity = inSelfAndSrc, .cost = scatterCost});
  registry.add({.target = "meshplan.scatter_sum",
                .rule = scatterSumRule,
                .linearity = inSource,
                .cost = scatterSumCost,
                .localize = localizeSizes<argument::size>});
  for (StringRef target :
       {"aten.scatter.value", "aten.scatter_reduce.two", "aten.scatter.reduce", "aten.scatter.value_reduce"})
    registry.add({.target = target, .rule = scatterRule, .linearity = notLinear, .cost = scatterCost});
  for (StringRef target : {"aten.index_add.default", "aten.index_copy.default"})
    registry.add({.target = target, .rule = indexAddRule, .linearity = inSelfAndSource, .cost = copyCost});
  for (StringRef target : {"aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor"})
    registry.add({.target = target, .rule = indexAddRule, .linearity = notLinear, .cost = copyCost});
  registry.add({.target = "aten.one_hot.default", .rule = oneHotRule, .linearity = notLinear, .cost = copyCost});
  registry.add(
      {.target = "aten.bucketize.Tensor", .rule = bucketizeRule, .linearity = notLinear, .cost = bucketizeCost});
  registry.add(
      {.target = "aten.searchsorted.Tensor", .rule = searchRule, .linearity = notLinear, .cost = bucketizeCost});
}

} // namespace meshplan
