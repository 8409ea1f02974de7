//===- lookup.cpp - calls that read at other positions --------------------===//

#include "compiler/transforms/import/index_functions/lookup.h"
#include "compiler/transforms/import/index_functions/call_reader.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

static Expr readMovement(CallReader &reader) {
  std::optional<MovedRead> moved = readThroughMovement(reader.builder, reader.value, reader.coordinates);
  return moved ? reader.read(moved->operand, moved->indices) : nullptr;
}

//===----------------------------------------------------------------------===//
// Lookups by index tensors
//===----------------------------------------------------------------------===//

/// A negative index is converted to count from the front.
Expr meshplan::withinDim(ExprBuilder &builder, Expr index, int64_t extent) {
  if (!index || index->type != ExprType::Integer)
    return nullptr;
  // Only where all indices are negative: a mixture would need a choice for each element.
  if (index->high < 0)
    index = builder.add(index, builder.integer(extent));
  return index && index->low >= 0 && index->high < extent ? index : nullptr;
}

std::optional<Lookup> meshplan::describeLookup(const CallView &call, int64_t rank) {
  Lookup lookup;
  lookup.operands = call.getOperands("indices");
  if (static_cast<int64_t>(lookup.operands.size()) > rank)
    return std::nullopt;
  lookup.operands.resize(rank);
  std::optional<size_t> first, last;
  int64_t chosen = 0;
  for (auto [dim, operand] : llvm::enumerate(lookup.operands)) {
    if (!operand)
      continue;
    // The result of a boolean mask instead of indices has an unknown size.
    if (call.operands[*operand].getElementType().isInteger(1))
      return std::nullopt;
    lookup.indexRank = std::max(lookup.indexRank, call.operands[*operand].getRank());
    first = first.value_or(dim);
    last = dim;
    ++chosen;
  }
  // An archive may contain any result type.
  if (!first || call.results.size() != 1 || call.results.front().getRank() != rank - chosen + lookup.indexRank)
    return std::nullopt;
  // The dims of the index tensors replace the dims that they choose if these are adjacent; otherwise they come first.
  bool neighbours = llvm::all_of(ArrayRef(lookup.operands).slice(*first, *last - *first + 1),
                                 [](std::optional<unsigned> operand) { return operand.has_value(); });
  lookup.position = neighbours ? *first : 0;
  return lookup;
}

static Expr readIndex(CallReader &reader) {
  Value self = reader.tensor("self");
  if (!self)
    return nullptr;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(self.getType()).getShape();
  std::optional<Lookup> lookup = describeLookup(reader.call, shape.size());
  ArrayRef<Expr> coordinates = reader.coordinates;
  if (!lookup || static_cast<int64_t>(coordinates.size()) < lookup->position + lookup->indexRank)
    return nullptr;
  ArrayRef<Expr> chosenAt = coordinates.slice(lookup->position, lookup->indexRank);
  SmallVector<Expr> rest(coordinates.take_front(lookup->position));
  llvm::append_range(rest, coordinates.drop_front(lookup->position + lookup->indexRank));
  Indices indices;
  size_t nextRest = 0;
  for (auto [extent, operand] : llvm::zip(shape, lookup->operands)) {
    if (!operand) {
      indices.push_back(nextRest < rest.size() ? rest[nextRest] : nullptr);
      ++nextRest;
      continue;
    }
    ArrayRef<int64_t> indexShape = reader.call.operands[*operand].getShape();
    Expr index = reader.read(reader.operands[*operand], readExpanded(reader.builder, indexShape, chosenAt));
    indices.push_back(withinDim(reader.builder, index, extent));
  }
  return reader.read(self, indices);
}

static Expr readGather(CallReader &reader) {
  Value self = reader.tensor("self");
  auto shape = self ? cast<RankedTensorType>(self.getType()).getShape() : ArrayRef<int64_t>();
  std::optional<int64_t> dim = reader.dim("dim", 0, shape.size());
  if (!dim || reader.coordinates.size() != shape.size())
    return nullptr;
  Indices indices = reader.coordinates;
  indices[*dim] = withinDim(reader.builder, reader.read("index", reader.coordinates), shape[*dim]);
  return reader.read(self, indices);
}

//===----------------------------------------------------------------------===//
// Along a dim
//===----------------------------------------------------------------------===//

