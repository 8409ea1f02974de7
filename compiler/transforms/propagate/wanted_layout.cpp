//===- wanted_layout.cpp - where consumers would like a value -------------===//

#include "compiler/transforms/propagate/wanted_layout.h"
#include "compiler/sharding/op_record.h"
#include "compiler/sharding/projection.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Operators looked at for one question. A residual stream makes consumers of consumers without end.
constexpr int searchLimit = 32;

int64_t dimWith(ShardingAttr sharding, AxisRefAttr axis) {
  for (auto [index, dim] : llvm::enumerate(sharding.getDims()))
    if (overlapsAny(dim.getAxes(), axis))
      return index;
  return -1;
}

/// The only-dim sharding of a tensor: `dim` divided over `axis`.
ShardingAttr only(Value value, int64_t dim, AxisRefAttr axis) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return ShardingAttr::getReplicated(value.getContext(), rank).withDim(dim, axis);
}

class WantedDimSearch {
public:
  WantedDimSearch(AxisRefAttr axis, MeshOp mesh) : axis(axis), mesh(mesh) {}

  int64_t search(Value value) {
    int64_t dim = statedDim(value);
    if (dim >= 0)
      return dim;
    for (OpOperand &use : value.getUses())
      if ((dim = dimOfOtherOperands(use)) >= 0)
        return dim;
    for (OpOperand &use : value.getUses())
      if ((dim = dimOfResults(use)) >= 0)
        return dim;
    return -1;
  }

private:
  int64_t statedDim(Value value) const {
    for (Operation *user : value.getUsers())
      if (auto constrain = dyn_cast<ConstrainOp>(user)) {
        int64_t dim = dimWith(constrain.getLayout(), axis);
        if (dim >= 0)
          return dim;
      }
    return -1;
  }

  /// The rule of the user if it is a call whose operator has a record.
  std::optional<FactorRule> ruleOf(OpOperand &use) const {
    auto call = dyn_cast<CallOp>(use.getOwner());
    if (!call)
      return std::nullopt;
    CallView view = CallView::of(call);
    const OpRecord *record = OpRegistry::get().lookup(view.target);
    return record ? std::optional<FactorRule>(factorRuleOf(view, record)) : std::nullopt;
  }

  int64_t dimOfOtherOperands(OpOperand &use) const {
    if (use.getOwner()->getNumOperands() < 2)
      return -1;
    std::optional<FactorRule> rule = ruleOf(use);
    if (!rule)
      return -1;
    for (OpOperand &other : use.getOwner()->getOpOperands()) {
      ShardingAttr sharding = getSharding(other.get());
      if (&other == &use || !sharding || dimWith(sharding, axis) < 0)
        continue;
      int64_t dim = dimWith(transferLayout(only(other.get(), dimWith(sharding, axis), axis),
                                           rule->operands[other.getOperandNumber()],
                                           rule->operands[use.getOperandNumber()], *rule, mesh),
                            axis);
      if (dim >= 0)
        return dim;
    }
    return -1;
  }

  int64_t dimOfResults(OpOperand &use) {
    if (visited++ >= searchLimit)
      return -1;
    std::optional<FactorRule> rule = ruleOf(use);
    if (!rule)
      return -1;
    for (OpResult result : use.getOwner()->getResults()) {
      int64_t dim = search(result);
      if (dim < 0)
        continue;
      dim = dimWith(transferLayout(only(result, dim, axis), rule->results[result.getResultNumber()],
                                   rule->operands[use.getOperandNumber()], *rule, mesh),
                    axis);
      if (dim >= 0)
        return dim;
    }
    return -1;
  }

  AxisRefAttr axis;
  MeshOp mesh;
  int visited = 0;
};

} // namespace

int64_t meshplan::findWantedDim(Value value, AxisRefAttr axis, MeshOp mesh) {
  return WantedDimSearch(axis, mesh).search(value);
}
