//===- functions.cpp - derivatives of elementwise functions ---------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"

using namespace mlir;
using namespace meshplan;

static constexpr double twoOverRootPi = 1.1283791670955126, ln2 = 0.6931471805599453, ln10 = 2.302585092994046;

/// The gradient times the slope that `Slope` computes.
template <Value (*Slope)(const Derivation &, const Arithmetic &)> static void slopeRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", math.mul(derivation.gradient(), Slope(derivation, math)));
}

// Slopes are computed from the result where that is possible, as for exp: the result is held for its readers anyway,
// and the operand may be freed.
static Value resultItself(const Derivation &derivation, const Arithmetic &) { return derivation.result(); }
static Value cosine(const Derivation &derivation, const Arithmetic &math) {
  return math.unary("aten.cos.default", derivation.operand("self"));
}
static Value minusSine(const Derivation &derivation, const Arithmetic &math) {
  return math.neg(math.unary("aten.sin.default", derivation.operand("self")));
}
static Value expOf2(const Derivation &derivation, const Arithmetic &math) { return math.mul(derivation.result(), ln2); }
static Value expMinus1(const Derivation &derivation, const Arithmetic &math) {
  return math.add(derivation.result(), 1.0);
}
/// 2 / sqrt(pi) * exp(-x^2)
static Value gaussian(const Derivation &derivation, const Arithmetic &math) {
  Value self = derivation.operand("self");
  return math.mul(math.unary("aten.exp.default", math.neg(math.mul(self, self))), twoOverRootPi);
}
/// -1/2 * result^3, for rsqrt.
static Value rsqrtSlope(const Derivation &derivation, const Arithmetic &math) {
  return math.mul(math.pow(derivation.result(), 3), -0.5);
}
/// -result^2, for reciprocal.
static Value reciprocalSlope(const Derivation &derivation, const Arithmetic &math) {
  return math.neg(math.mul(derivation.result(), derivation.result()));
}

/// gradient / (factor * self)
template <const double &Factor> static void logRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", math.div(derivation.gradient(), math.mul(derivation.operand("self"), Factor)));
}
static constexpr double one = 1;

static void log1pRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", math.div(derivation.gradient(), math.add(derivation.operand("self"), 1.0)));
}

static void sqrtRule(Derivation &derivation) {
  Arithmetic math(derivation);
  derivation.give("self", math.div(derivation.gradient(), math.mul(derivation.result(), 2)));
}

/// Calls ATen's own backward operator, which takes the gradient, the operand (`self`) or the result (`output`), and
/// these arguments of the forward call.
static void callBackward(Derivation &derivation, StringRef target, bool takesResult,
                         ArrayRef<StringRef> arguments = {}) {
  Value self = derivation.operand("self");
  CallBuilder call = derivation.make(target);
  call.tensor("grad_output", derivation.gradient());
  call.tensor(takesResult ? "output" : "self", takesResult ? derivation.result() : self);
  for (StringRef name : arguments)
    call.literal(name, derivation.getView().get(name));
  derivation.give("self", call.build(shapeOf(self), elementOf(self)));
}

static void sigmoidRule(Derivation &derivation) {
  callBackward(derivation, "aten.sigmoid_backward.default", /*takesResult=*/true);
}
static void tanhRule(Derivation &derivation) {
  callBackward(derivation, "aten.tanh_backward.default", /*takesResult=*/true);
}
static void siluRule(Derivation &derivation) { callBackward(derivation, "aten.silu_backward.default", false); }
static void geluRule(Derivation &derivation) {
  callBackward(derivation, "aten.gelu_backward.default", false, {"approximate"});
}
static void hardswishRule(Derivation &derivation) {
  callBackward(derivation, "aten.hardswish_backward.default", false);
}
static void hardsigmoidRule(Derivation &derivation) {
  callBackward(derivation, "aten.hardsigmoid_backward.default", false);
}
static void mishRule(Derivation &derivation) { callBackward(derivation, "aten.mish_backward.default", false); }

/// The gradient where the result is positive.
static void reluRule(Derivation &derivation) {
  // The result is positive where the operand is, so the operand need not be held.
  Value result = derivation.result();
  Value gradient = derivation.make("aten.threshold_backward.default")
                       .tensor("grad_output", derivation.gradient())
                       .tensor("self", result)
                       .number("threshold", 0)
                       .build(shapeOf(result), elementOf(result));
  derivation.give("self", gradient);
}

static void leakyReluRule(Derivation &derivation) {
  Value self = derivation.operand("self");
  Value gradient = derivation.make("aten.leaky_relu_backward.default")
                       .tensor("grad_output", derivation.gradient())
                       .tensor("self", self)
                       .number("negative_slope", derivation.getView().getFloat("negative_slope", 0.01))
                       .flag("self_is_result", false)
                       .build(shapeOf(self), elementOf(self));
  derivation.give("self", gradient);
}

/// gradient * sigmoid(beta * value), rounded once.
static void giveSoftplus(Derivation &derivation, Value gradient, Value value, double beta, double threshold) {
  derivation.give("self", derivation.make("aten.softplus_backward.default")
                              .tensor("grad_output", gradient)
                              .tensor("self", value)
                              .number("beta", beta)
                              .number("threshold", threshold)
                              .build(shapeOf(value), elementOf(value)));
}

