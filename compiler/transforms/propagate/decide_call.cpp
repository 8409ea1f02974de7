//===- decide_call.cpp - decides the factors that a call divides ----------===//

#include "compiler/transforms/propagate/decide_call.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan;
using namespace meshplan::plan;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// True if each shard of `coarse` is a union of shards of `fine`.
bool isCoarser(const FactorDivision &coarse, const FactorDivision &fine, const Factor &factor, MeshOp mesh) {
  if (coarse.axes.empty())
    return true;
  // Gathering the minor axes of `fine` must give `coarse`, blocks and parts included: with other blocks the same axes
  // hold other elements.
  FactorDivision gathered = fine;
  if (coarse.axes.size() > fine.axes.size())
    return false;
  gathered.axes.truncate(coarse.axes.size());
  return canonical(gathered, factor, mesh) == coarse;
}

/// The division in which each block belongs to one rank only.
FactorDivision withoutSharing(FactorDivision division) {
  division.repeat = 1;
  for (DimPart &part : division.parts)
    part.repeat = 1;
  return division;
}

class CallDecider {
public:
  explicit CallDecider(const CallProblem &problem) : problem(problem), excluded(problem.rule.factors.size(), false) {}

  CallDecision run();

private:
  void collect();

  /// Takes the axes that an operand has on a factor, unless they contradict the decision so far.
  void offer(unsigned index, const FactorDivision &offered, unsigned operand);

  /// True if the axis divides another factor, except factors that are divided together with this one.
  bool isUsed(AxisRefAttr axis, unsigned factor) const;
  void deriveTypes(llvm::SmallVectorImpl<unsigned> &inexpressible);

  const CallProblem &problem;
  SmallVector<bool> excluded;
  AxisList partial;
  CallDecision decision;
};

} // namespace

CallDecision CallDecider::run() {
  // A factor that some tensor cannot express is excluded, and the call is decided again. Each round excludes at least
  // one more factor, so the loop ends.
  while (true) {
    collect();
    SmallVector<unsigned> inexpressible;
    deriveTypes(inexpressible);
    if (inexpressible.empty())
      return std::move(decision);
    for (unsigned factor : inexpressible)
      for (unsigned sibling : problem.rule.siblings(factor))
        excluded[sibling] = true;
  }
}

void CallDecider::collect() {
  decision = CallDecision();
  decision.factors = problem.given;
  decision.factors.resize(problem.rule.factors.size());
  decision.source.assign(problem.rule.factors.size(), -1);
  // Axes of partial operands are taken: dividing a factor over one of them as well would use the axis twice in the
  // results.
  for (ShardingAttr sharding : problem.operands)
    for (AxisRefAttr axis : sharding.getPartialAxes())
      if (!overlapsAny(partial, axis))
        partial.push_back(axis);
  SmallVector<bool> closed(problem.rule.factors.size(), false);
  for (unsigned operand : problem.order) {
    Projection projection =
        projectToFactors(problem.operands[operand], problem.rule.operands[operand], problem.rule, problem.mesh);
    // The first in order of precedence: the caller reports the operand that matters most.
    if (projection.misfit && !decision.misfit)
      decision.misfit = {operand, *projection.misfit};
    if (projection.cut && !decision.cut)
      decision.cut = {operand, *projection.cut};
    for (auto [factor, division] : llvm::enumerate(projection.factors))
      if (!closed[factor])
        offer(factor, division, operand);
    for (auto [fixed, dims] : problem.fixed)
      if (fixed == operand)
        for (ArrayRef<unsigned> dim : ArrayRef(problem.rule.operands[operand].dims).take_front(dims))
          for (unsigned factor : dim)
            closed[factor] = true;
  }
}

void CallDecider::offer(unsigned index, const FactorDivision &offered, unsigned operand) {
  const Factor &factor = problem.rule.factors[index];
  if (offered.axes.empty() || excluded[index] || factor.kind == FactorKind::whole)
    return;
  FactorDivision &own = decision.factors[index];
  // An offer may extend the division by further minor axes, but not replace it: earlier operands take precedence.
  if (!isCoarser(own, offered, factor, problem.mesh))
    return;
  // A contracted block that several ranks hold would be summed several times. So each rank sums only its own blocks.
  FactorDivision taken = factor.kind == FactorKind::parallel ? offered : withoutSharing(offered);
  taken.axes = own.axes;
  for (AxisRefAttr axis : llvm::drop_begin(offered.axes, own.axes.size())) {
    // The axes below a refused axis are refused as well. Without it they would divide larger ranges, and this operand
    // would have to move for them anyway.
    if (isUsed(axis, index))
      break;
    taken.axes.push_back(axis);
  }
  if (taken.axes.size() == own.axes.size())
    return;
  if (decision.source[index] < 0)
    decision.source[index] = operand;
  own = canonical(taken, factor, problem.mesh);
}

bool CallDecider::isUsed(AxisRefAttr axis, unsigned factor) const {
  if (overlapsAny(partial, axis))
    return true;
  // Joined factors share their axes: a rank has a range of each of the tensors that a concatenation joins.
  SmallVector<unsigned> siblings = problem.rule.siblings(factor);
  for (auto [index, division] : llvm::enumerate(decision.factors))
    if (overlapsAny(division.axes, axis) && (index == factor || !llvm::is_contained(siblings, index)))
      return true;
  return false;
}

void CallDecider::deriveTypes(llvm::SmallVectorImpl<unsigned> &inexpressible) {
  for (auto [index, tensor] : llvm::enumerate(problem.rule.operands)) {
    ShardingAttr arriving = problem.operands[index];
    ShardingAttr sharding =
        projectToDims(decision.factors, tensor, problem.rule, problem.mesh, &inexpressible, arriving);
    decision.operands.push_back(ShardingAttr::get(sharding.getContext(), sharding.getDims(), arriving.getReduction(),
                                                  arriving.getPartialAxes()));
  }
  AxisList partialAxes = partial;
  Reduction reduction = partial.empty() ? Reduction::none : Reduction::sum;
  for (ShardingAttr sharding : problem.operands)
    if (sharding.isPartial())
      reduction = sharding.getReduction();
  for (auto [factor, division] : llvm::zip(problem.rule.factors, decision.factors))
    if (!division.axes.empty() && (factor.kind == FactorKind::sum || factor.kind == FactorKind::max)) {
      partialAxes.append(division.axes.begin(), division.axes.end());
      reduction = factor.kind == FactorKind::sum ? Reduction::sum : Reduction::max;
    }
  // A sum has no order. Sorted, equal shardings are equal attributes.
  sortByMesh(partialAxes, problem.mesh);
  for (const TensorFactors &tensor : problem.rule.results) {
    ShardingAttr sharding = projectToDims(decision.factors, tensor, problem.rule, problem.mesh, &inexpressible);
    decision.results.push_back(ShardingAttr::get(sharding.getContext(), sharding.getDims(), reduction, partialAxes));
  }
}

CallDecision meshplan::decideCall(const CallProblem &problem) { return CallDecider(problem).run(); }
