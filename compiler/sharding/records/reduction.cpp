//===- reduction.cpp - records of reductions, scans and sorting -----------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// The dims that a reduction of `self` removes: those of `dim` (an integer or a list), or all if it is absent or empty.
static SmallVector<bool> reducedDims(const CallView &call, int64_t rank) {
  SmallVector<int64_t> listed = call.getInts("dim").value_or(SmallVector<int64_t>());
  if (isa_and_present<IntegerAttr>(call.get("dim")))
    listed.push_back(call.getInt("dim", 0));
  SmallVector<bool> reduced(rank, listed.empty());
  for (int64_t dim : listed)
    if (int64_t index = normalizeDim(dim, rank); index >= 0 && index < rank)
      reduced[index] = true;
  return reduced;
}

static FactorRule reductionRule(const CallView &call, FactorKind kind) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  SmallVector<bool> reduced = reducedDims(call, self.getRank());
  bool keeps = call.getBool("keepdim", false);
  for (int64_t dim = 0, to = 0; dim < self.getRank(); ++dim) {
    if (reduced[dim]) {
      // Without a factor `finish` makes the dim whole.
      if (kind != FactorKind::whole)
        builder.tie({self[dim]}, kind);
      // A dim that is kept has size 1 in the result, which needs no factor.
      to += keeps;
      continue;
    }
    SmallVector<DimRef> dims{self[dim]};
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[to]);
    builder.tie(dims);
    ++to;
  }
  return builder.finish();
}

static FactorRule sumRule(const CallView &call) { return reductionRule(call, FactorKind::sum); }
static FactorRule maxRule(const CallView &call) { return reductionRule(call, FactorKind::max); }

/// Reductions for which partial results cannot be combined by a collective.
static FactorRule wholeRule(const CallView &call) { return reductionRule(call, FactorKind::whole); }

/// One flop for each element that is read.
static OpCost compareCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = call.operands.front().getNumElements();
  return cost;
}

/// Sums and scans to another dtype first convert their whole operand.
static OpCost sumCost(const CallView &call) {
  OpCost cost = compareCost(call);
  RankedTensorType self = call.operands.front(), result = call.results.front();
  if (self.getElementType() != result.getElementType())
    cost.workspaceBytes = self.getNumElements() * plan::elementBytes(result.getElementType());
  return cost;
}

/// Elements to prepend or append are concatenated first.
static OpCost differenceCost(const CallView &call) {
  OpCost cost = compareCost(call);
  for (RankedTensorType operand : call.operands)
    cost.workspaceBytes += call.operands.size() > 1 ? tensorBytes(operand) : 0;
  return cost;
}

/// Powers of all elements, which are converted on the fly.
static OpCost powerCost(const CallView &call) {
  OpCost cost = compareCost(call);
  double order = call.getFloat("ord", 2);
  cost.flops *= order == 1 || order == 2 ? 2 : 20;
  return cost;
}

/// Squared distances from a running mean.
static OpCost spreadCost(const CallView &call) {
  OpCost cost = compareCost(call);
  cost.flops *= 4;
  return cost;
}

/// Exponentials of all elements, and the maxima.
static OpCost logSumExpCost(const CallView &call) {
  OpCost cost = compareCost(call);
  cost.flops *= 12;
  cost.workspaceBytes = tensorBytes(call.operands.front()) + tensorBytes(call.results.front());
  return cost;
}

/// Along dims it is a sum of flags: the flags and their conversion.
static OpCost countCost(const CallView &call) {
  OpCost cost = compareCost(call);
  bool hasDims = call.get("dim") && !isa<UnitAttr>(call.get("dim"));
  cost.workspaceBytes = hasDims ? 9 * call.operands.front().getNumElements() : 0;
  return cost;
}

/// Means of half types are computed in float.
static OpCost meanCost(const CallView &call) {
  OpCost cost = sumCost(call);
  RankedTensorType self = call.operands.front();
  if (self.getElementTypeBitWidth() < 32)
    cost.workspaceBytes = self.getNumElements() * 4;
  return cost;
}

/// The mean of the elements that are not NaN. Flags of all elements, and their conversion, come first.
static OpCost nanMeanCost(const CallView &call) {
  OpCost cost = sumCost(call);
  cost.flops *= 3;
  cost.workspaceBytes = std::max(cost.workspaceBytes, 9 * call.operands.front().getNumElements());
  return cost;
}

