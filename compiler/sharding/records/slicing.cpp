//===- slicing.cpp - records of parts of a tensor -------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

/// Every result has the dims of the operand; the one that is cut is whole, unless the cut keeps all of it.
static FactorRule slicedRule(const CallView &call, bool keepsAll) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  int64_t cut = normalizeDim(call.getInt("dim", 0), self.getRank());
  for (int64_t dim = 0; dim < self.getRank(); ++dim) {
    SmallVector<DimRef> dims{self[dim]};
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim]);
    if (dim != cut || keepsAll)
      builder.tie(dims);
  }
  return builder.finish();
}

/// Bounds beyond the end are cut to it, so a slice that keeps all of a dim keeps all of a part of it. If the sizes of
/// the cut dim differ, it is whole anyway.
static FactorRule sliceRule(const CallView &call) { return slicedRule(call, call.getInt("step", 1) == 1); }

static FactorRule splitRule(const CallView &call) { return slicedRule(call, false); }

/// select and unbind take single indices of a dim away.
static FactorRule selectedRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self");
  int64_t taken = normalizeDim(call.getInt("dim", 0), self.getRank());
  for (int64_t dim = 0; dim < self.getRank(); ++dim) {
    SmallVector<DimRef> dims{self[dim]};
    for (unsigned index = 0; index < call.results.size(); ++index)
      dims.push_back(builder.result(index)[dim > taken ? dim - 1 : dim]);
    if (dim != taken)
      builder.tie(dims);
  }
  return builder.finish();
}

void addSlicingRecords(OpRegistry &registry) {
  registry.add({.target = "aten.slice.Tensor", .rule = sliceRule, .linearity = movesOperand, .cost = viewCost});
  for (StringRef target : {"aten.split.Tensor", "aten.split_with_sizes.default", "aten.chunk.default"})
    registry.add({.target = target, .rule = splitRule, .linearity = movesOperand, .cost = viewCost});
  for (StringRef target : {"aten.select.int", "aten.unbind.int"})
    registry.add({.target = target, .rule = selectedRule, .linearity = movesOperand, .cost = viewCost});
}

} // namespace meshplan
