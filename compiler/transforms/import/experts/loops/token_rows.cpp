//===- token_rows.cpp - all tokens instead of chosen rows -----------------===//

#include "compiler/transforms/import/experts/loops/token_rows.h"
#include "compiler/archive/data_extents.h"
#include "compiler/transforms/import/experts/call_patterns.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace meshplan;

RankedTensorType meshplan::withTokens(RankedTensorType type, int64_t tokens) {
  SmallVector<int64_t> shape =
      llvm::map_to_vector(type.getShape(), [&](int64_t size) { return archive::isDataExtent(size) ? tokens : size; });
  return RankedTensorType::get(shape, type.getElementType());
}

/// Sizes in which the rows are all tokens.
static Attribute argumentWithTokens(Attribute argument, int64_t tokens) {
  Builder builder(argument.getContext());
  if (auto list = dyn_cast<ArrayAttr>(argument))
    return builder.getArrayAttr(
        llvm::map_to_vector(list, [&](Attribute item) { return argumentWithTokens(item, tokens); }));
  auto number = dyn_cast<IntegerAttr>(argument);
  bool isRows = number && number.getType().isInteger(64) && archive::isDataExtent(number.getInt());
  return isRows ? builder.getI64IntegerAttr(tokens) : argument;
}

bool meshplan::computesChosenRows(plan::CallOp call) {
  // Each element is dropped by itself, also those of other rows.
  if (dropsElements(call))
    return true;
  CallView view = CallView::of(call);
  // Rows of one choice may have several extents, which are equal when the step runs.
  std::optional<int64_t> extent;
  auto unify = [&](RankedTensorType &type) {
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t &size : shape)
      if (archive::isDataExtent(size)) {
        extent = extent.value_or(size);
        size = *extent;
      }
    type = RankedTensorType::get(shape, type.getElementType());
  };
  llvm::for_each(view.operands, unify);
  llvm::for_each(view.results, unify);
  FactorRule rule = factorRuleOf(view, OpRegistry::get().lookup(view.target));
  std::optional<unsigned> row;
  auto isRow = [&](const TensorFactors &tensor, RankedTensorType type) {
    for (auto [factors, size] : llvm::zip_equal(tensor.dims, type.getShape())) {
      if (!archive::isDataExtent(size))
        continue;
      if (factors.size() != 1 || (row && factors.front() != *row))
        return false;
      row = factors.front();
    }
    return true;
  };
  for (auto [tensor, type] : llvm::zip_equal(rule.results, view.results))
    if (!isRow(tensor, type) || !llvm::any_of(type.getShape(), archive::isDataExtent))
      return false;
  for (auto [tensor, type] : llvm::zip_equal(rule.operands, view.operands))
    if (!isRow(tensor, type))
      return false;
  return row && rule.factors[*row].kind == FactorKind::parallel;
}

OtherRows meshplan::otherRowsOf(plan::CallOp call, ArrayRef<const TokenRows *> operands) {
  StringRef target = call.getTarget();
  auto isZero = [](const TokenRows *rows) { return rows && rows->others.areZero; };
  if (target == "aten.mul.Tensor")
    return {llvm::any_of(operands, isZero), {}};
  if (keepsOrder(call) || dropsElements(call) ||
      llvm::is_contained({"aten.to.dtype", "aten.neg.default", "aten.clone.default"}, target))
    return {isZero(operands.front()), {}};
  bool isSum = target == "aten.add.Tensor" && operands.size() == 2 && CallView::of(call).getFloat("alpha", 1) == 1;
  if (isSum && llvm::all_of(operands, isZero))
    return {true, {}};
  for (unsigned side : {0, 1})
    if (isSum && isZero(operands[side]) && operands[1 - side])
      return {false, operands[1 - side]->others.are};
  return {};
}

plan::CallOp meshplan::cloneForTokens(plan::CallOp call, ArrayRef<Value> operands, int64_t tokens) {
  auto own = cast<plan::CallOp>(OpBuilder(call).clone(*call));
  own->setOperands(operands);
  SmallVector<NamedAttribute> args;
  for (NamedAttribute argument : call.getArgs())
    args.push_back({argument.getName(), argumentWithTokens(argument.getValue(), tokens)});
  own.setArgsAttr(DictionaryAttr::get(call.getContext(), args));
  for (Value result : own.getResults())
    result.setType(withTokens(typeOf(result), tokens));
  return own;
}