/// The cumulative sum of a constant.
static Expr readRunningSum(CallReader &reader) {
  std::optional<int64_t> dim = reader.dim("dim", 0, reader.coordinates.size());
  Expr element = reader.builder.asInteger(reader.readBroadcast("self"));
  if (!dim || !element || !element->isConstant())
    return nullptr;
  // Element i sums i + 1 times the constant.
  return reader.builder.multiply(reader.builder.add(reader.coordinates[*dim], reader.builder.integer(1)),
                                 element->value);
}

/// Tensors concatenated along `dim`, read at index `at` of that dim.
static Expr readJoined(CallReader &reader, ArrayRef<Value> parts, int64_t dim, Expr at) {
  ExprBuilder &builder = reader.builder;
  SmallVector<std::pair<Expr, Expr>> pieces; // end index of each part, and its element
  int64_t start = 0;
  for (Value part : parts) {
    auto type = cast<RankedTensorType>(part.getType());
    if (type.getRank() != static_cast<int64_t>(reader.coordinates.size()))
      return nullptr;
    Indices indices = reader.coordinates;
    indices[dim] = builder.subtract(at, builder.integer(start));
    start += type.getDimSize(dim);
    // Out of its part an element is read at an impossible index; the choice below never uses it there.
    pieces.push_back({builder.lessThan(at, builder.integer(start)), reader.read(part, indices)});
  }
  // From the last part to the first: each choice is between a part and all parts after it.
  Expr joined = nullptr;
  for (auto &[before, piece] : llvm::reverse(pieces))
    joined = joined ? builder.select(before, piece, joined) : piece;
  return joined;
}

/// Each element minus the previous one; only first differences.
static Expr readNeighbors(CallReader &reader) {
  std::optional<int64_t> dim = reader.dim("dim", -1, reader.coordinates.size());
  if (!dim || reader.call.getInt("n", 1) != 1 || !isa<IntegerType>(reader.result.getElementType()) ||
      reader.result.getElementType().isInteger(1))
    return nullptr;
  SmallVector<Value> parts;
  for (StringRef name : {"prepend", "self", "append"})
    if (Value part = reader.tensor(name))
      parts.push_back(part);
  // diff reads the concatenation of prepend, self and append at i + 1 and at i.
  Expr here = reader.coordinates[*dim];
  Expr next = readJoined(reader, parts, *dim, reader.builder.add(here, reader.builder.integer(1)));
  return reader.builder.subtract(next, readJoined(reader, parts, *dim, here));
}

static Expr readCat(CallReader &reader) {
  std::optional<int64_t> dim = reader.dim("dim", 0, reader.coordinates.size());
  if (!dim)
    return nullptr;
  SmallVector<Value> parts;
  for (std::optional<unsigned> operand : reader.call.getOperands("tensors")) {
    // Parts of another type would be converted.
    if (!operand || reader.call.operands[*operand].getElementType() != reader.result.getElementType())
      return nullptr;
    parts.push_back(reader.operands[*operand]);
  }
  return readJoined(reader, parts, *dim, reader.coordinates[*dim]);
}

void meshplan::addLookupFunctions(CallFunctions &functions) {
  for (StringRef target : {"aten.alias.default",
                           "aten.clone.default",
                           "aten.contiguous.default",
                           "aten.lift_fresh_copy.default",
                           "aten.view.default",
                           "aten._unsafe_view.default",
                           "aten.reshape.default",
                           "aten.unsqueeze.default",
                           "aten.squeeze.default",
                           "aten.squeeze.dim",
                           "aten.squeeze.dims",
                           "aten.flatten.using_ints",
                           "aten.unflatten.int",
                           "aten.view_as.default",
                           "aten.expand.default",
                           "aten.expand_as.default",
                           "aten.broadcast_to.default",
                           "aten.repeat.default",
                           "aten.repeat_interleave.self_int",
                           "aten.slice.Tensor",
                           "aten.select.int",
                           "aten.permute.default",
                           "aten.transpose.int",
                           "aten.t.default"})
    functions[target] = readMovement;
  functions["aten.index.Tensor"] = readIndex;
  functions["aten.gather.default"] = readGather;
  functions["aten.cumsum.default"] = readRunningSum;
  functions["aten.diff.default"] = readNeighbors;
  functions["aten.cat.default"] = readCat;
}
