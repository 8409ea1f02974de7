//===- places.cpp - elements at chosen places of a divided dim ------------===//
//
// A rank gives the elements that it holds, and zeros for others; the sum has all.
// Of a triangle it drops those of its elements that lie outside. A rank is told which places are its own, so that the
// dim may be dealt in any way.
//
//===----------------------------------------------------------------------===//

#include "compiler/compositions/composition_rules.h"
#include "compiler/sharding/record_support/rule_builder.h"

using namespace mlir;
using namespace meshplan;

/// A place has all the dim of `self`; of each row there are as many numbers as places are asked for.
static std::optional<ComposedDims> chosenDims(const CallView &call, StringRef indices, bool isVector) {
  std::optional<unsigned> self = call.getOperand("self"), index = call.getOperand(indices);
  if (!self || !index || !isa_and_present<IntegerAttr>(call.get("dim")))
    return std::nullopt;
  std::optional<ComposedDims> dims = oneDim(call, "self", call.getInt("dim", 0), 0);
  RankedTensorType chosen = call.operands[*index];
  int64_t place = isVector ? 0 : dims ? dims->dims.front() : -1;
  if (!dims || place >= chosen.getRank() || (!isVector && chosen.getRank() != call.operands[*self].getRank()))
    return std::nullopt;
  dims->exchanged = chosen.getDimSize(place) * plan::elementBytes(call.operands[*self].getElementType());
  return dims;
}

static int64_t dimOf(const Composition &composition, Value self) {
  return normalizeDim(composition.getView().getInt("dim", 0), rankOf(self));
}

static std::optional<ComposedDims> gatherDims(const CallView &call, plan::MeshOp) {
  return chosenDims(call, "index", /*isVector=*/false);
}

static void gather(Composition &composition) {
  Value self = composition.operand("self"), index = composition.operand("index");
  int64_t dim = dimOf(composition, self), size = shapeOf(self)[dim];
  composition.give(composition.make("meshplan.gather_part")
                       .tensor("self", self)
                       .tensor("index", index)
                       .tensor("places", composition.places(size))
                       .integer("dim", dim)
                       .integer("size", size)
                       .build(shapeOf(index), elementOf(self)));
}

/// `index`, a tensor of one dim, at `dim` of `shape`.
static Value spread(const Composition &composition, Value index, ArrayRef<int64_t> shape, int64_t dim) {
  SmallVector<int64_t> alone(shape.size(), 1);
  alone[dim] = shape[dim];
  Arithmetic math = composition.math();
  return math.expand(math.reshape(index, alone), shape);
}

static void giveGathered(Composition &composition, Value self, Value index, int64_t dim) {
  composition.give(composition.make("aten.gather.default")
                       .tensor("self", self)
                       .integer("dim", dim)
                       .tensor("index", index)
                       .build(shapeOf(index), elementOf(self)));
}

static std::optional<ComposedDims> indexSelectDims(const CallView &call, plan::MeshOp) {
  return chosenDims(call, "index", /*isVector=*/true);
}

static void indexSelect(Composition &composition) {
  Value self = composition.operand("self");
  int64_t dim = dimOf(composition, self);
  giveGathered(composition, self, spread(composition, composition.operand("index"), shapeOf(composition.result()), dim),
               dim);
}

/// The dim that the only index tensor of aten.index and its gradient stands for; -1 of other lists and of truth values.
static int64_t indexedDim(const CallView &call) {
  int64_t dim = -1;
  for (auto [place, operand] : llvm::enumerate(call.getOperands("indices"))) {
    if (operand && (dim >= 0 || !call.operands[*operand].getElementType().isSignlessInteger(64)))
      return -1;
    dim = operand ? static_cast<int64_t>(place) : dim;
  }
  return dim;
}

static std::optional<ComposedDims> indexDims(const CallView &call, plan::MeshOp) {
  int64_t dim = indexedDim(call);
  std::optional<ComposedDims> dims = dim < 0 ? std::nullopt : oneDim(call, "self", dim, 0);
  if (dims) {
    std::optional<unsigned> index = call.getOperands("indices")[dim];
    dims->exchanged = call.operands[*index].getNumElements() *
                      plan::elementBytes(call.operands[dims->operands.front()].getElementType());
  }
  return dims;
}

/// The dims of the index stand where its dim was: a gather of one dim that holds them all.
static void index(Composition &composition) {
  Arithmetic math = composition.math();
  int64_t dim = indexedDim(composition.getView());
  Value self = composition.operand("self"), chosen = composition.operands("indices")[dim];
  SmallVector<int64_t> shape(shapeOf(self));
  int64_t size = shape[dim], count = ShapedType::getNumElements(shapeOf(chosen));
  shape[dim] = count;
  Value flat = math.reshape(math.fromFront(chosen, size), {count});
  giveGathered(composition, self, spread(composition, flat, shape, dim), dim);
}

static std::optional<ComposedDims> takeAlongDims(const CallView &call, plan::MeshOp) {
  return chosenDims(call, "indices", /*isVector=*/false);
}

