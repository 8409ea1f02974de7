//===- indexing.cpp - records of lookups by integers ----------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

//===----------------------------------------------------------------------===//
// embedding: weight [vocabulary, features], indices [..]
//===----------------------------------------------------------------------===//

/// If the vocabulary is divided, a rank finds only its own rows; other rows are zero, and the sum over ranks is
/// complete.
static FactorRule embeddingRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef weight = builder.operand("weight"), indices = builder.operand("indices"), result = builder.result();
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    builder.tie({indices[dim], result[dim]});
  // The sum has one addend that is not zero: only one rank has the row. So it is exact also in 16-bit types.
  builder.tie({weight[0]}, FactorKind::sum);
  builder.count(weight[0]);
  builder.tie({weight[1], result[-1]});
  return builder.finish();
}

static OpCost lookupCost(const CallView &call) {
  OpCost cost;
  cost.bytes = 2 * tensorBytes(call.results.front());
  return cost;
}

/// The indices are expanded to as many as the result has elements.
static OpCost takeAlongCost(const CallView &call) {
  OpCost cost = lookupCost(call);
  cost.workspaceBytes = 8 * call.results.front().getNumElements();
  return cost;
}

/// The kernel reads only row-major tensors.
static OpCost selectRowsCost(const CallView &call) {
  OpCost cost = lookupCost(call);
  cost.workspaceBytes = contiguousBytes(call, "self");
  return cost;
}

/// The kernel subtracts the offset from the indices and marks those out of range.
static OpCost localEmbeddingCost(const CallView &call) {
  OpCost cost = lookupCost(call);
  if (std::optional<unsigned> indices = call.getOperand("indices"))
    cost.workspaceBytes = 10 * call.operands[*indices].getNumElements();
  return cost;
}

static LocalCall localizeEmbedding(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> weight = call.getOperand("weight");
  if (!weight || !isDivided(call.operands[*weight], 0))
    return unchanged(call);
  MLIRContext *context = call.args.getContext();
  NamedAttrList args;
  args.set("weight", call.get("weight"));
  args.set("indices", call.get("indices"));
  args.set("offset", plan::LocalIntAttr::get(context, 0, /*ofResult=*/false, *weight, 0, 1, 0));
  args.set("rows", intLiteral(context, call.operands[*weight].getDimSize(0)));
  return {"meshplan.embedding", args.getDictionary(context)};
}

/// The form on a rank: its rows already are a part.
static FactorRule localEmbeddingRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef indices = builder.operand("indices"), result = builder.result();
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    builder.tie({indices[dim], result[dim]});
  builder.tie({builder.operand("weight")[1], result[-1]});
  return builder.finish();
}

//===----------------------------------------------------------------------===//
// embedding_bag: rows of the weight are summed for each bag, or the maximum of each feature is taken
//===----------------------------------------------------------------------===//

/// Bags are given by positions in the list of indices, so only features may be divided. For maxima, the last result has
/// the index that each feature comes from. The weight may not be partial: the sizes of bags would be summed, too.
static FactorRule bagRule(const CallView &call) {
  RuleBuilder builder(call);
  SmallVector<DimRef> features{builder.operand("weight")[1]};
  for (unsigned index = 0; index < call.results.size(); ++index)
    if (call.results[index].getRank() == 2)
      features.push_back(builder.result(index)[1]);
  builder.tie(features);
  return builder.finish();
}

//===----------------------------------------------------------------------===//
// gather, index_select, index, index_put
//===----------------------------------------------------------------------===//

static Linearity chosenOfSelf(const CallView &call) {
  Linearity linearity = inSelf(call);
  linearity.movesElements = true;
  return linearity;
}

/// result[i][j] = self[index[i][j]][j] for dim 0. Another dim can be divided if index covers all of self.
static FactorRule gatherRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), index = builder.operand("index"), result = builder.result();
  int64_t chosen = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    if (dim == chosen)
      builder.tie({index[dim], result[dim]});
    // If index is shorter, index row i of rank 1 is not in the same rank's part of self.
    else if (self[dim].size == index[dim].size)
      builder.tie({self[dim], index[dim], result[dim]});
  }
  return builder.finish();
}

