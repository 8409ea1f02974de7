//===- norms.cpp - derivatives of norms of vectors ------------------------===//
//
// As in PyTorch's autograd: the gradient of a zero vector is zero, and elements that equal the extreme share its
// gradient.
//
//===----------------------------------------------------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include <cmath>

using namespace mlir;
using namespace meshplan;

namespace {

/// A norm of `self` along some dims, with its value and its gradient. Both keep the dims, with size 1.
struct Norm {
  Value self, value, gradient;
  double order;
  SmallVector<int64_t> dims;
};

} // namespace

/// For norms of order infinity and minus infinity.
static Value extremeGradient(const Arithmetic &math, const Norm &norm) {
  Value sizes = math.unary("aten.abs.default", norm.self);
  Value isExtreme = math.convert(math.compare("aten.eq.Tensor", sizes, norm.value), elementOf(norm.gradient));
  Value share = math.div(norm.gradient, math.sum(isExtreme, norm.dims, /*keeps=*/true));
  return math.mul(math.mul(math.unary("aten.sgn.default", norm.self), isExtreme), share);
}

/// sign(x) |x|^(p - 1) / norm^(p - 1), in the form that PyTorch uses for each order.
static Value gradientOf(const Arithmetic &math, const Norm &norm) {
  double order = norm.order;
  if (order == 0)
    return math.zerosLike(norm.self);
  if (std::isinf(order))
    return extremeGradient(math, norm);
  if (order == 1)
    return math.mul(math.unary("aten.sgn.default", norm.self), norm.gradient);
  Value isZero = math.compare("aten.eq.Scalar", norm.value, 0);
  if (order == 2)
    return math.mul(norm.self, math.dropWhere(isZero, math.div(norm.gradient, norm.value)));
  Value sizes = math.unary("aten.abs.default", norm.self);
  if (order > 2) {
    // |x| / norm is at most 1, so that its power does not overflow where that of |x| would.
    Value shares = math.pow(math.dropWhere(isZero, math.div(sizes, norm.value)), order - 2);
    return math.mul(math.mul(norm.self, shares), math.dropWhere(isZero, math.div(norm.gradient, norm.value)));
  }
  Value sign = math.unary("aten.sgn.default", norm.self);
  if (order < 1) {
    Value slope = math.mul(sign, math.pow(sizes, order - 1));
    // |0|^(p - 1) is infinite for an order below 1.
    slope = math.dropWhere(math.compare("aten.eq.Scalar", norm.self, 0), slope);
    return math.mul(math.mul(slope, norm.gradient), math.pow(norm.value, 1 - order));
  }
  Value scale = math.dropWhere(isZero, math.div(norm.gradient, math.pow(norm.value, order - 1)));
  return math.mul(math.mul(sign, math.pow(sizes, order - 1)), scale);
}

/// The dims of the argument `dim`, or all if it is absent or empty.
static SmallVector<int64_t> dimsOf(const CallView &view, int64_t rank) {
  SmallVector<int64_t> dims = view.getInts("dim").value_or(SmallVector<int64_t>());
  if (isa_and_present<IntegerAttr>(view.get("dim")))
    dims.push_back(view.getInt("dim", 0));
  for (int64_t dim = 0, isEmpty = dims.empty(); isEmpty && dim < rank; ++dim)
    dims.push_back(dim);
  for (int64_t &dim : dims)
    dim = normalizeDim(dim, rank);
  return dims;
}

static void vectorNormRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  Value self = derivation.operand("self");
  SmallVector<int64_t> dims = dimsOf(view, rankOf(self)), kept(shapeOf(self));
  StringRef name = view.target.starts_with("aten.norm.") ? "p" : "ord";
  bool hasOrder = isa_and_present<FloatAttr, IntegerAttr>(view.get(name));
  // Two dims together with an order are a matrix norm.
  if (view.target == "aten.linalg_norm.default" && hasOrder && dims.size() != 1)
    return differentiateAtRunTime(derivation);
  for (int64_t dim : dims)
    kept[dim] = 1;
  Norm norm{math.convert(self, elementOf(derivation.result())), math.reshape(derivation.result(), kept),
            math.reshape(derivation.gradient(), kept), view.getFloat(name, 2), dims};
  derivation.give("self", gradientOf(math, norm));
}

