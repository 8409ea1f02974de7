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

static Value rowsReadBy(CallOp call) {
  std::optional<unsigned> rows = CallView::of(call).getOperand("rows");
  return rows ? call.getOperand(*rows) : Value();
}

/// The rows whose features those of the result are, if no other rows are computed with them; or null.
static Value sameFeaturesOf(CallOp call) {
  if (!call || multipliesRows(call) || call.getTarget() == "meshplan.dispatch" ||
      call.getTarget() == "meshplan.combine")
    return {};
  if (Value rows = rowsReadBy(call))
    return rows;
  return call.getNumOperands() == 1 ? call.getOperand(0) : Value();
}

static Value sourceOfRows(Value rows) {
  while (Value before = sameFeaturesOf(rows.getDefiningOp<CallOp>()))
    rows = before;
  return rows;
}

/// True if the rows are added to those of a product of `source`.
static bool isAddedToProductOf(Value rows, Value source) {
  auto isOther = [&](Value operand) {
    auto product = sourceOfRows(operand).getDefiningOp<CallOp>();
    return operand != rows && product && multipliesRows(product) && sourceOfRows(rowsReadBy(product)) == source;
  };
  return llvm::any_of(rows.getUsers(), [&](Operation *user) {
    auto call = dyn_cast<CallOp>(user);
    if (call && sameFeaturesOf(call) == rows)
      return isAddedToProductOf(call.getResult(0), source);
    return call && call.getTarget() == "aten.add.Tensor" && llvm::any_of(call.getOperands(), isOther);
  });
}

static int64_t countOf(Value rows) { return shapeOf(rows).back(); }

/// True if the rows come from the first of two products that are an addition of low rank to a weight: w x + b (a x).
/// The features between the two are few, and each rank needs all of them.
static bool areOfLowRank(Value rows, Value source) {
  return llvm::any_of(rows.getUsers(), [&](Operation *user) {
    auto call = dyn_cast<CallOp>(user);
    if (call && sameFeaturesOf(call) == rows)
      return areOfLowRank(call.getResult(0), source);
    return call && multipliesRows(call) && rowsReadBy(call) == rows && countOf(rows) < countOf(source) &&
           countOf(rows) < countOf(call.getResult(0)) && isAddedToProductOf(call.getResult(0), source);
  });
}

/// True for rows of divided features: a product gives them, or what is computed from them.
bool InsideFeatures::areDivided(Value rows) {
  auto [entry, isNew] = divided.try_emplace(rows, false);
  auto call = rows.getDefiningOp<CallOp>();
  if (!isNew || !call || call.getTarget() == "meshplan.dispatch")
    return entry->second;
  // A product of divided rows gives addends.
  bool found =
      multipliesRows(call)
          ? !areDivided(rowsReadBy(call)) && areMultiplied(rows) && !areOfLowRank(rows, sourceOfRows(rowsReadBy(call)))
          : llvm::any_of(call.getOperands(), [&](Value operand) { return areDivided(operand); });
  return divided[rows] = found;
}

std::optional<InsideUse> InsideFeatures::find(CallOp call) {
  Value rows = rowsReadBy(call);
  if (!rows)
    return std::nullopt;
  if (multipliesRows(call) && areDivided(rows))
    return InsideUse{/*ofOutput=*/false, rows};
  return areDivided(call.getResult(0)) ? std::optional(InsideUse{/*ofOutput=*/true, call.getResult(0)}) : std::nullopt;
}
