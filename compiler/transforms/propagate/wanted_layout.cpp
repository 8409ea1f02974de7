//===- wanted_layout.cpp - layouts that consumers want --------------------===//

#include "compiler/transforms/propagate/wanted_layout.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/projection.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Number of operators that one query may visit. A residual stream has an endless chain of consumers.
constexpr int searchLimit = 32;

int64_t dimWith(ShardingAttr sharding, AxisRefAttr axis) {
  for (auto [index, dim] : llvm::enumerate(sharding.getDims()))
    if (overlapsAny(dim.getAxes(), axis))
      return index;
  return -1;
}

/// A sharding of the tensor that only divides `dim` over `axis`.
ShardingAttr only(Value value, int64_t dim, AxisRefAttr axis) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return ShardingAttr::getReplicated(value.getContext(), rank).withDim(dim, axis);
}

class WantedDimSearch {
public:
  WantedDimSearch(AxisRefAttr axis, MeshOp mesh) : axis(axis), mesh(mesh) {}

  // For example, the sum after a row-parallel layer is added to a residual stream, and a norm follows that the plan
  // states as `sequence tp`. The addition tells nothing (the other operand is replicated), but its result has the
  // statement; transferred to the operand of the addition, it wants dim 1 of the sum over tp, and the all-reduce
  // becomes a reduce-scatter.
  WantedDim search(Value value) {
    // Immediate answers for all uses come before the search through results, which is the expensive part.
    WantedDim wanted = statedDim(value);
    if (wanted.dim >= 0)
      return wanted;
    for (OpOperand &use : value.getUses())
      if ((wanted = dimOfOtherOperands(use)).dim >= 0)
        return wanted;
    for (OpOperand &use : value.getUses())
      if ((wanted = dimOfResults(use)).dim >= 0)
        return wanted;
    return {};
  }

private:
  WantedDim statedDim(Value value) const {
    for (Operation *user : value.getUsers())
      if (auto constrain = dyn_cast<ConstrainOp>(user)) {
        int64_t dim = dimWith(constrain.getLayout(), axis);
        if (dim >= 0)
          return {dim, constrain, {}};
      }
    return {};
  }

  /// The rule of the user if it is a call with a record.
  std::optional<FactorRule> ruleOf(OpOperand &use) const {
    auto call = dyn_cast<CallOp>(use.getOwner());
    if (!call)
      return std::nullopt;
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    return record ? std::optional<FactorRule>(factorRuleOf(view, record)) : std::nullopt;
  }

  WantedDim dimOfOtherOperands(OpOperand &use) const {
    if (use.getOwner()->getNumOperands() < 2)
      return {};
    std::optional<FactorRule> rule = ruleOf(use);
    if (!rule)
      return {};
    for (OpOperand &other : use.getOwner()->getOpOperands()) {
      ShardingAttr sharding = getSharding(other.get());
      if (&other == &use || !sharding || dimWith(sharding, axis) < 0)
        continue;
      // Only the axis in question is transferred. The other axes of that operand may not fit the factors, which would
      // end the transfer early.
      // A factor that both operands have must be divided alike in both: the operand that is already decided fixes the
      // dim.
      int64_t dim = dimWith(transferLayout(only(other.get(), dimWith(sharding, axis), axis),
                                           rule->operands[other.getOperandNumber()],
                                           rule->operands[use.getOperandNumber()], *rule, mesh),
                            axis);
      if (dim >= 0)
        return {dim, {}, other.get()};
    }
    return {};
  }

  WantedDim dimOfResults(OpOperand &use) {
    // The limit counts the operators of the whole query, not the depth of one path. Where it ends the search, the sum
    // is replicated, which is correct and only moves more.
    if (visited++ >= searchLimit)
      return {};
    std::optional<FactorRule> rule = ruleOf(use);
    if (!rule)
      return {};
    for (OpResult result : use.getOwner()->getResults()) {
      WantedDim wanted = search(result);
      if (wanted.dim < 0)
        continue;
      wanted.dim = dimWith(transferLayout(only(result, wanted.dim, axis), rule->results[result.getResultNumber()],
                                          rule->operands[use.getOperandNumber()], *rule, mesh),
                           axis);
      if (wanted.dim >= 0)
        return wanted;
    }
    return {};
  }

  AxisRefAttr axis;
  MeshOp mesh;
  int visited = 0;
};

} // namespace

WantedDim meshplan::findWantedDim(Value value, AxisRefAttr axis, MeshOp mesh) {
  return WantedDimSearch(axis, mesh).search(value);
}