static void softplusRule(Derivation &derivation) {
  giveSoftplus(derivation, derivation.gradient(), derivation.operand("self"), derivation.getView().getFloat("beta", 1),
               derivation.getView().getFloat("threshold", 20));
}

static void eluRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  Value self = derivation.operand("self");
  Value gradient = derivation.make("aten.elu_backward.default")
                       .tensor("grad_output", derivation.gradient())
                       .number("alpha", view.getFloat("alpha", 1))
                       .number("scale", view.getFloat("scale", 1))
                       .number("input_scale", view.getFloat("input_scale", 1))
                       .flag("is_result", false)
                       .tensor("self_or_result", self)
                       .build(shapeOf(self), elementOf(self));
  derivation.give("self", gradient);
}

/// Gradients pass strictly between the bounds.
static void boundedRule(Derivation &derivation, double least, double most) {
  Value self = derivation.operand("self");
  Value gradient = derivation.make("aten.hardtanh_backward.default")
                       .tensor("grad_output", derivation.gradient())
                       .tensor("self", self)
                       .number("min_val", least)
                       .number("max_val", most)
                       .build(shapeOf(self), elementOf(self));
  derivation.give("self", gradient);
}
static void hardtanhRule(Derivation &derivation) {
  boundedRule(derivation, derivation.getView().getFloat("min_val", -1), derivation.getView().getFloat("max_val", 1));
}
static void relu6Rule(Derivation &derivation) { boundedRule(derivation, 0, 6); }

/// log(sigmoid(x)) is -softplus(-x).
static void logSigmoidRule(Derivation &derivation) {
  // The slope is sigmoid(-x), which is also the slope of softplus at -x: the two signs cancel.
  Value negated = Arithmetic(derivation).neg(derivation.operand("self"));
  giveSoftplus(derivation, derivation.gradient(), negated, 1, 20);
}

/// Without training, dropout is the identity. Dropout that is not numbered (LowerRandomOps) cannot be repeated.
static void dropoutRule(Derivation &derivation) {
  const CallView &view = derivation.getView();
  if (view.getBool("train", false) && view.getFloat("p", 0) != 0)
    return derivation.refuse("it draws random numbers");
  derivation.give(0, derivation.gradient());
}

/// Drops the same elements of the gradient: their random numbers are recomputed from the seed, step and number, and for
/// rows from their positions.
static void dropAgain(Derivation &derivation, StringRef input, ArrayRef<StringRef> others) {
  const CallView &view = derivation.getView();
  Value dropped = derivation.operand(input);
  CallBuilder call = derivation.make(view.target);
  call.tensor(input, derivation.gradient());
  for (StringRef other : others)
    call.tensor(other, derivation.operand(other));
  derivation.give(input, call.literal("p", view.get("p"))
                             .literal("number", view.get("number"))
                             .build(shapeOf(dropped), elementOf(dropped)));
}

static void dropByNumberRule(Derivation &derivation) { dropAgain(derivation, "input", {"seed", "step"}); }

static void dropRowsRule(Derivation &derivation) { dropAgain(derivation, "rows", {"positions", "seed", "step"}); }

void meshplan::addFunctionDerivatives(DerivativeTable &table) {
  table["aten.exp.default"] = slopeRule<resultItself>;
  table["aten.exp2.default"] = slopeRule<expOf2>;
  table["aten.expm1.default"] = slopeRule<expMinus1>;
  table["aten.sin.default"] = slopeRule<cosine>;
  table["aten.cos.default"] = slopeRule<minusSine>;
  table["aten.erf.default"] = slopeRule<gaussian>;
  table["aten.rsqrt.default"] = slopeRule<rsqrtSlope>;
  table["aten.reciprocal.default"] = slopeRule<reciprocalSlope>;
  table["aten.log.default"] = logRule<one>;
  table["aten.log2.default"] = logRule<ln2>;
  table["aten.log10.default"] = logRule<ln10>;
  table["aten.log1p.default"] = log1pRule;
  table["aten.sqrt.default"] = sqrtRule;
  table["aten.sigmoid.default"] = sigmoidRule;
  table["aten.tanh.default"] = tanhRule;
  table["aten.silu.default"] = siluRule;
  table["aten.gelu.default"] = geluRule;
  table["aten.hardswish.default"] = hardswishRule;
  table["aten.hardsigmoid.default"] = hardsigmoidRule;
  table["aten.mish.default"] = mishRule;
  table["aten.relu.default"] = reluRule;
  table["aten.leaky_relu.default"] = leakyReluRule;
  table["aten.softplus.default"] = softplusRule;
  table["aten.elu.default"] = eluRule;
  table["aten.hardtanh.default"] = hardtanhRule;
  table["aten.relu6.default"] = relu6Rule;
  table["aten.log_sigmoid.default"] = logSigmoidRule;
  table["aten.dropout.default"] = dropoutRule;
  table["meshplan.dropout"] = dropByNumberRule;
  table["meshplan.dropout_rows"] = dropRowsRule;
  table["meshplan.uniform"] = noGradient;
}
