//===- enumerate_shardings.cpp - every way to divide a call ---------------===//

#include "compiler/sharding/enumerate_shardings.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using meshplan::plan::AxisRefAttr;
using meshplan::plan::DimShardingAttr;
using meshplan::plan::MeshAxisAttr;
using meshplan::plan::Reduction;
using meshplan::plan::ShardingAttr;

namespace meshplan {

namespace {
/// Assigns axes to factors, major to minor, and derives the shardings of all tensors.
class Assignment {
public:
  Assignment(const FactorRule &rule, Division division)
      : rule(rule), division(division), axes(rule.factors.size()), counts(rule.factors.size(), 1) {}

  /// Divides a factor, and the factors that some dim joins with it.
  void divide(unsigned factor, MeshAxisAttr axis) {
    // A rank holds a range of each tensor that a concatenation joins, so they are divided over the same axes.
    for (unsigned sibling : rule.siblings(factor)) {
      axes[sibling].push_back(AxisRefAttr::get(axis.getContext(), axis.getName()));
      counts[sibling] *= axis.getSize();
    }
  }

  /// The shardings, or nothing if a dim cannot express the assignment.
  std::optional<CallShardings> toShardings(MLIRContext *context) const;

private:
  bool isEven(unsigned factor) const { return units(factor) % counts[factor] == 0; }
  int64_t units(unsigned factor) const { return rule.factors[factor].size / rule.factors[factor].unit; }
  /// True if each shard has a single index of the factor.
  bool isComplete(unsigned factor) const { return counts[factor] == rule.factors[factor].size; }

  bool isAllowed(unsigned factor) const;
  std::optional<DimShardingAttr> dimSharding(MLIRContext *context, ArrayRef<unsigned> factors) const;
  DimShardingAttr joinedSharding(MLIRContext *context, ArrayRef<unsigned> factors) const;
  DimShardingAttr sharedSharding(MLIRContext *context, unsigned factor, int64_t sharers) const;
  bool addDims(MLIRContext *context, ArrayRef<TensorFactors> tensors, SmallVectorImpl<ShardingAttr> &shardings) const;

