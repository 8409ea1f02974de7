//===- elementwise.cpp - records of elementwise operators -----------------===//
//
// Operators that compute one element of the result from one element of each
// operand, with broadcasting. A new operator is a line of the table.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "compiler/sharding/record_support/linearity.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/memory.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/sharding/records/records.h"
#include <cmath>

using namespace mlir;

namespace meshplan {

/// self + argument::other, together. A literal addend would be added once on each rank.
static Linearity inSum(const CallView &call) { return linearIn(call, {{"self", "other"}}); }

/// self * argument::other, each alone.
static Linearity inFactors(const CallView &call) { return linearIn(call, {{"self"}, {"other"}}); }

/// self / other without rounding.
static Linearity inDividend(const CallView &call) {
  bool rounds = isa_and_present<StringAttr>(call.get("rounding_mode"));
  return rounds || call.results.empty() || !isa<FloatType>(call.results.front().getElementType()) ? Linearity{}
                                                                                                  : inSelf(call);
}

/// Elements are taken from self and other; the choice does not depend on them.
static Linearity inChoices(const CallView &call) { return linearIn(call, {{"self", "other"}}); }

/// Elements of self or a literal. A literal other than 0 would count once on each rank.
template <const char *Literal> static Linearity inSelfOrZero(const CallView &call) {
  return call.getFloat(Literal, 1) == 0 ? inSelf(call) : Linearity{};
}

static constexpr char value[] = "value";

/// self + value * tensor1 * tensor2.
static Linearity inProductAddend(const CallView &call) {
  return linearIn(call, {{"self", "tensor1"}, {"self", "tensor2"}});
}

/// self + value * tensor1 / tensor2.
static Linearity inQuotientAddend(const CallView &call) { return linearIn(call, {{"self", "tensor1"}}); }

/// self + weight * (end - self).
static Linearity inEnds(const CallView &call) { return linearIn(call, {{"self", "end"}}); }

/// Elements of self, or the single element of value.
static Linearity inSelfAndValue(const CallView &call) { return linearIn(call, {{"self", "value"}}); }

namespace {
struct ElementwiseOp {
  StringRef target;
  Linearity (*linearity)(const CallView &);
  OpCost (*cost)(const CallView &);
};
} // namespace

/// Flops of an element: 1 for arithmetic, 4 for division and roots, 10 to 20 for functions that are evaluated by
/// polynomials.
static constexpr auto cheap = pointwiseCost<1>;
static constexpr auto divide = pointwiseCost<4>;
static constexpr auto function = pointwiseCost<10>;
static constexpr auto activation = pointwiseCost<20>;

/// Conditions and masks are read as they are; the other operands may be converted.
static OpCost choice(const CallView &call) {
  CallView values = call;
  std::optional<unsigned> condition = call.getOperand(call.get("mask") ? "mask" : "condition");
  // Masks do not take part in the type promotion of the operands.
  if (condition)
    values.operands.erase(values.operands.begin() + *condition);
  OpCost cost = cheap(values);
  cost.bytes = trafficBytes(call);
  return cost;
}

/// The kernel keeps an intermediate result for a backward pass.
static OpCost logSigmoid(const CallView &call) {
  OpCost cost = activation(call);
  cost.workspaceBytes += tensorBytes(call.results.front());
  return cost;
}

/// Several operators compare: the equal elements, the difference and the allowed difference are live together.
static OpCost closeness(const CallView &call) {
  OpCost cost = pointwiseCost<8>(call);
  int64_t elements = call.results.front().getNumElements();
  cost.workspaceBytes += 2 * elements * (1 + plan::elementBytes(call.operands.front().getElementType()));
  return cost;
}

/// Works on absolute values; finite ones are compared twice.
template <int64_t Comparisons> static OpCost extremeness(const CallView &call) {
  OpCost cost = pointwiseCost<1>(call);
  RankedTensorType self = call.operands.front();
  if (isa<FloatType>(self.getElementType()))
    cost.workspaceBytes = tensorBytes(self) + Comparisons * self.getNumElements();
  return cost;
}

static const ElementwiseOp arithmetic[] = {
    {"aten.add.Tensor", inSum, pointwiseCost<2>},
    {"aten.add.Scalar", notLinear, cheap},
    {"aten.sub.Tensor", inSum, pointwiseCost<2>},
    {"aten.sub.Scalar", notLinear, cheap},
    {"aten.rsub.Tensor", inSum, pointwiseCost<2>},
    {"aten.rsub.Scalar", notLinear, cheap},
    {"aten.mul.Tensor", inFactors, cheap},
    {"aten.mul.Scalar", inSelf, cheap},
    {"aten.div.Tensor", inDividend, divide},
    {"aten.div.Scalar", inDividend, divide},
    {"aten.div.Tensor_mode", inDividend, divide},
    {"aten.div.Scalar_mode", inDividend, divide},
    {"aten.floor_divide.default", notLinear, divide},
    {"aten.floor_divide.Scalar", notLinear, divide},
    {"aten.remainder.Tensor", notLinear, divide},
    {"aten.remainder.Scalar", notLinear, divide},
    {"aten.remainder.Scalar_Tensor", notLinear, divide},
    {"aten.fmod.Tensor", notLinear, divide},
    {"aten.fmod.Scalar", notLinear, divide},
    {"aten.gcd.default", notLinear, function},
    {"aten.lcm.default", notLinear, function},
    {"aten.addcmul.default", inProductAddend, pointwiseCost<3>},
    {"aten.addcdiv.default", inQuotientAddend, pointwiseCost<6>},
    {"aten.lerp.Scalar", inEnds, pointwiseCost<3>},
    {"aten.lerp.Tensor", inEnds, pointwiseCost<3>},
    {"aten.neg.default", inSelf, cheap},
    {"aten.abs.default", notLinear, cheap},
    {"aten.square.default", notLinear, cheap},
};

static const ElementwiseOp functions[] = {
    {"aten.pow.Tensor_Scalar", notLinear, function},   {"aten.pow.Tensor_Tensor", notLinear, activation},
    {"aten.pow.Scalar", notLinear, activation},        {"aten.sqrt.default", notLinear, divide},
    {"aten.rsqrt.default", notLinear, divide},         {"aten.reciprocal.default", notLinear, divide},
    {"aten.exp.default", notLinear, function},         {"aten.log.default", notLinear, function},
    {"aten.log1p.default", notLinear, function},       {"aten.erf.default", notLinear, activation},
    {"aten.cos.default", notLinear, function},         {"aten.sin.default", notLinear, function},
    {"aten.tanh.default", notLinear, activation},      {"aten.sigmoid.default", notLinear, activation},
    {"aten.silu.default", notLinear, activation},      {"aten.gelu.default", notLinear, activation},
    {"aten.relu.default", notLinear, cheap},           {"aten.softplus.default", notLinear, activation},
    {"aten.leaky_relu.default", notLinear, cheap},     {"aten.relu6.default", notLinear, cheap},
    {"aten.hardtanh.default", notLinear, cheap},       {"aten.hardswish.default", notLinear, divide},
    {"aten.hardsigmoid.default", notLinear, divide},   {"aten.elu.default", notLinear, function},
    {"aten.selu.default", notLinear, function},        {"aten.celu.default", notLinear, function},
    {"aten.mish.default", notLinear, activation},      {"aten.log_sigmoid.default", notLinear, logSigmoid},
    {"aten.exp2.default", notLinear, function},        {"aten.expm1.default", notLinear, function},
    {"aten.log2.default", notLinear, function},        {"aten.floor.default", notLinear, cheap},
    {"aten.ceil.default", notLinear, cheap},           {"aten.round.default", notLinear, cheap},
    {"aten.round.decimals", notLinear, cheap},         {"aten.trunc.default", notLinear, cheap},
    {"aten.sign.default", notLinear, cheap},           {"aten.sgn.default", notLinear, cheap},
    {"aten.frac.default", notLinear, cheap},           {"aten.deg2rad.default", inSelf, cheap},
    {"aten.rad2deg.default", inSelf, cheap},           {"aten.tan.default", notLinear, function},
    {"aten.sinh.default", notLinear, function},        {"aten.cosh.default", notLinear, function},
    {"aten.asin.default", notLinear, function},        {"aten.acos.default", notLinear, function},
    {"aten.atan.default", notLinear, function},        {"aten.asinh.default", notLinear, activation},
    {"aten.acosh.default", notLinear, activation},     {"aten.atanh.default", notLinear, activation},
    {"aten.atan2.default", notLinear, activation},     {"aten.hypot.default", notLinear, divide},
    {"aten.log10.default", notLinear, function},       {"aten.logit.default", notLinear, function},
    {"aten.logaddexp.default", notLinear, activation}, {"aten.logaddexp2.default", notLinear, activation},
    {"aten.xlogy.Tensor", notLinear, function},        {"aten.xlogy.Scalar_Self", notLinear, function},
    {"aten.xlogy.Scalar_Other", notLinear, function},  {"aten.erfc.default", notLinear, activation},
    {"aten.erfinv.default", notLinear, activation},    {"aten.lgamma.default", notLinear, activation},
    {"aten.digamma.default", notLinear, activation},   {"aten.sinc.default", notLinear, function},
    {"aten.threshold.default", notLinear, cheap},      {"aten.softshrink.default", notLinear, cheap},
    {"aten.hardshrink.default", notLinear, cheap},     {"aten._prelu_kernel.default", notLinear, cheap},
};

static const ElementwiseOp choicesAndComparisons[] = {
    {"aten.clamp_min.default", notLinear, cheap},
    {"aten.clamp_max.default", notLinear, cheap},
    {"aten.clamp.default", notLinear, cheap},
    {"aten.clamp_min.Tensor", notLinear, cheap},
    {"aten.clamp_max.Tensor", notLinear, cheap},
    {"aten.clamp.Tensor", notLinear, cheap},
    {"aten.fmax.default", notLinear, cheap},
    {"aten.fmin.default", notLinear, cheap},
    {"aten.copysign.Tensor", notLinear, cheap},
    {"aten.copysign.Scalar", notLinear, cheap},
    {"aten.heaviside.default", notLinear, cheap},
    {"aten.signbit.default", notLinear, cheap},
    {"aten.maximum.default", notLinear, cheap},
    {"aten.minimum.default", notLinear, cheap},
    {"aten.max.other", notLinear, cheap},
    {"aten.min.other", notLinear, cheap},
    {"aten.where.self", inChoices, choice},
    {"aten.where.ScalarOther", inSelfOrZero<argument::other>, choice},
    {"aten.where.ScalarSelf", notLinear, choice},
    {"aten.where.Scalar", notLinear, cheap},
    {"aten.masked_fill.Scalar", inSelfOrZero<value>, choice},
    {"aten.masked_fill.Tensor", inSelfAndValue, choice},
    {"aten.eq.Tensor", notLinear, cheap},
    {"aten.eq.Scalar", notLinear, cheap},
    {"aten.ne.Tensor", notLinear, cheap},
    {"aten.ne.Scalar", notLinear, cheap},
    {"aten.lt.Tensor", notLinear, cheap},
    {"aten.lt.Scalar", notLinear, cheap},
    {"aten.le.Tensor", notLinear, cheap},
    {"aten.le.Scalar", notLinear, cheap},
    {"aten.gt.Tensor", notLinear, cheap},
    {"aten.gt.Scalar", notLinear, cheap},
    {"aten.ge.Tensor", notLinear, cheap},
    {"aten.ge.Scalar", notLinear, cheap},
    {"aten.logical_and.default", notLinear, cheap},
    {"aten.logical_or.default", notLinear, cheap},
    {"aten.logical_xor.default", notLinear, cheap},
    {"aten.logical_not.default", notLinear, cheap},
    {"aten.bitwise_and.Tensor", notLinear, cheap},
    {"aten.bitwise_or.Tensor", notLinear, cheap},
    {"aten.bitwise_xor.Tensor", notLinear, cheap},
    {"aten.bitwise_not.default", notLinear, cheap},
    {"aten.__and__.Tensor", notLinear, cheap},
    {"aten.__and__.Scalar", notLinear, cheap},
    {"aten.__or__.Tensor", notLinear, cheap},
    {"aten.__or__.Scalar", notLinear, cheap},
    {"aten.__xor__.Tensor", notLinear, cheap},
    {"aten.__xor__.Scalar", notLinear, cheap},
    {"aten.bitwise_and.Scalar", notLinear, cheap},
    {"aten.bitwise_or.Scalar", notLinear, cheap},
    {"aten.bitwise_xor.Scalar", notLinear, cheap},
    {"aten.bitwise_left_shift.Tensor", notLinear, cheap},
    {"aten.bitwise_left_shift.Tensor_Scalar", notLinear, cheap},
    {"aten.bitwise_right_shift.Tensor", notLinear, cheap},
    {"aten.bitwise_right_shift.Tensor_Scalar", notLinear, cheap},
    {"aten.__lshift__.Tensor", notLinear, cheap},
    {"aten.__lshift__.Scalar", notLinear, cheap},
    {"aten.__rshift__.Tensor", notLinear, cheap},
    {"aten.__rshift__.Scalar", notLinear, cheap},
    {"aten.isnan.default", notLinear, cheap},
    {"aten.isinf.default", notLinear, extremeness<0>},
    {"aten.isfinite.default", notLinear, extremeness<2>},
    {"aten.isclose.default", notLinear, closeness},
    {"aten.nan_to_num.default", notLinear, cheap},
};

//===----------------------------------------------------------------------===//
// prelu: one slope for all elements, or one for each feature (dim 1)
//===----------------------------------------------------------------------===//

static FactorRule preluRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef self = builder.operand("self"), weight = builder.operand("weight"), result = builder.result();
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    builder.tie({self[dim], dim == 1 ? weight[0] : DimRef(), result[dim]});
  return builder.finish();
}