/// Like gather, but the other dims broadcast. Without a dim the elements are one row.
static FactorRule takeAlongRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), indices = builder.operand("indices"), result = builder.result();
  if (!isa_and_present<IntegerAttr>(call.get("dim")))
    return builder.finish();
  int64_t chosen = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    builder.tie({dim == chosen ? DimRef() : self[dim], indices[dim], result[dim]});
  return builder.finish();
}

static FactorRule indexSelectRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result();
  int64_t chosen = normalizeDim(call.getInt("dim", 0), result.getRank());
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    builder.tie({dim == chosen ? builder.operand("index")[0] : self[dim], result[dim]});
  return builder.finish();
}

/// The position of the dims of the index tensors in the result of aten.index, and the dims of self that they replace.
namespace {
struct IndexedDims {
  SmallVector<unsigned> operands; ///< the index tensors
  SmallVector<bool> indexed;      ///< for each dim of self
  int64_t firstIndexDim = 0;      ///< first result dim of the index tensors
  int64_t rank = 0;               ///< rank of the index tensors, broadcast together
};
} // namespace

/// Nothing if the call has boolean indices, whose result has no static shape.
static std::optional<IndexedDims> indexedDims(const CallView &call, int64_t selfRank) {
  IndexedDims dims;
  dims.indexed.assign(selfRank, false);
  int64_t first = -1, last = -1;
  for (auto [dim, operand] : llvm::enumerate(call.getOperands("indices"))) {
    if (!operand)
      continue;
    if (static_cast<int64_t>(dim) >= selfRank || call.operands[*operand].getElementType().isInteger(1))
      return std::nullopt;
    dims.operands.push_back(*operand);
    dims.indexed[dim] = true;
    dims.rank = std::max<int64_t>(dims.rank, call.operands[*operand].getRank());
    first = first < 0 ? dim : first;
    last = dim;
  }
  // x[:, i, j] has the dims of i and j in the second dim; x[i, :, j] has them first, because it would be ambiguous
  // which of the two positions they replace. This is the rule of NumPy and ATen.
  bool together = last - first + 1 == static_cast<int64_t>(dims.operands.size());
  dims.firstIndexDim = together ? first : 0;
  return dims;
}

/// Ties the dims of the index tensors to those of the elements that they choose.
static void tieIndices(RuleBuilder &builder, const IndexedDims &dims, TensorRef chosen, FactorKind kind) {
  for (int64_t dim = 0; dim < dims.rank; ++dim) {
    SmallVector<DimRef> tied{chosen[dims.firstIndexDim + dim]};
    for (unsigned operand : dims.operands)
      tied.push_back(builder.operand(operand)[dim - dims.rank]);
    builder.tie(tied, kind);
  }
}

/// Ties the dims of `all` that are not indexed to those of the elements chosen from it.
static void tieOthers(RuleBuilder &builder, const IndexedDims &dims, TensorRef all, TensorRef chosen) {
  for (int64_t dim = 0, to = 0; dim < all.getRank(); ++dim) {
    if (dims.indexed[dim])
      continue;
    builder.tie({all[dim], chosen[to < dims.firstIndexDim ? to : to + dims.rank]});
    ++to;
  }
}

/// Adjacent index tensors are replaced in place by their dims; otherwise their dims come first. index_part may also
/// divide the dim `dim` of the tensor that it chooses from.
static FactorRule indexRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), result = builder.result(), positions = builder.operand("positions");
  std::optional<IndexedDims> dims = indexedDims(call, self.getRank());
  if (!dims || dims->operands.empty())
    return builder.finish();
  tieIndices(builder, *dims, result, FactorKind::parallel);
  tieOthers(builder, *dims, self, result);
  if (positions)
    builder.tie({self[call.getInt("dim", 0)], positions[0]}, FactorKind::sum);
  return builder.finish();
}

/// self with the elements at `indices` replaced by values. The chosen elements are whole: a part of the index tensors
/// would replace only a part of them.
static FactorRule indexPutRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), values = builder.operand("values"), result = builder.result();
  std::optional<IndexedDims> dims = indexedDims(call, self.getRank());
  if (!dims || dims->operands.empty())
    return builder.finish();
  int64_t chosen = llvm::count(dims->indexed, true), chosenRank = self.getRank() - chosen + dims->rank;
  for (int64_t dim = 0, to = 0; dim < self.getRank(); ++dim) {
    if (dims->indexed[dim])
      continue;
    int64_t resultDim = to < dims->firstIndexDim ? to : to + dims->rank;
    builder.tie({self[dim], values[resultDim - chosenRank], result[dim]});
    ++to;
  }
  return builder.finish();
}

