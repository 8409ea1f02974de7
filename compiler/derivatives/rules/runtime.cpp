//===- runtime.cpp - derivatives that the runtime finds -------------------===//
//
// `vjp.TARGET` has the arguments of TARGET, the gradients of its results, and
// the name of the argument whose gradient it gives.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/calls/random_ops.h"

using namespace mlir;
using namespace meshplan;

/// The arguments of the call itself. Operands keep their numbers.
static CallBuilder repeated(Derivation &derivation, StringRef target) {
  CallBuilder call = derivation.make(target);
  for (Value operand : derivation.getCall().getOperands())
    call.operand(operand);
  for (NamedAttribute argument : derivation.getView().args)
    call.literal(argument.getName(), argument.getValue());
  return call;
}

/// The gradient of what the argument, or its item at `place`, refers to, if it is wanted.
static void giveArgument(Derivation &derivation, StringRef name, Attribute reference, std::optional<int64_t> place) {
  auto operand = dyn_cast<plan::OperandRefAttr>(reference);
  if (!operand || !derivation.wants(operand.getIndex()))
    return;
  plan::CallOp call = derivation.getCall();
  std::string target = ("vjp." + call.getTarget()).str();
  Value value = call.getOperand(operand.getIndex());
  SmallVector<Value> gradients;
  for (unsigned index = 0; index < call.getNumResults(); ++index)
    gradients.push_back(derivation.gradient(index));
  CallBuilder made = repeated(derivation, target);
  made.tensors("gradients", gradients).text("of", name);
  if (place)
    made.integer("of_index", *place);
  derivation.give(operand.getIndex(), made.build(shapeOf(value), elementOf(value)));
}

/// Operators on floats with a record for which LibTorch has no derivative.
static bool hasNone(StringRef target) {
  return target == "aten.aminmax.default" || target == "aten.remainder.Scalar_Tensor";
}

void meshplan::differentiateAtRunTime(Derivation &derivation) {
  StringRef target = derivation.getCall().getTarget();
  if (hasNone(target))
    return derivation.refuse("PyTorch has no derivative of it");
  if (target.starts_with("meshplan."))
    return derivation.refuse("the runtime's kernel '" + target + "' has no derivative");
  if (!target.starts_with("aten."))
    return derivation.refuse("LibTorch differentiates operators of ATen only");
  if (drawsRandomNumbers(derivation.getView()))
    return derivation.refuse("it draws random numbers");
  for (NamedAttribute argument : derivation.getView().args) {
    giveArgument(derivation, argument.getName(), argument.getValue(), std::nullopt);
    if (auto list = dyn_cast<ArrayAttr>(argument.getValue()))
      for (auto [place, item] : llvm::enumerate(list))
        giveArgument(derivation, argument.getName(), item, place);
  }
}
