//===- loss.cpp - derivatives of losses -----------------------------------===//
//
// A cross entropy that the importer has decomposed (decompose_loss.cpp) gets its gradient with respect to the logits in
// one call. The gradients of the maximum, the sum and the picked logit are never computed.
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

/// The operand `name` of the call that produces `value`.
static Value operandOfMaker(Value value, StringRef name) {
  auto call = value ? value.getDefiningOp<plan::CallOp>() : plan::CallOp();
  std::optional<unsigned> index = call ? CallView::of(call).getOperand(name) : std::nullopt;
  return index ? call.getOperand(*index) : Value();
}

/// Gives the logits their gradient directly; the calls between logits and loss then get none.
static void tokenLossRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  Value logits = operandOfMaker(derivation.operand("picked"), "input");
  if (!logits)
    return derivation.refuse("the loss does not pick its logits by 'meshplan.row_pick'");
  if (derivation.wants("weight"))
    return derivation.refuse("weights of classes cannot be trained");
  CallBuilder call = derivation.make("meshplan.row_loss_gradient");
  call.tensor("gradient", derivation.gradient()).tensor("input", logits).tensor("target", derivation.operand("target"));
  for (StringRef name : {"max", "sum_exp", "weight"})
    if (Value value = derivation.operand(name))
      call.tensor(name, value);
  if (Value weight = operandOfMaker(derivation.operand("row_sum"), "weight"))
    call.tensor("class_weight", weight);
  call.literal("label_smoothing", view.get("label_smoothing"));
  call.integer("ignore_index", view.getInt("ignore_index", -100)).integer("classes", view.getInt("classes", -1));
  derivation.give(logits, call.build(shapeOf(logits), elementOf(logits)));
}

/// 2 * (self - target), for each element.
static void mseRule(Derivation &derivation) {
  Arithmetic math(derivation);
  if (derivation.getView().getInt("reduction", 1) != 0)
    return differentiateAtRunTime(derivation);
  Value difference = math.sub(derivation.operand("self"), derivation.operand("target"));
  Value gradient = math.mul(math.mul(derivation.gradient(), difference), 2);
  derivation.give("self", gradient);
  if (derivation.wants("target"))
    derivation.give("target", math.neg(gradient));
}

void meshplan::addLossDerivatives(DerivativeTable &table) {
  table["meshplan.token_loss"] = tokenLossRule;
  for (StringRef target : {"row_max", "row_sum_exp", "row_sum_log_softmax", "row_pick", "count_tokens"})
    table[("meshplan." + target).str()] = noGradient;
  table["aten.mse_loss.default"] = mseRule;
}