//===----------------------------------------------------------------------===//
// isin: whether each element is among the test elements, all of which are needed
//===----------------------------------------------------------------------===//

static FactorRule isinRule(const CallView &call) {
  RuleBuilder builder(call);
  TensorRef elements = builder.operand("elements"), result = builder.result();
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    builder.tie({elements[dim], result[dim]});
  return builder.finish();
}

/// Few test elements are compared one by one. Among many, a sort finds the elements: copies of both without duplicates
/// (counted as if there were none), their sorted concatenation, the indices of all, and three masks.
static OpCost isinCost(const CallView &call) {
  OpCost cost = copyCost(call);
  std::optional<unsigned> tests = call.getOperand("test_elements"), elements = call.getOperand("elements");
  int64_t count = elements ? call.operands[*elements].getNumElements() : 1;
  int64_t tested = tests ? call.operands[*tests].getNumElements() : 1;
  cost.flops = count * std::min<int64_t>(tested, 20);
  if (static_cast<double>(tested) >= 10 * std::pow(static_cast<double>(count), 0.145))
    cost.workspaceBytes =
        (count + tested) * (3 * plan::elementBytes(call.operands.front().getElementType()) + 10) + 9 * count;
  return cost;
}

void addElementwiseRecords(OpRegistry &registry) {
  for (const ElementwiseOp &op : llvm::concat<const ElementwiseOp>(arithmetic, functions, choicesAndComparisons))
    registry.add({.target = op.target,
                  .rule = alignedRule,
                  .linearity = op.linearity,
                  .cost = op.cost,
                  .strides = likeOperands,
                  .isPointwise = true});
  registry.add(
      {.target = "aten.prelu.default", .rule = preluRule, .linearity = notLinear, .cost = cheap, .strides = likeCopy});
  for (StringRef target : {"aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar"})
    registry.add({.target = target, .rule = isinRule, .linearity = notLinear, .cost = isinCost});
}

} // namespace meshplan
