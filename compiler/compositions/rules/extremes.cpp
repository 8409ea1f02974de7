//===- extremes.cpp - maxima and minima over split dims -------------------===//
//
// A minimum is the maximum of the elements in reversed order. The index of an extreme is one more maximum: among the
// elements that equal the extreme, of their indices counted from the end, so that the first of equal elements wins, as
// in PyTorch. As in PyTorch too, a NaN is both the maximum and the minimum of its row.
//
// Example: the row [3, 7, 7, 1]. The maximum is 7; the elements that equal it have the indices 1 and 2, counted from
// the end (size - index) 3 and 2. Their maximum is 3, so the result is 4 - 3 = 1.
//
//===----------------------------------------------------------------------===//

#include "compiler/compositions/composition_rules.h"

using namespace mlir;
using namespace meshplan;

static int64_t bytesOf(const CallView &call, StringRef name) {
  std::optional<unsigned> operand = call.getOperand(name);
  return operand ? plan::elementBytes(call.operands[*operand].getElementType()) : 0;
}

static std::optional<SmallVector<int64_t>> dimsOfSelf(const CallView &call) {
  std::optional<unsigned> self = call.getOperand("self");
  return self ? dimsOf(call, call.operands[*self].getRank()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The value with its order reversed. For integers bitwise not, which cannot overflow.
static Value turned(const Arithmetic &math, Value value) {
  Type element = elementOf(value);
  if (isa<FloatType>(element))
    return math.neg(value);
  return math.unary(element.isInteger(1) ? "aten.logical_not.default" : "aten.bitwise_not.default", value);
}

static Value largest(const Composition &composition, Value self, ArrayRef<int64_t> dims) {
  return composition.know("maximum", self, dims, [&] { return composition.reduce("aten.amax.default", self, dims); });
}

static Value least(const Composition &composition, Value self, ArrayRef<int64_t> dims) {
  Arithmetic math = composition.math();
  return composition.know("minimum", self, dims, [&] {
    return turned(math, composition.reduce("aten.amax.default", turned(math, self), dims));
  });
}

template <int64_t Numbers> static std::optional<ComposedDims> valueDims(const CallView &call, plan::MeshOp) {
  return severalDims(call, "self", dimsOfSelf(call), Numbers * bytesOf(call, "self"));
}

static void leastValue(Composition &composition) {
  Value self = composition.operand("self");
  composition.give(least(composition, self, *dimsOfSelf(composition.getView())));
}

static void bothValues(Composition &composition) {
  Value self = composition.operand("self");
  SmallVector<int64_t> dims = *dimsOfSelf(composition.getView());
  composition.give(0, least(composition, self, dims));
  composition.give(1, largest(composition, self, dims));
}

/// True is the larger truth value: any() is a maximum, all() a minimum.
template <bool OfAll> static void truth(Composition &composition) {
  Arithmetic math = composition.math();
  Value self = composition.operand("self");
  SmallVector<int64_t> dims = *dimsOfSelf(composition.getView());
  if (!elementOf(self).isInteger(1))
    self = math.compare("aten.ne.Scalar", self, 0);
  composition.give(OfAll ? least(composition, self, dims) : largest(composition, self, dims));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Indices along one dim. Without `dim` PyTorch counts through the flattened tensor, which is the same only for a
/// tensor of one dim; others are not composed.
static std::optional<ComposedDims> extremeIndexDims(const CallView &call, plan::MeshOp) {
  std::optional<SmallVector<int64_t>> dims = dimsOfSelf(call);
  if (!dims || dims->size() != 1)
    return std::nullopt;
  return severalDims(call, "self", dims, bytesOf(call, "self") + indexBytes);
}

/// The index of the first element of each row that equals the extreme.
static Value firstIndexOf(const Composition &composition, Value self, Value extreme, int64_t dim) {
  int64_t size = shapeOf(self)[dim];
  SmallVector<int64_t> shape(shapeOf(self));
  shape[dim] = 1;
  Value fromEnd = composition.make("meshplan.extreme_position")
                      .tensor("self", self)
                      .tensor("extreme", extreme)
                      .tensor("positions", composition.indices(size))
                      .integer("dim", dim)
                      .integer("size", size)
                      .build(shape, IntegerType::get(self.getContext(), 64));
  return composition.make("aten.rsub.Scalar")
      .tensor("self", fromEnd)
      .integer("other", size)
      .build(shape, elementOf(fromEnd));
}

template <bool OfLargest, bool WithValues> static void extremeIndex(Composition &composition) {
  Value self = composition.operand("self");
  SmallVector<int64_t> dims = *dimsOfSelf(composition.getView());
  Value extreme = OfLargest ? largest(composition, self, dims) : least(composition, self, dims);
  if (WithValues)
    composition.give(0, extreme);
  composition.give(WithValues, firstIndexOf(composition, self, extreme, dims.front()));
}

void meshplan::addExtremeCompositions(CompositionTable &table) {
  table["aten.amin.default"] = table["aten.min.default"] = {valueDims<1>, leastValue};
  table["aten.aminmax.default"] = {valueDims<2>, bothValues};
  for (StringRef suffix : {"default", "dim", "dims"}) {
    table[("aten.any." + suffix).str()] = {valueDims<1>, truth<false>};
    table[("aten.all." + suffix).str()] = {valueDims<1>, truth<true>};
  }
  table["aten.argmax.default"] = {extremeIndexDims, extremeIndex<true, false>};
  table["aten.argmin.default"] = {extremeIndexDims, extremeIndex<false, false>};
  table["aten.max.dim"] = {extremeIndexDims, extremeIndex<true, true>};
  table["aten.min.dim"] = {extremeIndexDims, extremeIndex<false, true>};
}
