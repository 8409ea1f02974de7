//===- reshape.cpp - records of reshapes ----------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/reshape_factors.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static FactorRule reshapeRule(const CallView &call) {
  RuleBuilder builder(call);
  shareFactors(builder, builder.operand("self"), builder.result());
  return builder.finish();
}

/// What a view of the whole is may not be one of the rank's part: a collective or a kernel of the runtime has laid it
/// out otherwise. All reshapes copy where they must.
static LocalCall localizeReshape(const CallView &call, plan::MeshOp) {
  if (!call.get("self"))
    return unchanged(call);
  NamedAttrList args;
  args.set("self", call.get("self"));
  args.set("shape", localSizes(call, 0, call.results.front().getRank()));
  return {"aten.reshape.default", args.getDictionary(call.args.getContext())};
}

/// A view where strides allow it, else a copy.
static OpCost reshapeCost(const CallView &call) {
  Strides strides = call.getStrides(0);
  bool isView = viewStrides({call.operands.front().getShape(), strides}, call.results.front().getShape()).has_value();
  return isView ? viewCost(call) : copyCost(call);
}

void addReshapeRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default",
                           "aten.flatten.using_ints", "aten.unflatten.int"})
    registry.add({.target = target,
                  .rule = reshapeRule,
                  .linearity = movesOperand,
                  .cost = reshapeCost,
                  .strides = reshapedStrides,
                  .localize = localizeReshape});
}

} // namespace meshplan
