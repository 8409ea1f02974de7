//===- split_addend.cpp - adds a bias once --------------------------------===//

#include "compiler/transforms/propagate/split_addend.h"
#include "dialect/plan/module_runs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::plan;

/// Adds the addend after the call, viewed in `shape` first if that is not empty.
static void addBehind(CallOp call, Value addend, ArrayRef<int64_t> shape) {
  OpBuilder builder(call->getContext());
  builder.setInsertionPointAfter(call);
  auto operand = [&](StringRef name, int64_t index) {
    return builder.getNamedAttr(name, OperandRefAttr::get(call.getContext(), index));
  };
  auto make = [&](StringRef target, Type type, ValueRange operands, ArrayRef<NamedAttribute> args) {
    auto made = CallOp::create(builder, call.getLoc(), type, builder.getStringAttr(target), operands,
                               builder.getDictionaryAttr(args), call.getModuleAttr());
    copyModuleRuns(made, call);
    return made.getResult(0);
  };
  if (!shape.empty())
    addend = make("aten.view.default", RankedTensorType::get(shape, getElementTypeOrSelf(addend.getType())), addend,
                  {operand("self", 0), builder.getNamedAttr("size", builder.getI64ArrayAttr(shape))});
  Value sum = make("aten.add.Tensor", call.getResultTypes()[0], {call.getResult(0), addend},
                   {operand("self", 0), operand("other", 1)});
  call.getResult(0).replaceAllUsesExcept(sum, sum.getDefiningOp());
}

bool meshplan::splitAddend(CallOp call, const OpRecord &record, const FactorRule &rule, const CallDecision &decision) {
  bool contracts = false;
  for (auto [factor, division] : llvm::zip(rule.factors, decision.factors))
    contracts |= factor.kind == FactorKind::sum && !division.axes.empty();
  std::optional<AddendSplit> split =
      contracts && record.splitAddend ? record.splitAddend(CallView::of(call)) : std::nullopt;
  if (!split)
    return false;
  Value addend = call.getOperands()[split->addend];
  SmallVector<Value> rest =
      llvm::map_to_vector(split->call.operands, [&](unsigned index) { return Value(call.getOperands()[index]); });
  call->setOperands(rest);
  call.setTarget(split->call.target);
  call.setArgsAttr(split->call.args);
  addBehind(call, addend, split->shape);
  return true;
}
