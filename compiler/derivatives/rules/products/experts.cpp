//===- experts.cpp - derivatives of layers of experts ---------------------===//
//
// Moving tokens to rows is the transpose of summing rows by token, and the same holds for gates. Nothing passes through
// the indices of the router, which only its gates are trained by.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

static void dispatchTokensRule(Derivation &derivation) {
  Value self = derivation.operand("self");
  derivation.give("self", derivation.make("meshplan.combine")
                              .tensor("rows", derivation.gradient())
                              .tensor("table", derivation.operand("table"))
                              .literal("slots", derivation.getView().get("slots"))
                              .integers("size", shapeOf(self))
                              .build(shapeOf(self), elementOf(self)));
}

static void combineTokensRule(Derivation &derivation) {
  Value rows = derivation.operand("rows"), gradient = derivation.gradient();
  derivation.give("rows", derivation.make("meshplan.dispatch")
                              .tensor("self", gradient)
                              .tensor("table", derivation.operand("table"))
                              .literal("slots", derivation.getView().get("slots"))
                              .build(shapeOf(rows), elementOf(gradient)));
}

static void dispatchGatesRule(Derivation &derivation) {
  Value gates = derivation.operand("gates");
  derivation.give("gates", derivation.make("meshplan.collect_gates")
                               .tensor("rows", derivation.gradient())
                               .tensor("table", derivation.operand("table"))
                               .integers("size", shapeOf(gates))
                               .build(shapeOf(gates), elementOf(gates)));
}

static void collectGatesRule(Derivation &derivation) {
  Value rows = derivation.operand("rows");
  derivation.give("rows", derivation.make("meshplan.dispatch_gates")
                              .tensor("gates", derivation.gradient())
                              .tensor("table", derivation.operand("table"))
                              .build(shapeOf(rows), elementOf(rows)));
}

/// The product of an expert is x W^T, or x W if the weight is transposed: its gradient is multiplied with the other.
static void linearOfExpertsRule(Derivation &derivation) {
  Value rows = derivation.operand("rows"), weight = derivation.operand("weight");
  Value counts = derivation.operand("counts"), gradient = derivation.gradient();
  bool transposed = derivation.getView().getBool("transposed", false);
  if (derivation.wants("rows"))
    derivation.give("rows", derivation.make("meshplan.grouped_linear")
                                .tensor("rows", gradient)
                                .tensor("weight", weight)
                                .tensor("counts", counts)
                                .flag("transposed", !transposed)
                                .build(shapeOf(rows), elementOf(rows)));
  if (derivation.wants("weight"))
    derivation.give("weight", derivation.make("meshplan.grouped_linear_weight_gradient")
                                  .tensor("gradient", gradient)
                                  .tensor("rows", rows)
                                  .tensor("counts", counts)
                                  .flag("transposed", transposed)
                                  .build(shapeOf(weight), elementOf(weight)));
}

static void biasOfExpertsRule(Derivation &derivation) {
  Value bias = derivation.operand("bias");
  derivation.give("rows", derivation.gradient());
  if (derivation.wants("bias"))
    derivation.give("bias", derivation.make("meshplan.grouped_bias_gradient")
                                .tensor("gradient", derivation.gradient())
                                .tensor("counts", derivation.operand("counts"))
                                .build(shapeOf(bias), elementOf(bias)));
}

void meshplan::addExpertDerivatives(DerivativeTable &table) {
  table["meshplan.route"] = noGradient;
  table["meshplan.expert_tokens"] = noGradient;
  table["meshplan.drop_choices"] = noGradient;
  table["meshplan.balanced_bias"] = noGradient;
  table["meshplan.dispatch"] = dispatchTokensRule;
  table["meshplan.combine"] = combineTokensRule;
  table["meshplan.dispatch_gates"] = dispatchGatesRule;
  table["meshplan.collect_gates"] = collectGatesRule;
  table["meshplan.grouped_linear"] = linearOfExpertsRule;
  table["meshplan.grouped_bias"] = biasOfExpertsRule;
}