/// The mean of a shard is not an addend of the mean. Its sum, divided by the number of all elements, is.
static LocalCall localizeMean(const CallView &call, plan::MeshOp) {
  RankedTensorType self = call.operands.front();
  SmallVector<bool> reduced = reducedDims(call, self.getRank());
  int64_t count = 1;
  bool divided = false;
  for (auto [dim, isReduced] : llvm::enumerate(reduced))
    if (isReduced) {
      count *= self.getDimSize(dim);
      divided |= isDivided(self, dim);
    }
  if (!divided)
    return unchanged(call);
  return {"meshplan.mean_addend", withArg(call.args, "count", intLiteral(call.args.getContext(), count))};
}

/// Counts of a part of the elements are addends if the range of the bins is given; otherwise it depends on all
/// elements.
static FactorRule histogramRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  for (int64_t dim = 0; dim < self.getRank() && call.getFloat("min", 0) < call.getFloat("max", 0); ++dim)
    builder.tie({self[dim]}, FactorKind::sum);
  return builder.finish();
}

/// Counts of a part of the elements are addends. If their number is not the one that the caller asks for, it follows
/// from all elements.
static FactorRule countsRule(const CallView &call) {
  RuleBuilder builder(call);
  if (!call.results.empty() && call.results.front().getNumElements() == call.getInt("minlength", 0))
    builder.tie({builder.operand("self")[0], builder.operand("weights")[0]}, FactorKind::sum);
  return builder.finish();
}

static Linearity inWeights(const CallView &call) { return linearIn(call, {{"weights"}}); }

/// Weights of other types than float are converted to double.
static OpCost countsCost(const CallView &call) {
  OpCost cost = compareCost(call);
  if (std::optional<unsigned> weights = call.getOperand("weights"))
    if (Type type = call.operands[*weights].getElementType(); !type.isF32() && !type.isF64())
      cost.workspaceBytes = 8 * call.operands[*weights].getNumElements();
  return cost;
}

/// A dozen comparisons for each element.
static OpCost sortCost(const CallView &call) {
  OpCost cost = copyCost(call);
  cost.flops = 12 * call.operands.front().getNumElements();
  return cost;
}

/// Sorts a copy of the values, which argsort discards; kthvalue also needs their positions. A median along contiguous
/// elements needs no copy.
static OpCost sortedCopyCost(const CallView &call) {
  OpCost cost = sortCost(call);
  cost.workspaceBytes = tensorBytes(call.operands.front());
  return cost;
}
static OpCost kthCost(const CallView &call) {
  OpCost cost = sortedCopyCost(call);
  cost.workspaceBytes += 8 * call.operands.front().getNumElements();
  return cost;
}
static OpCost medianCost(const CallView &call) {
  OpCost cost = sortedCopyCost(call);
  Strides strides = call.getStrides(0);
  int64_t dim = normalizeDim(call.getInt("dim", 0), strides.size());
  if (dim < 0 || dim >= static_cast<int64_t>(strides.size()) || strides[dim] == 1)
    cost.workspaceBytes = 0;
  return cost;
}

/// The kernels sum in f32 and round to `dtype`.
static std::optional<LocalCall> widenSum(const CallView &call) {
  Attribute type = TypeAttr::get(Float32Type::get(call.args.getContext()));
  return LocalCall{call.target.str(), withArg(call.args, "dtype", type)};
}

