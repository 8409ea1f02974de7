//===- inside_features.cpp - features inside the experts ------------------===//

#include "compiler/transforms/place/inside_features.h"
#include "compiler/sharding/op_record.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

static bool isProduct(const CallView &view) {
  return view.target.starts_with("meshplan.grouped_linear") && view.getOperand("rows") && view.getOperand("weight");
}

/// True if the rows are multiplied with the weight of an expert before their tokens are summed.
bool InsideFeatures::areMultiplied(Value rows) {
  auto [entry, isNew] = multiplied.try_emplace(rows, false);
  if (!isNew)
    return entry->second;
  bool found = false;
  for (Operation *user : rows.getUsers())
    if (auto call = dyn_cast<CallOp>(user); call && call.getTarget() != "meshplan.combine")
      found |= isProduct(CallView::of(call)) ||
               llvm::any_of(call.getResults(), [&](Value result) { return areMultiplied(result); });
  return multiplied[rows] = found;
}

/// True for rows of divided features: a product gives them, or what is computed from them.
bool InsideFeatures::areDivided(Value rows) {
  auto [entry, isNew] = divided.try_emplace(rows, false);
  auto call = rows.getDefiningOp<CallOp>();
  if (!isNew || !call || call.getTarget() == "meshplan.dispatch")
    return entry->second;
  CallView view = CallView::of(call);
  // A product of divided rows gives addends.
  bool found = isProduct(view) ? !areDivided(call.getOperand(*view.getOperand("rows"))) && areMultiplied(rows)
                               : llvm::any_of(call.getOperands(), [&](Value operand) { return areDivided(operand); });
  return divided[rows] = found;
}

std::optional<InsideUse> InsideFeatures::find(CallOp call) {
  CallView view = CallView::of(call);
  std::optional<unsigned> rows = view.getOperand("rows");
  if (!rows)
    return std::nullopt;
  if (isProduct(view) && areDivided(call.getOperand(*rows)))
    return InsideUse{/*ofOutput=*/false, call.getOperand(*rows)};
  return areDivided(call.getResult(0)) ? std::optional(InsideUse{/*ofOutput=*/true, call.getResult(0)}) : std::nullopt;
}
