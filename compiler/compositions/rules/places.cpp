//===- places.cpp - elements at chosen places of a divided dim ------------===//
//
// A rank gives the elements that it holds, and zeros for others; the sum has all.
// A rank is told which places are its own, so that the dim may be dealt in any way.
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
  giveGathered(composition, self,
               spread(composition, composition.operand("index"), shapeOf(composition.result()), dim), dim);
}

static std::optional<ComposedDims> takeAlongDims(const CallView &call, plan::MeshOp) {
  return chosenDims(call, "indices", /*isVector=*/false);
}

/// A gather of tensors whose other dims are broadcast first.
static void takeAlong(Composition &composition) {
  Value self = composition.operand("self");
  int64_t dim = dimOf(composition, self);
  SmallVector<int64_t> shape(shapeOf(composition.result()));
  Value indices = composition.math().expand(composition.operand("indices"), shape);
  shape[dim] = shapeOf(self)[dim];
  giveGathered(composition, composition.math().expand(self, shape), indices, dim);
}

//===----------------------------------------------------------------------===//
// Gradients: each element back to where it was read
//===----------------------------------------------------------------------===//

static void giveScattered(Composition &composition, Value index, int64_t dim) {
  Value source = composition.operand("source"), result = composition.result();
  composition.give(composition.make("meshplan.scatter_sum")
                       .tensor("source", source)
                       .tensor("index", index)
                       .tensor("places", composition.places(shapeOf(result)[dim]))
                       .integer("dim", dim)
                       .integers("size", shapeOf(result))
                       .build(shapeOf(result), elementOf(result)));
}

static std::optional<ComposedDims> scatterSumDims(const CallView &call, plan::MeshOp) {
  return oneDim(call, "like", call.getInt("dim", 0), 0);
}

static void scatterSum(Composition &composition) {
  giveScattered(composition, composition.operand("index"), dimOf(composition, composition.result()));
}

/// The dim that a single index tensor of one dim stands for, as in the gradient of index_select; -1 of other lists.
static int64_t indexedDim(const CallView &call) {
  int64_t dim = -1;
  for (auto [place, operand] : llvm::enumerate(call.getOperands("indices"))) {
    if (operand && (dim >= 0 || call.operands[*operand].getRank() != 1))
      return -1;
    dim = operand ? static_cast<int64_t>(place) : dim;
  }
  return dim;
}

static std::optional<ComposedDims> indexSumDims(const CallView &call, plan::MeshOp) {
  int64_t dim = indexedDim(call);
  return dim < 0 ? std::nullopt : oneDim(call, "like", dim, 0);
}

static void indexSum(Composition &composition) {
  int64_t dim = indexedDim(composition.getView());
  Value index = composition.operands("indices")[dim];
  giveScattered(composition, spread(composition, index, shapeOf(composition.operand("source")), dim), dim);
}

void meshplan::addPlaceCompositions(CompositionTable &table) {
  table["aten.gather.default"] = {gatherDims, gather};
  table["aten.index_select.default"] = {indexSelectDims, indexSelect};
  table["aten.take_along_dim.default"] = {takeAlongDims, takeAlong};
  table["meshplan.scatter_sum"] = {scatterSumDims, scatterSum, "like"};
  table["meshplan.index_sum"] = {indexSumDims, indexSum, "like"};
}
