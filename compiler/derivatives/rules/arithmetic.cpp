//===- arithmetic.cpp - derivatives of arithmetic and selection -----------===//
//
// Elementwise operators with broadcasting. Formulas, and the gradients of equal elements, are those of PyTorch's
// derivatives.yaml.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

/// True if the argument is a number.
static bool isNumber(const Derivation &derivation, StringRef name) {
  return isa_and_present<IntegerAttr, FloatAttr>(derivation.getView().get(name));
}

static void addRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", derivation.gradient());
  derivation.give("other", math.mul(derivation.gradient(), derivation.getView().getFloat("alpha", 1)));
}

static void subRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", derivation.gradient());
  if (derivation.wants("other"))
    derivation.give("other", math.mul(derivation.gradient(), -derivation.getView().getFloat("alpha", 1)));
}

/// other - alpha * self
static void rsubRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("other", derivation.gradient());
  if (derivation.wants("self"))
    derivation.give("self", math.mul(derivation.gradient(), -derivation.getView().getFloat("alpha", 1)));
}

static void mulRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value gradient = derivation.gradient(), self = derivation.operand("self"), other = derivation.operand("other");
  if (derivation.wants("self"))
    derivation.give("self",
                    other ? math.mul(gradient, other) : math.mul(gradient, derivation.getView().getFloat("other", 1)));
  if (derivation.wants("other"))
    derivation.give("other", math.mul(gradient, self));
}

static void divRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value gradient = derivation.gradient(), other = derivation.operand("other");
  if (derivation.wants("self"))
    derivation.give("self", other
                                ? math.div(gradient, other)
                                : math.scalar("aten.div.Scalar", gradient, derivation.getView().getFloat("other", 1)));
  if (derivation.wants("other"))
    // -self / other^2 is -result / other: one division, and no square that may overflow.
    derivation.give("other", math.neg(math.div(math.mul(gradient, derivation.result()), other)));
}

/// Rounded quotients are constant almost everywhere.
static void divModeRule(Derivation &derivation) {
  if (!isa_and_present<StringAttr>(derivation.getView().get("rounding_mode")))
    return divRule(derivation);
  derivation.giveZeros("self");
  derivation.giveZeros("other");
}

/// self + value * tensor1 * tensor2
static void addcmulRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", derivation.gradient());
  Value scaled = math.mul(derivation.gradient(), derivation.getView().getFloat("value", 1));
  if (derivation.wants("tensor1"))
    derivation.give("tensor1", math.mul(scaled, derivation.operand("tensor2")));
  if (derivation.wants("tensor2"))
    derivation.give("tensor2", math.mul(scaled, derivation.operand("tensor1")));
}

/// self + value * tensor1 / tensor2
static void addcdivRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", derivation.gradient());
  Value divisor = derivation.operand("tensor2");
  Value scaled = math.div(math.mul(derivation.gradient(), derivation.getView().getFloat("value", 1)), divisor);
  derivation.give("tensor1", scaled);
  if (derivation.wants("tensor2"))
    derivation.give("tensor2", math.neg(math.div(math.mul(scaled, derivation.operand("tensor1")), divisor)));
}

/// Where both are equal, each gets half of the gradient.
template <bool IsMax> static void extremeRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value self = derivation.operand("self"), other = derivation.operand("other");
  if (!other)
    return;
  StringRef isLess = IsMax ? "aten.lt.Tensor" : "aten.gt.Tensor";
  Value equal = math.compare("aten.eq.Tensor", self, other);
  Value half = math.mul(derivation.gradient(), 0.5);
  Value shared = derivation.make("aten.where.self")
                     .tensor("condition", equal)
                     .tensor("self", half)
                     .tensor("other", derivation.gradient())
                     .build(shapeOf(half), elementOf(half));
  if (derivation.wants("self"))
    derivation.give("self", math.dropWhere(math.compare(isLess, self, other), shared));
  if (derivation.wants("other"))
    derivation.give("other", math.dropWhere(math.compare(isLess, other, self), shared));
}

