//===- norms.cpp - norms of vectors along split dims ----------------------===//
//
// Sums of powers, or the largest absolute value, are reduced over ranks; then the root is taken. 16-bit numbers are
// summed in f32, as PyTorch does on CPU.
//
//===----------------------------------------------------------------------===//

#include "compiler/compositions/composition_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"
#include <cmath>

using namespace mlir;
using namespace meshplan;

/// The order of the norm: 2 if the argument is absent or None.
static double orderOf(const CallView &call) {
  return call.getFloat(call.target.starts_with("aten.norm.") ? "p" : "ord", 2);
}

static int64_t rankOfSelf(const CallView &call) {
  std::optional<unsigned> self = call.getOperand("self");
  return self ? call.operands[*self].getRank() : 0;
}

static std::optional<ComposedDims> vectorDims(const CallView &call, plan::MeshOp) {
  return severalDims(call, "self", dimsOf(call, rankOfSelf(call)), numberBytes);
}

/// Two dims together with an order are a matrix norm, which is not composed.
static std::optional<ComposedDims> generalDims(const CallView &call, plan::MeshOp mesh) {
  std::optional<ComposedDims> dims = vectorDims(call, mesh);
  bool hasOrder = isa_and_present<FloatAttr, IntegerAttr>(call.get("ord"));
  bool isVector = dims && (!hasOrder || (dims->dims.size() == 1 && (call.get("dim") || rankOfSelf(call) == 1)));
  return isVector ? dims : std::nullopt;
}

/// The maximum or minimum of the absolute values: the norms of order infinity and minus infinity.
static Value extreme(const Composition &composition, Value sizes, ArrayRef<int64_t> dims, bool isLargest) {
  Arithmetic math = composition.math();
  Value largest = composition.reduce("aten.amax.default", isLargest ? sizes : math.neg(sizes), dims);
  return isLargest ? largest : math.neg(largest);
}

static Value sumOfPowers(const Composition &composition, Value self, double order, ArrayRef<int64_t> dims, Type type) {
  SmallVector<int64_t> shape(shapeOf(self));
  for (int64_t dim : dims)
    shape[dim] = 1;
  return composition.make("aten.linalg__powsum.default")
      .tensor("self", self)
      .number("ord", order)
      .integers("dim", dims)
      .flag("keepdim", true)
      .type("dtype", type)
      .build(shape, type);
}

/// The norm of `self` along `dims`, computed in `type`; the dims are kept with size 1.
static Value normOf(const Composition &composition, Value self, double order, ArrayRef<int64_t> dims, Type type) {
  Arithmetic math = composition.math();
  if (std::isinf(order))
    return extreme(composition, math.unary("aten.abs.default", self), dims, order > 0);
  if (order == 0)
    return composition.reduce("aten.sum.dim_IntList", math.convert(math.compare("aten.ne.Scalar", self, 0), type),
                              dims);
  Value sums = sumOfPowers(composition, self, order, dims, type);
  return order == 2 ? math.unary("aten.sqrt.default", sums) : math.pow(sums, 1 / order);
}

/// The type in which numbers of type `element` are summed.
static Type sumType(Type element) {
  return element.getIntOrFloatBitWidth() == 16 ? Float32Type::get(element.getContext()) : element;
}

static void vectorNorm(Composition &composition) {
  Value self = composition.operand("self");
  SmallVector<int64_t> dims = *dimsOf(composition.getView(), rankOf(self));
  Type type = sumType(elementOf(composition.result()));
  composition.give(normOf(composition, self, orderOf(composition.getView()), dims, type));
}

//===----------------------------------------------------------------------===//
// Pairs of vectors
//===----------------------------------------------------------------------===//

/// Both operands must have the dim: one that is broadcast along it cannot be split.
static std::optional<ComposedDims> pairDims(const CallView &call, int64_t dim, int64_t exchanged) {
  std::optional<unsigned> left = call.getOperand("x1"), right = call.getOperand("x2");
  std::optional<ComposedDims> dims = oneDim(call, "x1", dim, exchanged);
  if (!dims || !right || call.operands[*left].getRank() != call.operands[*right].getRank() ||
      call.operands[*left].getDimSize(dims->dims[0]) != call.operands[*right].getDimSize(dims->dims[0]))
    return std::nullopt;
  dims->operands.push_back(*right);
  return dims;
}

static std::optional<ComposedDims> cosineDims(const CallView &call, plan::MeshOp) {
  return pairDims(call, call.getInt("dim", 1), 3 * numberBytes);
}

/// Both are divided by their norms, which are at least `eps`; the result is the sum of the products.
static void cosine(Composition &composition) {
  Arithmetic math = composition.math();
  Type type = sumType(elementOf(composition.result()));
  Value left = composition.operand("x1"), right = composition.operand("x2");
  SmallVector<int64_t> dims{normalizeDim(composition.getView().getInt("dim", 1), rankOf(left))};
  auto unit = [&](Value vectors) {
    Value norms = composition.know("norm", vectors, dims, [&] { return normOf(composition, vectors, 2, dims, type); });
    Value divisors = composition.make("aten.clamp_min.default")
                         .tensor("self", norms)
                         .number("min", composition.getView().getFloat("eps", 1e-8))
                         .build(shapeOf(norms), type);
    return math.div(composition.wide(vectors), divisors);
  };
  composition.give(composition.reduce("aten.sum.dim_IntList", math.mul(unit(left), unit(right)), dims));
}

static std::optional<ComposedDims> distanceDims(const CallView &call, plan::MeshOp) {
  return pairDims(call, -1, numberBytes);
}

/// The norm of the difference, to which `eps` is added.
static void distance(Composition &composition) {
  Arithmetic math = composition.math();
  const CallView &view = composition.getView();
  Value left = composition.wide(composition.operand("x1")), right = composition.wide(composition.operand("x2"));
  Value difference = math.add(math.sub(left, right), view.getFloat("eps", 1e-6));
  composition.give(
      normOf(composition, difference, view.getFloat("p", 2), {rankOf(difference) - 1}, sumType(elementOf(difference))));
}

void meshplan::addNormCompositions(CompositionTable &table) {
  for (StringRef target : {"aten.linalg_vector_norm.default", "aten.norm.Scalar", "aten.norm.ScalarOpt_dim"})
    table[target] = {vectorDims, vectorNorm};
  table["aten.linalg_norm.default"] = {generalDims, vectorNorm};
  table["aten.cosine_similarity.default"] = {cosineDims, cosine};
  table["aten.pairwise_distance.default"] = {distanceDims, distance};
}
