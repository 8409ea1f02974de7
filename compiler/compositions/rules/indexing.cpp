//===- indexing.cpp - reading and writing by index along a split dim --------===//
//
// Each rank handles the indices that it holds:
// - reading (gather, index): a rank gives the elements that it holds and zeros for the others; the sum over ranks is
//   the result;
// - writing (scatter): a rank writes only those elements that it holds;
// - triangles: a rank zeroes those of its elements that are outside.
//
// A rank gets the indices that it holds as a tensor (Composition::indices), so the dim may be split in any way.
//
// Example: gather of the indices [5, 2] from a dim of 6 that is split over 2 ranks. Rank 0 holds 0..2 and gives [0,
// x2], rank 1 holds 3..5 and gives [x5, 0]; the sum is [x5, x2].
//
//===----------------------------------------------------------------------===//

#include "compiler/compositions/composition_rules.h"
#include "compiler/sharding/record_support/local_args.h"
#include "compiler/sharding/record_support/rule_builder.h"

using namespace mlir;
using namespace meshplan;

/// `self` is split in the indexed dim; each row exchanges as many elements as it has indices.
static std::optional<ComposedDims> chosenDims(const CallView &call, StringRef indices, bool isVector) {
  std::optional<unsigned> self = call.getOperand("self"), index = call.getOperand(indices);
  if (!self || !index || !isa_and_present<IntegerAttr>(call.get("dim")))
    return std::nullopt;
  std::optional<ComposedDims> dims = oneDim(call, "self", call.getInt("dim", 0), 0);
  RankedTensorType chosen = call.operands[*index];
  int64_t ofIndex = isVector ? 0 : dims ? dims->dims.front() : -1;
  if (!dims || ofIndex >= chosen.getRank() || (!isVector && chosen.getRank() != call.operands[*self].getRank()))
    return std::nullopt;
  dims->exchanged = chosen.getDimSize(ofIndex) * plan::elementBytes(call.operands[*self].getElementType());
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
                       .tensor("positions", composition.indices(size))
                       .integer("dim", dim)
                       .integer("size", size)
                       .build(shapeOf(index), elementOf(self)));
}

/// `index`, a tensor of one dim, expanded to `shape` along `dim`.
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

/// The dims that index tensors of aten.index and its gradient index; none if one of them is boolean.
static SmallVector<int64_t> indexedDims(const CallView &call) {
  SmallVector<int64_t> dims;
  for (auto [dim, operand] : llvm::enumerate(call.getOperands("indices"))) {
    if (!operand)
      continue;
    if (!call.operands[*operand].getElementType().isSignlessInteger(64))
      return {};
    dims.push_back(dim);
  }
  return dims;
}

/// The indexed dim if there is only one, else the longest one that is split in the operand; -1 if there is none.
static int64_t indexedDim(const CallView &call, StringRef name) {
  SmallVector<int64_t> dims = indexedDims(call);
  std::optional<unsigned> operand = call.getOperand(name);
  if (dims.size() == 1 || !operand)
    return dims.size() == 1 ? dims.front() : -1;
  RankedTensorType type = call.operands[*operand];
  llvm::erase_if(dims, [&](int64_t dim) { return !isDivided(type, dim); });
  auto isShorter = [&](int64_t left, int64_t right) { return type.getDimSize(left) < type.getDimSize(right); };
  return dims.empty() ? -1 : *llvm::max_element(dims, isShorter);
}

/// Where the dims of the index stand in the result: at the indexed dims if those are adjacent, else in front.
static int64_t firstIndexDim(const CallView &call) {
  SmallVector<int64_t> dims = indexedDims(call);
  return dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size()) ? dims.front() : 0;
}

/// The index tensors; negative indices of `dim` are made non-negative.
static SmallVector<Value> indicesFromFront(const Composition &composition, int64_t dim, int64_t size) {
  SmallVector<Value> indices = composition.operands("indices");
  indices[dim] = composition.math().fromFront(indices[dim], size);
  return indices;
}

static std::optional<ComposedDims> indexDims(const CallView &call, plan::MeshOp) {
  int64_t dim = indexedDim(call, "self");
  std::optional<ComposedDims> dims = dim < 0 ? std::nullopt : oneDim(call, "self", dim, 0);
  if (!dims)
    return std::nullopt;
  // The chosen elements of one row: all of the index with a single indexed dim; with several, usually at most one.
  std::optional<unsigned> index = call.getOperands("indices")[dim];
  int64_t ofRow = indexedDims(call).size() == 1 ? call.operands[*index].getNumElements() : 1;
  dims->exchanged = ofRow * plan::elementBytes(call.operands[dims->operands.front()].getElementType());
  return dims;
}

