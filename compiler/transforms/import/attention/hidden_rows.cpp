//===- hidden_rows.cpp - queries that see no key --------------------------===//

#include "compiler/transforms/import/attention/hidden_rows.h"
#include "compiler/transforms/import/attention/fold_mask.h"
#include "compiler/transforms/import/index_functions/real_bounds.h"
#include <cmath>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// The element, at batch, head, query and key, of a tensor that broadcasts to the scores.
static Expr elementOf(Value tensor, const WrittenAttention &attention, IndexFunctions &functions) {
  ExprBuilder &builder = functions.builder;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  Indices indices = coordinatesOf(builder, {attention.batch, attention.heads, attention.queries, attention.keys});
  if (llvm::is_contained(indices, nullptr))
    return nullptr;
  if (hasMergedHeads(shape, attention))
    indices = {builder.add(builder.multiply(indices[0], attention.heads), indices[1]), indices[2], indices[3]};
  return functions.at(tensor, readExpanded(builder, shape, indices));
}

/// The condition under which the step leaves the score a weight; null if the step is not understood.
static Expr whereSeen(const ScoreStep &step, const WrittenAttention &attention, IndexFunctions &functions) {
  Expr element = elementOf(step.tensor, attention, functions);
  if (!element || step.kind == ScoreStep::fillWhereNot)
    return element;
  if (step.kind == ScoreStep::fillWhere)
    return functions.builder.logicalNot(element);
  std::optional<AddedMask> added = asAddedMask(functions.builder, element);
  return added ? added->condition : nullptr;
}

HiddenRows meshplan::findHiddenRows(const WrittenAttention &attention, IndexFunctions &functions) {
  bool fillsFinite = llvm::any_of(
      attention.steps, [](const ScoreStep &step) { return step.kind != ScoreStep::add && std::isfinite(step.number); });
  if (!fillsFinite)
    return HiddenRows::none;
  SmallVector<Expr> seen;
  bool addsMasks = false;
  for (const ScoreStep &step : attention.steps) {
    bool isAdded = step.kind == ScoreStep::add;
    if (isAdded && isModerate(step.tensor, functions))
      continue;
    addsMasks |= isAdded;
    seen.push_back(whereSeen(step, attention, functions));
    if (!seen.back())
      return HiddenRows::unknown;
  }
  if (seesAKey(functions.builder.logicalAnd(seen), attention.queries, attention.keys))
    return HiddenRows::none;
  return addsMasks ? HiddenRows::unknown : HiddenRows::whole;
}
