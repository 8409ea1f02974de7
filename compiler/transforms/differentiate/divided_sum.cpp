//===- divided_sum.cpp - sums over tensors divided in different ways ------===//

#include "compiler/transforms/differentiate/divided_sum.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

Value DividedSum::sumOf(Value left, Value right) {
  if (!left)
    return right;
  return StepCall("aten.add.Tensor", builder, location)
      .tensor("self", left)
      .tensor("other", right)
      .make(left.getType());
}

void DividedSum::add(ArrayRef<AxisRefAttr> axes, Value number) {
  // One partial sum for each set of axes: summed over exactly the axes that divide the tensor, each element counts
  // once, and replicas do not count. Sums of one set are added first, so that there is one collective per set and not
  // one per tensor.
  Value &sum = sums[builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()))];
  sum = sumOf(sum, number);
}

Value DividedSum::total() {
  Value total;
  for (auto &[division, sum] : sums)
    total = sumOf(total, sum);
  return total;
}
