//===- reduction.cpp - derivatives of reductions --------------------------===//

#include "compiler/derivatives/arithmetic.h"
#include "compiler/derivatives/derivative_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"

using namespace mlir;
using namespace meshplan;

/// The operand's shape with size 1 in the reduced dims.
static SmallVector<int64_t> keptShape(const Derivation &derivation) {
  SmallVector<int64_t> shape(shapeOf(derivation.operand("self"))), dims;
  const CallView &view = derivation.getView();
  if (std::optional<SmallVector<int64_t>> list = view.getInts("dim"))
    dims = *list;
  else if (view.get("dim"))
    dims = {view.getInt("dim", 0)};
  if (dims.empty())
    return SmallVector<int64_t>(shape.size(), 1);
  for (int64_t dim : dims)
    if (int64_t own = normalizeDim(dim, shape.size()); own >= 0 && own < static_cast<int64_t>(shape.size()))
      shape[own] = 1;
  return shape;
}

/// Each element was added once, so it gets the gradient of its sum.
static void sumRule(Derivation &derivation) {
  derivation.give("self", Arithmetic(derivation).reshape(derivation.gradient(), keptShape(derivation)));
}

static void meanRule(Derivation &derivation) {
  Arithmetic math(derivation);
  SmallVector<int64_t> kept = keptShape(derivation);
  int64_t count = ShapedType::getNumElements(shapeOf(derivation.operand("self"))) /
                  std::max<int64_t>(1, ShapedType::getNumElements(kept));
  Value gradient = math.reshape(derivation.gradient(), kept);
  derivation.give("self", math.scalar("aten.div.Scalar", gradient, static_cast<double>(count)));
}

/// Elements that equal the extreme share its gradient.
static void extremeValueRule(Derivation &derivation) {
  Arithmetic math(derivation);
  SmallVector<int64_t> kept = keptShape(derivation), dims;
  Value self = derivation.operand("self");
  for (auto [dim, size] : llvm::enumerate(kept))
    // The sum over a dim of one element is that element, so such a dim is left out.
    if (size != shapeOf(self)[dim])
      dims.push_back(dim);
  Value gradient = math.reshape(derivation.gradient(), kept);
  Value mask =
      math.convert(math.compare("aten.eq.Tensor", self, math.reshape(derivation.result(), kept)), elementOf(gradient));
  derivation.give("self", math.mul(mask, math.div(gradient, math.sum(mask, dims, /*keeps=*/true))));
}

static void logsumexpRule(Derivation &derivation) {
  Arithmetic math(derivation);
  SmallVector<int64_t> kept = keptShape(derivation);
  Value shares =
      math.unary("aten.exp.default", math.sub(derivation.operand("self"), math.reshape(derivation.result(), kept)));
  derivation.give("self", math.mul(math.reshape(derivation.gradient(), kept), shares));
}

/// 2 / (count - correction) * (self - mean) for a variance; for a deviation half of that, divided by the deviation. A
/// second result is the mean.
template <bool IsDeviation> static void varianceRule(Derivation &derivation) {
  Arithmetic math(derivation);
  const CallView &view = derivation.getView();
  Value self = derivation.operand("self");
  SmallVector<int64_t> kept = keptShape(derivation), dims;
  int64_t count = 1;
  for (auto [dim, size] : llvm::enumerate(shapeOf(self)))
    if (kept[dim] != size) {
      dims.push_back(dim);
      count *= size;
    }
  double divisor = static_cast<double>(count) - view.getFloat("correction", 1);
  // PyTorch's result is NaN or infinite, and so is its gradient, which the runtime computes in the same way.
  if (divisor <= 0)
    return differentiateAtRunTime(derivation);
  if (Value gradient = view.results.size() > 1 ? derivation.gradient(1) : Value())
    derivation.give("self", math.scalar("aten.div.Scalar", math.reshape(gradient, kept), static_cast<double>(count)));
  Value gradient = derivation.gradient(0);
  if (!gradient)
    return;
  // Recomputed: the forward call keeps only the variance.
  Value mean = math.scalar("aten.div.Scalar", math.sum(self, dims, /*keeps=*/true), static_cast<double>(count));
  Value slope = math.mul(math.sub(self, mean), (IsDeviation ? 1 : 2) / divisor);
  if (IsDeviation) {
    // Where the deviation is zero, so is the gradient.
    Value isZero = math.compare("aten.eq.Scalar", derivation.result(), 0);
    gradient = math.dropWhere(isZero, math.div(gradient, derivation.result()));
  }
  derivation.give("self", math.mul(math.reshape(gradient, kept), slope));
}

/// A cumulative sum in the reverse direction: element i was added to all results from i on.
static void cumsumRule(Derivation &derivation) {
  Value gradient = derivation.gradient();
  int64_t rank = rankOf(gradient), dim = normalizeDim(derivation.getView().getInt("dim", 0), rank);
  if (rank == 0)
    return derivation.give("self", gradient);
  auto flip = [&](Value value) {
    return derivation.make("aten.flip.default")
        .tensor("self", value)
        .integers("dims", {dim})
        .build(shapeOf(value), elementOf(value));
  };
  Value sums = derivation.make("aten.cumsum.default")
                   .tensor("self", flip(gradient))
                   .integer("dim", dim)
                   .build(shapeOf(gradient), elementOf(gradient));
  derivation.give("self", flip(sums));
}

void meshplan::addReductionDerivatives(DerivativeTable &table) {
  table["aten.sum.default"] = table["aten.sum.dim_IntList"] = sumRule;
  table["aten.mean.default"] = table["aten.mean.dim"] = meanRule;
  for (StringRef target : {"amax.default", "amin.default", "max.default", "min.default"})
    table[("aten." + target).str()] = extremeValueRule;
  table["aten.logsumexp.default"] = logsumexpRule;
  table["aten.var.correction"] = table["aten.var_mean.correction"] = varianceRule<false>;
  table["aten.std.correction"] = table["aten.std_mean.correction"] = varianceRule<true>;
  table["aten.cumsum.default"] = cumsumRule;
  for (StringRef target : {"argmax.default", "argmin.default", "count_nonzero.default", "count_nonzero.dim_IntList",
                           "any.default", "any.dim", "all.default", "all.dim"})
    table[("aten." + target).str()] = noGradient;
}