/// A single index tensor becomes a gather along its dim: the index is flattened, and its dims replace the dim in the
/// result. With several index tensors a rank looks up the elements whose index along `dim` it holds.
static void index(Composition &composition) {
  Arithmetic math = composition.math();
  const CallView &view = composition.getView();
  Value self = composition.operand("self");
  int64_t dim = indexedDim(view, "self");
  SmallVector<int64_t> shape(shapeOf(self));
  int64_t size = shape[dim];
  SmallVector<Value> indices = indicesFromFront(composition, dim, size);
  if (indexedDims(view).size() > 1)
    return composition.give(composition.make("meshplan.index_part")
                                .tensor("self", self)
                                .tensors("indices", indices)
                                .tensor("positions", composition.indices(size))
                                .integer("dim", dim)
                                .integer("size", size)
                                .integer("first_index_dim", firstIndexDim(view))
                                .build(shapeOf(composition.result()), elementOf(self)));
  int64_t count = shape[dim] = ShapedType::getNumElements(shapeOf(indices[dim]));
  giveGathered(composition, self, spread(composition, math.reshape(indices[dim], {count}), shape, dim), dim);
}

static std::optional<ComposedDims> takeAlongDims(const CallView &call, plan::MeshOp) {
  return chosenDims(call, "indices", /*isVector=*/false);
}

/// The other dims are broadcast first, then it is a gather. Indices may be negative.
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
// Writing by index: each rank writes the elements that it holds
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
  call.tensor("positions", composition.indices(size)).integer("dim", dim).integer("size", size);
  composition.give(call.build(shapeOf(self), elementOf(self)));
}

//===----------------------------------------------------------------------===//
// Gradients: each element is added where it was read
//===----------------------------------------------------------------------===//

static void giveScattered(Composition &composition, Value source, Value index, int64_t dim) {
  Value result = composition.result();
  composition.give(composition.make("meshplan.scatter_sum_part")
                       .tensor("source", source)
                       .tensor("index", index)
                       .tensor("positions", composition.indices(shapeOf(result)[dim]))
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
  int64_t dim = indexedDim(call, "like");
  return dim < 0 ? std::nullopt : oneDim(call, "like", dim, 0);
}

static void indexSum(Composition &composition) {
  Arithmetic math = composition.math();
  const CallView &view = composition.getView();
  Value source = composition.operand("source"), result = composition.result();
  int64_t dim = indexedDim(view, "like");
  SmallVector<int64_t> shape(shapeOf(result));
  SmallVector<Value> indices = indicesFromFront(composition, dim, shape[dim]);
  if (indexedDims(view).size() > 1)
    return composition.give(composition.make("meshplan.index_sum_part")
                                .tensor("source", source)
                                .tensors("indices", indices)
                                .tensor("positions", composition.indices(shape[dim]))
                                .tensor("like", composition.operand("like"))
                                .integer("dim", dim)
                                .integers("size", shape)
                                .integer("first_index_dim", firstIndexDim(view))
                                .build(shape, elementOf(result)));
  int64_t count = shape[dim] = ShapedType::getNumElements(shapeOf(indices[dim]));
  giveScattered(composition, math.reshape(source, shape),
                spread(composition, math.reshape(indices[dim], {count}), shape, dim), dim);
}

//===----------------------------------------------------------------------===//
// Triangles of the last two dims
//===----------------------------------------------------------------------===//

static std::optional<ComposedDims> triangleDims(const CallView &call, plan::MeshOp) {
  std::optional<unsigned> self = call.getOperand("self");
  int64_t rank = self ? call.operands[*self].getRank() : 0;
  return rank < 2 ? std::nullopt : severalDims(call, "self", SmallVector<int64_t>{rank - 2, rank - 1}, 0);
}

/// Elements on the other side of the diagonal become zero.
template <bool IsUpper> static void triangle(Composition &composition) {
  Arithmetic math = composition.math();
  Value self = composition.operand("self");
  int64_t rank = rankOf(self), rows = shapeOf(self)[rank - 2], columns = shapeOf(self)[rank - 1];
  Value row = math.reshape(composition.indices(rows), {rows, 1});
  Value diagonal = composition.make("aten.add.Scalar")
                       .tensor("self", row)
                       .integer("other", composition.getView().getInt("diagonal", 0))
                       .build({rows, 1}, elementOf(row));
  Value isOutside = math.compare(IsUpper ? "aten.gt.Tensor" : "aten.lt.Tensor", diagonal, composition.indices(columns));
  composition.give(math.dropWhere(isOutside, self));
}

void meshplan::addIndexingCompositions(CompositionTable &table) {
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
