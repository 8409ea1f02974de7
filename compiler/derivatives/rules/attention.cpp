//===- attention.cpp - derivative of meshplan.attention -------------------===//

#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

static constexpr StringRef sides[] = {"query", "key", "value"};

/// Begins a call with the gradient and all tensors and literals of the forward call, under their names.
static CallBuilder backwardCall(Derivation &derivation, StringRef target) {
  CallBuilder call = derivation.make(target);
  call.tensor("gradient", derivation.gradient());
  for (StringRef name : sides)
    call.tensor(name, derivation.operand(name));
  // Nothing of the size of the scores is kept for the backward pass: weights and dropped elements are recomputed from
  // the operands and from seed, step and number.
  for (StringRef name : {"mask", "key_mask", "seed", "step"})
    if (Value value = derivation.operand(name))
      call.tensor(name, value);
  for (StringRef name : {"causal", "window", "scale", "softcap", "dropout", "number"})
    call.literal(name, derivation.getView().get(name));
  return call;
}

static void attentionRule(Derivation &derivation) {
  if (derivation.getView().getFloat("dropout", 0) != 0 && !derivation.getView().get("number"))
    return derivation.refuse("it draws random numbers");
  if (derivation.gradient(1))
    return derivation.refuse("the logarithm of the sum of an attention's weights has no derivative");
  if (!derivation.gradient(0))
    return;
  if (derivation.wants("query") || derivation.wants("key") || derivation.wants("value")) {
    SmallVector<Type> types;
    for (StringRef name : sides) {
      Value value = derivation.operand(name);
      types.push_back(RankedTensorType::get(shapeOf(value), elementOf(value)));
    }
    plan::CallOp call = backwardCall(derivation, "meshplan.attention_backward").build(types);
    for (auto [name, result] : llvm::zip(sides, call.getResults()))
      derivation.give(name, result);
  }
  // A call of its own: the sum over the dims along which the mask broadcasts divides in other factors than the
  // gradients of the heads.
  if (derivation.wants("mask")) {
    Value mask = derivation.operand("mask");
    derivation.give("mask",
                    backwardCall(derivation, "meshplan.attention_mask_gradient").build(shapeOf(mask), elementOf(mask)));
  }
}

void meshplan::addAttentionDerivatives(DerivativeTable &table) { table["meshplan.attention"] = attentionRule; }