//===----------------------------------------------------------------------===//
// Pairs of vectors
//===----------------------------------------------------------------------===//

static Value normAlong(const Derivation &derivation, Value self, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(self));
  shape[dim] = 1;
  return derivation.make("aten.linalg_vector_norm.default")
      .tensor("self", self)
      .number("ord", 2)
      .integers("dim", {dim})
      .flag("keepdim", true)
      .build(shape, elementOf(self));
}

/// True if both are vectors of the same size along the dim and have the same type.
static bool areAlike(Value left, Value right, int64_t dim) {
  return rankOf(left) == rankOf(right) && dim >= 0 && dim < rankOf(left) && shapeOf(left)[dim] == shapeOf(right)[dim] &&
         elementOf(left) == elementOf(right);
}

/// (other - self * cosine / |self|) / divisor, where `other` is normalized and the divisor is |self| or epsilon.
/// PyTorch does not differentiate through the choice of the divisor.
static void cosineRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  Value left = derivation.operand("x1"), right = derivation.operand("x2");
  int64_t dim = normalizeDim(view.getInt("dim", 1), rankOf(left));
  if (!areAlike(left, right, dim))
    return differentiateAtRunTime(derivation);
  SmallVector<int64_t> kept(shapeOf(left));
  for (auto [size, other] : llvm::zip_equal(kept, shapeOf(right)))
    size = std::max(size, other);
  kept[dim] = 1;
  Value cosine = math.reshape(derivation.result(), kept), gradient = math.reshape(derivation.gradient(), kept);
  Value norms[] = {normAlong(derivation, left, dim), normAlong(derivation, right, dim)}, divisors[2];
  for (int side : {0, 1})
    divisors[side] = derivation.make("aten.clamp_min.default")
                         .tensor("self", norms[side])
                         .number("min", view.getFloat("eps", 1e-8))
                         .build(shapeOf(norms[side]), elementOf(norms[side]));
  auto give = [&](StringRef name, Value own, Value other, int side) {
    if (!derivation.wants(name))
      return;
    Value isZero = math.compare("aten.eq.Scalar", norms[side], 0);
    Value along = math.mul(own, math.dropWhere(isZero, math.div(cosine, norms[side])));
    Value slope = math.div(math.sub(math.div(other, divisors[1 - side]), along), divisors[side]);
    derivation.give(name, math.mul(gradient, slope));
  };
  give("x1", left, right, 0);
  give("x2", right, left, 1);
}

/// The gradient of the norm of the difference, to which `eps` is added.
static void distanceRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  Value left = derivation.operand("x1"), right = derivation.operand("x2");
  int64_t dim = rankOf(left) - 1;
  if (!areAlike(left, right, dim))
    return differentiateAtRunTime(derivation);
  Value difference = math.add(math.sub(left, right), view.getFloat("eps", 1e-6));
  SmallVector<int64_t> kept(shapeOf(difference));
  kept[dim] = 1;
  Norm norm{difference,
            math.reshape(derivation.result(), kept),
            math.reshape(derivation.gradient(), kept),
            view.getFloat("p", 2),
            {dim}};
  Value gradient = gradientOf(math, norm);
  derivation.give("x1", gradient);
  if (derivation.wants("x2"))
    derivation.give("x2", math.neg(gradient));
}

void meshplan::addNormDerivatives(DerivativeTable &table) {
  for (StringRef target : {"linalg_vector_norm.default", "linalg_norm.default", "norm.Scalar", "norm.ScalarOpt_dim"})
    table[("aten." + target).str()] = vectorNormRule;
  table["aten.cosine_similarity.default"] = cosineRule;
  table["aten.pairwise_distance.default"] = distanceRule;
}