void addReductionRecords(OpRegistry &registry) {
  struct Reduction {
    StringRef target;
    FactorRule (*rule)(const CallView &);
    Linearity (*linearity)(const CallView &);
    OpCost (*cost)(const CallView &);
    LocalCall (*localize)(const CallView &, plan::MeshOp) = nullptr;
    std::optional<LocalCall> (*widen)(const CallView &) = nullptr;
  };
  static const Reduction reductions[] = {
      {"aten.sum.default", sumRule, inSelf, sumCost, nullptr, widenSum},
      {"aten.sum.dim_IntList", sumRule, inSelf, sumCost, nullptr, widenSum},
      {"aten.mean.default", sumRule, inSelf, meanCost, localizeMean, widenSum},
      {"aten.mean.dim", sumRule, inSelf, meanCost, localizeMean, widenSum},
      {"meshplan.mean_addend", sumRule, inSelf, meanCost},
      {"aten.linalg__powsum.default", sumRule, notLinear, powerCost},
      {"aten.amax.default", maxRule, notLinear, compareCost},
      {"aten.max.default", maxRule, notLinear, compareCost},
      {"aten.amin.default", wholeRule, notLinear, compareCost},
      {"aten.min.default", wholeRule, notLinear, compareCost},
      {"aten.max.dim", wholeRule, notLinear, compareCost},
      {"aten.min.dim", wholeRule, notLinear, compareCost},
      {"aten.argmax.default", wholeRule, notLinear, compareCost},
      {"aten.argmin.default", wholeRule, notLinear, compareCost},
      {"aten.aminmax.default", wholeRule, notLinear, compareCost},
      {"aten.median.default", wholeRule, notLinear, sortedCopyCost},
      {"aten.median.dim", wholeRule, notLinear, medianCost},
      {"aten.prod.default", wholeRule, notLinear, sumCost},
      {"aten.prod.dim_int", wholeRule, notLinear, sumCost},
      {"aten.std.correction", wholeRule, notLinear, spreadCost},
      {"aten.var.correction", wholeRule, notLinear, spreadCost},
      {"aten.std_mean.correction", wholeRule, notLinear, spreadCost},
      {"aten.var_mean.correction", wholeRule, notLinear, spreadCost},
      {"aten.logsumexp.default", wholeRule, notLinear, logSumExpCost},
      {"aten.nansum.default", sumRule, notLinear, sumCost, nullptr, widenSum},
      {"aten.nanmean.default", wholeRule, notLinear, nanMeanCost},
      {"aten.trace.default", wholeRule, inSelf, copyCost},
      {"aten.kthvalue.default", wholeRule, notLinear, kthCost},
      {"aten.mode.default", wholeRule, notLinear, sortCost},
      {"aten.linalg_norm.default", wholeRule, notLinear, compareCost},
      {"aten.linalg_vector_norm.default", wholeRule, notLinear, compareCost},
      {"aten.norm.Scalar", wholeRule, notLinear, compareCost},
      {"aten.norm.ScalarOpt_dim", wholeRule, notLinear, compareCost},
      {"aten.count_nonzero.default", sumRule, notLinear, countCost},
      {"aten.count_nonzero.dim_IntList", sumRule, notLinear, countCost},
      {"aten.any.default", wholeRule, notLinear, compareCost},
      {"aten.any.dims", wholeRule, notLinear, compareCost},
      {"aten.any.dim", wholeRule, notLinear, compareCost},
      {"aten.all.default", wholeRule, notLinear, compareCost},
      {"aten.all.dims", wholeRule, notLinear, compareCost},
      {"aten.all.dim", wholeRule, notLinear, compareCost},
      {"aten.cumsum.default", wholeDimRule<-1>, inSelf, sumCost},
      {"aten.cumprod.default", wholeDimRule<-1>, notLinear, sumCost},
      {"aten.cummax.default", wholeDimRule<-1>, notLinear, compareCost},
      {"aten.cummin.default", wholeDimRule<-1>, notLinear, compareCost},
      {"aten.logcumsumexp.default", wholeDimRule<-1>, notLinear, compareCost},
      {"aten.diff.default", wholeDimRule<-1>, notLinear, differenceCost},
      {"aten.sort.default", wholeDimRule<-1>, notLinear, sortCost},
      {"aten.sort.stable", wholeDimRule<-1>, notLinear, sortCost},
      {"aten.argsort.default", wholeDimRule<-1>, notLinear, sortedCopyCost},
      {"aten.argsort.stable", wholeDimRule<-1>, notLinear, sortedCopyCost},
      {"aten.topk.default", wholeDimRule<-1>, notLinear, sortCost},
      {"aten.histc.default", histogramRule, notLinear, compareCost},
      {"aten.bincount.default", countsRule, inWeights, countsCost},
  };
  for (const Reduction &reduction : reductions)
    registry.add({.target = reduction.target,
                  .rule = reduction.rule,
                  .linearity = reduction.linearity,
                  .cost = reduction.cost,
                  .localize = reduction.localize,
                  .widen = reduction.widen});
}

} // namespace meshplan