  const FactorRule &rule;
  Division division;
  SmallVector<SmallVector<AxisRefAttr, 2>> axes;
  SmallVector<int64_t> counts;
};
} // namespace

bool Assignment::isAllowed(unsigned factor) const {
  if (axes[factor].empty())
    return true;
  if (rule.factors[factor].kind == FactorKind::whole || counts[factor] > units(factor))
    return false;
  return isEven(factor) || division == Division::uneven;
}

/// The axes of the factors in order. The block of the dim is a single index of the most minor divided factor; it
/// matters only where shards differ in size.
std::optional<DimShardingAttr> Assignment::dimSharding(MLIRContext *context, ArrayRef<unsigned> factors) const {
  SmallVector<AxisRefAttr> dimAxes;
  bool complete = true, even = true;
  int64_t unit = 1;
  for (auto [index, factor] : llvm::enumerate(factors)) {
    unit *= rule.factors[factor].size;
    if (!axes[factor].empty()) {
      // Axes of a minor factor are contiguous shards of the dim only if each shard has one index of the factors above
      // it and all indices are divided alike.
      if (!complete || (index > 0 && !isEven(factor)))
        return std::nullopt;
      dimAxes.append(axes[factor].begin(), axes[factor].end());
      even = isEven(factor) && rule.factors[factor].unit == 1;
      unit = rule.factors[factor].unit;
    }
    // A factor that is not divided at all is complete only if it has one index.
    complete &= isComplete(factor);
  }
  return DimShardingAttr::get(context, dimAxes, /*open=*/false, dimAxes.empty() || even ? 1 : unit,
                              ArrayRef<DimPart>());
}

DimShardingAttr Assignment::joinedSharding(MLIRContext *context, ArrayRef<unsigned> factors) const {
  if (axes[factors.front()].empty())
    return DimShardingAttr::get(context, ArrayRef<AxisRefAttr>());
  // Without parts the range of a rank would run across the border of two joined tensors.
  SmallVector<DimPart> parts =
      llvm::map_to_vector(factors, [&](unsigned factor) { return DimPart(rule.factors[factor].size); });
  return DimShardingAttr::get(context, axes[factors.front()], /*open=*/false, 1, parts);
}

DimShardingAttr Assignment::sharedSharding(MLIRContext *context, unsigned factor, int64_t sharers) const {
  bool isEven = rule.factors[factor].size / sharers % counts[factor] == 0;
  // Where shards do not hold whole indices of the dim, an index counts once for each sharer, so that each shard holds
  // what its sharers need.
  return DimShardingAttr::get(context, axes[factor], /*open=*/false, 1, ArrayRef<DimPart>(),
                              axes[factor].empty() || isEven ? 1 : sharers);
}

bool Assignment::addDims(MLIRContext *context, ArrayRef<TensorFactors> tensors,
                         SmallVectorImpl<ShardingAttr> &shardings) const {
  for (const TensorFactors &tensor : tensors) {
    SmallVector<DimShardingAttr> dims;
    for (auto [index, factors] : llvm::enumerate(tensor.dims)) {
      std::optional<DimShardingAttr> dim = tensor.sharers(index) > 1
                                               ? sharedSharding(context, factors.front(), tensor.sharers(index))
                                           : tensor.isJoined(index) ? joinedSharding(context, factors)
                                                                    : dimSharding(context, factors);
      if (!dim)
        return false;
      dims.push_back(*dim);
    }
    shardings.push_back(ShardingAttr::get(context, dims));
  }
  return true;
}

static ShardingAttr withPartial(ShardingAttr sharding, Reduction reduction, ArrayRef<AxisRefAttr> axes) {
  SmallVector<AxisRefAttr> partial(sharding.getPartialAxes());
  partial.append(axes.begin(), axes.end());
  return ShardingAttr::get(sharding.getContext(), sharding.getDims(), reduction, partial, {});
}

std::optional<CallShardings> Assignment::toShardings(MLIRContext *context) const {
  Reduction reduction = Reduction::none;
  SmallVector<AxisRefAttr> partialAxes;
  for (unsigned factor = 0; factor < axes.size(); ++factor) {
    FactorKind kind = rule.factors[factor].kind;
    if (!isAllowed(factor))
      return std::nullopt;
    if (axes[factor].empty() || kind == FactorKind::parallel)
      continue;
    Reduction made = kind == FactorKind::sum ? Reduction::sum : Reduction::max;
    // A sharding has one reduction for all partial axes.
    if (reduction != Reduction::none && reduction != made)
      return std::nullopt;
    reduction = made;
    partialAxes.append(axes[factor].begin(), axes[factor].end());
  }
  CallShardings shardings;
  if (!addDims(context, rule.operands, shardings.operands) || !addDims(context, rule.results, shardings.results))
    return std::nullopt;
  if (reduction != Reduction::none)
    for (ShardingAttr &result : shardings.results)
      result = withPartial(result, reduction, partialAxes);
  return shardings;
}

std::vector<CallShardings> enumerateShardings(const FactorRule &rule, ArrayRef<MeshAxisAttr> axes, Division division) {
  MLIRContext *context = axes.front().getContext();
  std::vector<CallShardings> all;
  auto add = [&](const Assignment &assignment) {
    if (std::optional<CallShardings> shardings = assignment.toShardings(context))
      all.push_back(std::move(*shardings));
  };
  Assignment none(rule, division);
  add(none);
  // Joined factors are divided together; the first one stands for all of them.
  SmallVector<unsigned> leaders;
  for (unsigned factor = 0; factor < rule.factors.size(); ++factor)
    if (rule.siblings(factor).front() == factor)
      leaders.push_back(factor);
  for (unsigned first = 0; first < axes.size(); ++first)
    for (unsigned factor : leaders) {
      Assignment one = none;
      one.divide(factor, axes[first]);
      add(one);
      for (unsigned second = 0; second < axes.size(); ++second)
        for (unsigned other : leaders) {
          // The order of two axes matters only on the same factor.
          if (second == first || (second < first && other != factor))
            continue;
          Assignment two = one;
          two.divide(other, axes[second]);
          add(two);
        }
    }
  return all;
}

/// True if no tensor uses the axis.
static bool isFree(const CallShardings &shardings, AxisRefAttr axis) {
  auto isUsed = [&](ShardingAttr sharding) {
    auto overlaps = [&](AxisRefAttr other) { return axis.overlaps(other); };
    return llvm::any_of(sharding.getPartialAxes(), overlaps) ||
           llvm::any_of(sharding.getDims(), [&](DimShardingAttr dim) { return llvm::any_of(dim.getAxes(), overlaps); });
  };
  return llvm::none_of(shardings.operands, isUsed) && llvm::none_of(shardings.results, isUsed);
}

/// True if the results are partial by this reduction, or not partial at all.
static bool accepts(const CallShardings &shardings, Reduction reduction) {
  return llvm::all_of(shardings.results,
                      [&](ShardingAttr result) { return !result.isPartial() || result.getReduction() == reduction; });
}

/// `base` with the operands in `set`, and the results, partial over `axis`.
static CallShardings partialIn(CallShardings base, ArrayRef<unsigned> set, Reduction reduction, AxisRefAttr axis) {
  for (unsigned operand : set)
    base.operands[operand] = withPartial(base.operands[operand], reduction, axis);
  for (ShardingAttr &result : base.results)
    result = withPartial(result, reduction, axis);
  return base;
}

std::vector<CallShardings> legalShardings(const CallView &call, const OpRecord &record, ArrayRef<MeshAxisAttr> axes,
                                          Division division) {
  std::vector<CallShardings> all = enumerateShardings(factorRuleOf(call, &record), axes, division);
  // Every rank would add the bias. Propagation splits it off before it divides the contraction.
  if (record.splitAddend && record.splitAddend(call))
    std::erase_if(all, [](const CallShardings &shardings) {
      return llvm::any_of(shardings.results, [](ShardingAttr result) { return result.isPartial(); });
    });
  // Each of the ranks that share a block has only some of its addends. Propagation splits these sums off as well.
  if (record.splitSharedSums && record.splitSharedSums(call))
    std::erase_if(all, [](const CallShardings &shardings) {
      return llvm::any_of(shardings.results,
                          [](ShardingAttr result) { return llvm::any_of(result.getDims(), plan::isShared); });
    });
  Linearity linearity = record.linearity(call);
  SmallVector<Reduction, 2> reductions{Reduction::sum};
  if (linearity.movesElements)
    reductions.push_back(Reduction::max);
  // Each sharding also has variants with partial operands, over an axis that it does not use. The variants themselves
  // are not varied further.
  for (size_t index = 0, end = all.size(); index < end; ++index)
    for (MeshAxisAttr meshAxis : axes) {
      AxisRefAttr axis = AxisRefAttr::get(meshAxis.getContext(), meshAxis.getName());
      if (!isFree(all[index], axis))
        continue;
      for (ArrayRef<unsigned> set : linearity.sets)
        for (Reduction reduction : reductions)
          if (accepts(all[index], reduction))
            all.push_back(partialIn(all[index], set, reduction, axis));
    }
  return all;
}

} // namespace meshplan
