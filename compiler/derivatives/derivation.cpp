//===- derivation.cpp - the backward calls of one call --------------------===//

#include "compiler/derivatives/derivation.h"
#include "compiler/derivatives/arithmetic.h"

using namespace mlir;
using namespace meshplan;

Value Derivation::operand(StringRef name) const {
  std::optional<unsigned> index = view.getOperand(name);
  return index ? call.getOperand(*index) : Value();
}

bool Derivation::wants(StringRef name) const {
  std::optional<unsigned> index = view.getOperand(name);
  return index && wanted[*index];
}

Value Derivation::gradientOrZeros(unsigned result) const {
  if (gradients[result])
    return gradients[result];
  Value value = call.getResult(result);
  return make("aten.zeros_like.default").tensor("self", value).build(shapeOf(value), elementOf(value));
}

void Derivation::give(StringRef name, Value gradient) {
  if (wants(name))
    give(operand(name), gradient);
}

void Derivation::giveZeros(StringRef name) {
  if (wants(name))
    zeros.push_back(operand(name));
}

void Derivation::give(Value value, Value gradient) {
  Arithmetic math(*this);
  // The sum over broadcast dims comes before the conversion: a 16-bit result is rounded once, and not for each addend.
  Value fitted = math.convert(math.expand(math.sumTo(gradient, shapeOf(value)), shapeOf(value)), elementOf(value));
  auto [known, isNew] = given.insert({value, fitted});
  if (!isNew)
    known->second = math.add(known->second, fitted);
}
