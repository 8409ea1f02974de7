//===- partial_operands.cpp - operands that may be partial ----------------===//

#include "compiler/sharding/partial_operands.h"
#include "compiler/sharding/axes.h"
#include "compiler/sharding/dataflow/carriers.h"
#include "dialect/plan/attributes.h"

using namespace meshplan;
using namespace meshplan::plan;
using llvm::ArrayRef;
using llvm::SmallVector;

Linearity meshplan::linearityOf(CallOp call) {
  CallView view = CallView::of(call);
  const OpRecord *record = OpRegistry::get().lookup(view.target);
  Linearity linearity = record && record->linearity ? record->linearity(view) : Linearity();
  // Otherwise such a conversion would end the path of addends to the parameter, and the gradient would be reduced in
  // front of it, in the wider type.
  if (linearity.sets.empty() && call->hasAttr(attr::KeepsAddends::getNameStr()) && isConversion(call))
    linearity.sets.push_back({0});
  return linearity;
}

SmallVector<unsigned> meshplan::findRejectedPartials(const Linearity &linearity, ArrayRef<ShardingAttr> operands,
                                                     AxisRefAttr axis) {
  SmallVector<unsigned> partial;
  bool isSum = true, isOneReduction = true;
  for (auto [index, sharding] : llvm::enumerate(operands))
    if (overlapsAny(sharding.getPartialAxes(), axis)) {
      isOneReduction &= partial.empty() || sharding.getReduction() == operands[partial.front()].getReduction();
      isSum &= sharding.getReduction() == Reduction::sum;
      partial.push_back(index);
    }
  bool acceptable = partial.empty();
  // What is linear commutes with sums, not with maxima; moving elements commutes with any reduction.
  if (isSum || (linearity.movesElements && isOneReduction))
    for (ArrayRef<unsigned> set : linearity.sets)
      acceptable |= llvm::equal(set, partial);
  // One axis cannot both divide an operand and be partial in another.
  for (ShardingAttr sharding : operands)
    for (DimShardingAttr dim : sharding.getDims())
      acceptable &= !overlapsAny(dim.getAxes(), axis);
  return acceptable ? SmallVector<unsigned>() : partial;
}