/// Bounds that are numbers. As in PyTorch, elements that equal a bound get the gradient.
static void clampRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value self = derivation.operand("self"), gradient = derivation.gradient();
  for (auto [name, isOutside] : {std::pair("min", "aten.lt"), std::pair("max", "aten.gt")}) {
    std::string target = isOutside;
    Value bound = derivation.operand(name);
    if (!bound && !isNumber(derivation, name))
      continue;
    // A bound that is trained needs sums over the elements outside; it is too rare for a rule of its own.
    if (derivation.wants(name))
      return differentiateAtRunTime(derivation);
    Value outside = bound ? math.compare(target + ".Tensor", self, bound)
                          : math.compare(target + ".Scalar", self, derivation.getView().getFloat(name, 0));
    gradient = math.dropWhere(outside, gradient);
  }
  derivation.give("self", gradient);
}

static void whereRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value condition = derivation.operand("condition");
  if (derivation.wants("self"))
    derivation.give("self", math.keepWhere(condition, derivation.gradient()));
  if (derivation.wants("other"))
    derivation.give("other", math.dropWhere(condition, derivation.gradient()));
}

static void maskedFillRule(Derivation &derivation) {
  Arithmetic math(derivation);
  Value mask = derivation.operand("mask");
  if (derivation.wants("self"))
    derivation.give("self", math.dropWhere(mask, derivation.gradient()));
  if (derivation.wants("value"))
    derivation.give("value", math.keepWhere(mask, derivation.gradient()));
}

static void powRule(Derivation &derivation) {
  Arithmetic math(derivation);
  double exponent = derivation.getView().getFloat("exponent", 1);
  Value self = derivation.operand("self");
  // The formula would give 0 * self^-1, which is NaN for 0.
  if (exponent == 0)
    return derivation.giveZeros("self");
  if (exponent == 1)
    return derivation.give("self", derivation.gradient());
  derivation.give("self", math.mul(math.mul(derivation.gradient(), math.pow(self, exponent - 1)), exponent));
}

static void squareRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", math.mul(math.mul(derivation.gradient(), derivation.operand("self")), 2));
}

static void negRule(Derivation &derivation) {
  derivation.give("self", Arithmetic(derivation).neg(derivation.gradient()));
}

static void absRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", math.mul(derivation.gradient(), math.unary("aten.sgn.default", derivation.operand("self"))));
}

/// Rounding and signs: constant almost everywhere.
static void zeroRule(Derivation &derivation) { derivation.giveZeros("self"); }

void meshplan::addArithmeticDerivatives(DerivativeTable &table) {
  table["aten.add.Tensor"] = table["aten.add.Scalar"] = addRule;
  table["aten.sub.Tensor"] = table["aten.sub.Scalar"] = subRule;
  table["aten.rsub.Tensor"] = table["aten.rsub.Scalar"] = rsubRule;
  table["aten.mul.Tensor"] = table["aten.mul.Scalar"] = mulRule;
  table["aten.div.Tensor"] = table["aten.div.Scalar"] = divRule;
  table["aten.div.Tensor_mode"] = table["aten.div.Scalar_mode"] = divModeRule;
  table["aten.addcmul.default"] = addcmulRule;
  table["aten.addcdiv.default"] = addcdivRule;
  table["aten.maximum.default"] = table["aten.max.other"] = extremeRule<true>;
  table["aten.minimum.default"] = table["aten.min.other"] = extremeRule<false>;
  for (StringRef target : {"clamp.default", "clamp.Tensor", "clamp_min.default", "clamp_max.default"})
    table[("aten." + target).str()] = clampRule;
  for (StringRef overload : {"self", "Scalar", "ScalarSelf", "ScalarOther"})
    table[("aten.where." + overload).str()] = whereRule;
  table["aten.masked_fill.Scalar"] = table["aten.masked_fill.Tensor"] = maskedFillRule;
  table["aten.pow.Tensor_Scalar"] = powRule;
  table["aten.square.default"] = squareRule;
  table["aten.neg.default"] = negRule;
  table["aten.abs.default"] = absRule;
  for (StringRef target : {"floor.default", "ceil.default", "round.default", "round.decimals", "trunc.default",
                           "fix.default", "sign.default", "sgn.default"})
    table[("aten." + target).str()] = zeroRule;
}
