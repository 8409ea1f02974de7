//===- reshape.cpp - records of reshapes ----------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/reshape_factors.h"
#include "compiler/sharding/records/records.h"

using namespace mlir;

namespace meshplan {

static FactorRule reshapeRule(const CallView &call) {
  RuleBuilder builder(call);
  shareFactors(builder, builder.operand("self"), builder.result());
  return builder.finish();
}

static constexpr char size[] = "size";
static constexpr char shape[] = "shape";

/// unflatten names the sizes of the dims that it makes from one.
static LocalCall localizeUnflatten(const CallView &call, plan::MeshOp) {
  int64_t made = call.results.front().getRank() - call.operands.front().getRank() + 1;
  int64_t first = normalizeDim(call.getInt("dim", 0), call.operands.front().getRank());
  bool divided = false;
  for (int64_t dim = first; dim < first + made; ++dim)
    divided |= isDivided(call.results.front(), dim);
  if (!divided)
    return unchanged(call);
  return {call.target.str(), withArg(call.args, "sizes", localSizes(call, first, made))};
}

void addReshapeRecords(OpRegistry &registry) {
  for (StringRef target : {"aten.view.default", "aten._unsafe_view.default"})
    registry.add({.target = target,
                  .rule = reshapeRule,
                  .linearity = movesOperand,
                  .cost = viewCost,
                  .localize = localizeSizes<size>});
  // Whether these alias depends on strides, which types do not say: they count as copies.
  registry.add({.target = "aten.reshape.default",
                .rule = reshapeRule,
                .linearity = movesOperand,
                .cost = copyCost,
                .localize = localizeSizes<shape>});
  registry.add({.target = "aten.flatten.using_ints", .rule = reshapeRule, .linearity = movesOperand, .cost = copyCost});
  registry.add({.target = "aten.unflatten.int",
                .rule = reshapeRule,
                .linearity = movesOperand,
                .cost = viewCost,
                .localize = localizeUnflatten});
}

} // namespace meshplan