/// A gather of tensors whose other dims are broadcast first. Indices may count from the end.
static void takeAlong(Composition &composition) {
  Arithmetic math = composition.math();
  Value self = composition.operand("self");
  int64_t dim = dimOf(composition, self);
  SmallVector<int64_t> shape(shapeOf(composition.result()));
  Value indices = math.expand(math.fromFront(composition.operand("indices"), shapeOf(self)[dim]), shape);
  shape[dim] = shapeOf(self)[dim];
  giveGathered(composition, math.expand(self, shape), indices, dim);
}

//===----------------------------------------------------------------------===//
// Elements that are written: each rank writes those that it has
//===----------------------------------------------------------------------===//

static std::optional<ComposedDims> scatterDims(const CallView &call, plan::MeshOp) {
  return oneDim(call, "self", call.getInt("dim", 0), 0);
}

template <bool Adds> static void scatter(Composition &composition) {
  Value self = composition.operand("self");
  int64_t dim = dimOf(composition, self), size = shapeOf(self)[dim];
  CallBuilder call = composition.make("meshplan.scatter_part");
  call.tensor("self", self).tensor("index", composition.operand("index"));
  if (Value source = composition.operand("src"))
    call.tensor("src", source);
  call.literal("value", composition.getView().get("value")).flag("adds", Adds);
  call.tensor("places", composition.places(size)).integer("dim", dim).integer("size", size);
  composition.give(call.build(shapeOf(self), elementOf(self)));
}

//===----------------------------------------------------------------------===//
// Gradients: each element back to where it was read
//===----------------------------------------------------------------------===//

static void giveScattered(Composition &composition, Value source, Value index, int64_t dim) {
  Value result = composition.result();
  composition.give(composition.make("meshplan.scatter_sum_part")
                       .tensor("source", source)
                       .tensor("index", index)
                       .tensor("places", composition.places(shapeOf(result)[dim]))
                       .tensor("like", composition.operand("like"))
                       .integer("dim", dim)
                       .integers("size", shapeOf(result))
                       .build(shapeOf(result), elementOf(result)));
}

static std::optional<ComposedDims> scatterSumDims(const CallView &call, plan::MeshOp) {
  return oneDim(call, "like", call.getInt("dim", 0), 0);
}

static void scatterSum(Composition &composition) {
  giveScattered(composition, composition.operand("source"), composition.operand("index"),
                dimOf(composition, composition.result()));
}

static std::optional<ComposedDims> indexSumDims(const CallView &call, plan::MeshOp) {
  int64_t dim = indexedDim(call);
  return dim < 0 ? std::nullopt : oneDim(call, "like", dim, 0);
}

static void indexSum(Composition &composition) {
  Arithmetic math = composition.math();
  int64_t dim = indexedDim(composition.getView());
  SmallVector<int64_t> shape(shapeOf(composition.result()));
  Value chosen = math.fromFront(composition.operands("indices")[dim], shape[dim]);
  int64_t count = shape[dim] = ShapedType::getNumElements(shapeOf(chosen));
  Value source = math.reshape(composition.operand("source"), shape);
  giveScattered(composition, source, spread(composition, math.reshape(chosen, {count}), shape, dim), dim);
}

//===----------------------------------------------------------------------===//
// Triangles of the last two dims
//===----------------------------------------------------------------------===//

static std::optional<ComposedDims> triangleDims(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> self = call.getOperand("self");
  int64_t rank = self ? call.operands[*self].getRank() : 0;
  return rank < 2 ? std::nullopt : severalDims(call, "self", SmallVector<int64_t>{rank - 2, rank - 1}, 0);
}

/// What lies on the other side of the diagonal is filled in with zeros.
template <bool IsUpper> static void triangle(Composition &composition) {
  Arithmetic math = composition.math();
  Value self = composition.operand("self");
  int64_t rank = rankOf(self), rows = shapeOf(self)[rank - 2], columns = shapeOf(self)[rank - 1];
  Value row = math.reshape(composition.places(rows), {rows, 1});
  Value diagonal = composition.make("aten.add.Scalar")
                       .tensor("self", row)
                       .integer("other", composition.getView().getInt("diagonal", 0))
                       .build({rows, 1}, elementOf(row));
  Value isOutside = math.compare(IsUpper ? "aten.gt.Tensor" : "aten.lt.Tensor", diagonal, composition.places(columns));
  composition.give(math.dropWhere(isOutside, self));
}

void meshplan::addPlaceCompositions(CompositionTable &table) {
  table["aten.tril.default"] = {triangleDims, triangle</*IsUpper=*/false>};
  table["aten.triu.default"] = {triangleDims, triangle</*IsUpper=*/true>};
  table["aten.gather.default"] = {gatherDims, gather};
  table["aten.index_select.default"] = {indexSelectDims, indexSelect};
  table["aten.take_along_dim.default"] = {takeAlongDims, takeAlong};
  table["aten.index.Tensor"] = {indexDims, index};
  table["meshplan.scatter_sum"] = {scatterSumDims, scatterSum, "like"};
  table["aten.scatter.src"] = table["aten.scatter.value"] = {scatterDims, scatter<false>};
  table["aten.scatter_add.default"] = {scatterDims, scatter<true>};
  table["meshplan.index_sum"] = {indexSumDims, indexSum, "like"};
}