static Linearity inSelfAndValues(const CallView &call) { return linearIn(call, {{"self", "values"}}); }

/// meshplan.index_sum: the elements of source are added at the positions that the index tensors give. A part of them
/// gives a part of the addends. index_sum_part may divide the dim `dim` like that of `like`, which is used for nothing
/// else.
static FactorRule indexSumRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef source = builder.operand("source"), result = builder.result();
  TensorRef positions = builder.operand("positions"), like = builder.operand("like");
  std::optional<IndexedDims> dims = indexedDims(call, result.getRank());
  int64_t written = call.getInt("dim", 0);
  if (!dims || dims->operands.empty())
    return builder.finish();
  tieIndices(builder, *dims, source, FactorKind::sum);
  tieOthers(builder, *dims, result, source);
  if (positions)
    builder.tie({positions[0], like ? like[written] : DimRef(), result[written]});
  return builder.finish();
}

/// For each index: its position among `positions`, the element found there, and whether it matches.
static OpCost indexPartCost(const CallView &call) {
  OpCost cost = lookupCost(call);
  int64_t indices = 0;
  for (std::optional<unsigned> operand : call.getOperands("indices"))
    if (operand)
      indices = std::max(indices, call.operands[*operand].getNumElements());
  cost.workspaceBytes = 19 * indices + tensorBytes(call.results.front());
  return cost;
}

/// Sums of 16-bit types are computed in f32.
static OpCost indexSumCost(const CallView &call) {
  OpCost cost = copyCost(call);
  RankedTensorType source = call.operands.front(), result = call.results.front();
  if (plan::elementBytes(result.getElementType()) < 4)
    cost.workspaceBytes = 4 * (source.getNumElements() + result.getNumElements());
  return cost;
}

static OpCost indexSumPartCost(const CallView &call) {
  OpCost cost = indexSumCost(call);
  cost.workspaceBytes += tensorBytes(call.operands.front()) + indexPartCost(call).workspaceBytes;
  return cost;
}

void addIndexingRecords(OpRegistry &registry) {
  registry.add({.target = "aten.embedding.default",
                .rule = embeddingRule,
                .linearity = inWeight,
                .cost = lookupCost,
                .localize = localizeEmbedding,
                .picksElements = true});
  registry.add(
      {.target = "meshplan.embedding", .rule = localEmbeddingRule, .linearity = inWeight, .cost = localEmbeddingCost});
  for (StringRef target : {"aten.embedding_bag.default", "aten.embedding_bag.padding_idx"})
    registry.add({.target = target, .rule = bagRule, .linearity = notLinear, .cost = lookupCost});
  registry.add({.target = "aten.gather.default", .rule = gatherRule, .linearity = chosenOfSelf, .cost = lookupCost});
  registry.add({.target = "aten.take_along_dim.default",
                .rule = takeAlongRule,
                .linearity = chosenOfSelf,
                .cost = takeAlongCost});
  registry.add({.target = "aten.index_select.default",
                .rule = indexSelectRule,
                .linearity = chosenOfSelf,
                .cost = selectRowsCost});
  registry.add({.target = "aten.index.Tensor", .rule = indexRule, .linearity = chosenOfSelf, .cost = lookupCost});
  registry.add(
      {.target = "aten.index_put.default", .rule = indexPutRule, .linearity = inSelfAndValues, .cost = copyCost});
  registry.add({.target = "meshplan.index_sum",
                .rule = indexSumRule,
                .linearity = inSource,
                .cost = indexSumCost,
                .localize = localizeSizes<argument::size>});
  registry.add({.target = "meshplan.index_part",
                .rule = indexRule,
                .linearity = inSelf,
                .cost = indexPartCost,
                .picksElements = true});
  registry.add({.target = "meshplan.index_sum_part",
                .rule = indexSumRule,
                .linearity = inSource,
                .cost = indexSumPartCost,
                .localize = localizeSizes<argument::size>,
                .dropShape = withoutLike});
}

} // namespace meshplan
