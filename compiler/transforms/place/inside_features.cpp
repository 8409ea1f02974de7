//===- inside_features.cpp - features inside the experts ------------------===//

#include "compiler/transforms/place/inside_features.h"
#include "compiler/sharding/dataflow/expert_weights.h"
#include "compiler/sharding/op_record.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// True if the rows are multiplied with the weight of an expert before their tokens are summed.
bool InsideFeatures::areMultiplied(Value rows) {
  auto [entry, isNew] = multiplied.try_emplace(rows, false);
  if (!isNew)
    return entry->second;
  bool found = false;
  for (Operation *user : rows.getUsers())
    if (auto call = dyn_cast<CallOp>(user); call && call.getTarget() != "meshplan.combine")
      found |=
          multipliesRows(call) || llvm::any_of(call.getResults(), [&](Value result) { return areMultiplied(result); });
  return multiplied[rows] = found;
}

/// True for rows of divided features: a product gives them, or what is computed from them.
bool InsideFeatures::areDivided(Value rows) {
  auto [entry, isNew] = divided.try_emplace(rows, false);
  auto call = rows.getDefiningOp<CallOp>();
  if (!isNew || !call || call.getTarget() == "meshplan.dispatch")
    return entry->second;
  // A product of divided rows gives addends.
  bool found = multipliesRows(call)
                   ? !areDivided(call.getOperand(*CallView::of(call).getOperand("rows"))) && areMultiplied(rows)
                   : llvm::any_of(call.getOperands(), [&](Value operand) { return areDivided(operand); });
  return divided[rows] = found;
}

std::optional<InsideUse> InsideFeatures::find(CallOp call) {
  std::optional<unsigned> rows = CallView::of(call).getOperand("rows");
  if (!rows)
    return std::nullopt;
  if (multipliesRows(call) && areDivided(call.getOperand(*rows)))
    return InsideUse{/*ofOutput=*/false, call.getOperand(*rows)};
  return areDivided(call.getResult(0)) ? std::optional(InsideUse{/*ofOutput=*/true, call.getResult(0)}) : std::nullopt;
}
