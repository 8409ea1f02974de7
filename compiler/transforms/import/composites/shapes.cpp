//===- shapes.cpp - operators that move and join elements -----------------===//

#include "compiler/sharding/record_support/rule_builder.h"
#include "compiler/transforms/import/composites/composites.h"
#include "llvm/ADT/StringSwitch.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;

//===----------------------------------------------------------------------===//
// atleast_1d, atleast_2d, atleast_3d, of one tensor or several
//===----------------------------------------------------------------------===//

static SmallVector<Value> atLeast(const Composite &call) {
  SmallVector<Value> tensors = call.operands("tensors"), values;
  if (Value self = call.operand("self"))
    tensors.push_back(self);
  if (tensors.size() != call.getView().results.size())
    return {};
  for (auto [index, tensor] : llvm::enumerate(tensors))
    values.push_back(call.reshape(tensor, call.resultShape(index)));
  return values;
}

//===----------------------------------------------------------------------===//
// hstack, vstack, dstack and column_stack
//===----------------------------------------------------------------------===//

/// The shape in which a tensor is stacked: dims of size 1 are added where it has too few.
static SmallVector<int64_t> stackedShape(StringRef name, ArrayRef<int64_t> shape) {
  int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  if (name == "column_stack")
    return shape.size() < 2 ? SmallVector<int64_t>{elements, 1} : SmallVector<int64_t>(shape);
  if (name == "hstack")
    return shape.empty() ? SmallVector<int64_t>{1} : SmallVector<int64_t>(shape);
  SmallVector<int64_t> stacked(shape);
  if (stacked.size() < 2)
    stacked = {1, elements};
  if (name == "dstack" && stacked.size() == 2)
    stacked.push_back(1);
  return stacked;
}

static SmallVector<Value> stack(const Composite &call) {
  StringRef name = call.getView().target.split('.').second.split('.').first;
  SmallVector<Value> pieces;
  for (Value tensor : call.operands("tensors"))
    pieces.push_back(call.reshape(tensor, stackedShape(name, shapeOf(tensor))));
  if (pieces.empty())
    return {};
  int64_t dim = llvm::StringSwitch<int64_t>(name)
                    .Case("dstack", 2)
                    .Case("column_stack", 1)
                    .Case("hstack", call.resultShape().size() == 1 ? 0 : 1)
                    .Default(0);
  return {call.concatenate(pieces, dim)};
}

//===----------------------------------------------------------------------===//
// repeat
//===----------------------------------------------------------------------===//

/// More copies stay a single operator: each copy would be an operand here, and a slice in the gradient.
constexpr int64_t mostCopies = 16;

/// Copies of a dim with several elements are concatenated, so that each copy can be divided. Does nothing if no such
/// dim is repeated.
static SmallVector<Value> repeat(const Composite &call) {
  Value self = call.operand("self");
  std::optional<SmallVector<int64_t>> repeats = call.getView().getInts("repeats");
  if (!self || !repeats || repeats->size() < shapeOf(self).size())
    return {};
  size_t leading = repeats->size() - shapeOf(self).size();
  bool copies = false;
  for (size_t dim = 0; dim < shapeOf(self).size(); ++dim) {
    int64_t &count = (*repeats)[leading + dim];
    if (shapeOf(self)[dim] < 2 || count < 2 || count > mostCopies)
      continue;
    SmallVector<int64_t> shape(shapeOf(self));
    shape[dim] *= count;
    self = call.make("aten.cat.default")
               .tensors("tensors", SmallVector<Value>(count, self))
               .integer("dim", dim)
               .build(shape, call.resultElement());
    count = 1;
    copies = true;
  }
  if (!copies)
    return {};
  if (llvm::all_of(*repeats, [](int64_t count) { return count == 1; }))
    return {call.reshape(self, call.resultShape())};
  return {call.make("aten.repeat.default")
              .tensor("self", self)
              .integers("repeats", *repeats)
              .build(call.resultShape(), call.resultElement())};
}

//===----------------------------------------------------------------------===//
// meshgrid and broadcast_tensors: each tensor is expanded separately
//===----------------------------------------------------------------------===//

static SmallVector<Value> meshgrid(const Composite &call) {
  SmallVector<Value> tensors = call.operands("tensors"), values;
  auto indexing = dyn_cast_or_null<StringAttr>(call.getView().get("indexing"));
  bool swaps = indexing && indexing.getValue() == "xy" && tensors.size() > 1;
  if (tensors.size() != call.getView().results.size())
    return {};
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    SmallVector<int64_t> shape(tensors.size(), 1);
    shape[swaps && index < 2 ? 1 - index : index] = cast<RankedTensorType>(tensor.getType()).getNumElements();
    values.push_back(call.expand(call.reshape(tensor, shape), call.resultShape(index)));
  }
  return values;
}

/// Expands each tensor separately to the common shape, if it has another one.
static SmallVector<Value> broadcast(const Composite &call) {
  SmallVector<Value> tensors = call.operands("tensors"), values;
  if (tensors.size() != call.getView().results.size())
    return {};
  for (auto [index, tensor] : llvm::enumerate(tensors))
    values.push_back(call.expand(tensor, call.resultShape(index)));
  return values;
}

//===----------------------------------------------------------------------===//
// block_diag: matrices below each other, each in its own columns
//===----------------------------------------------------------------------===//

static SmallVector<Value> blockDiagonal(const Composite &call) {
  SmallVector<Value> blocks;
  int64_t before = 0, width = call.resultShape()[1];
  for (Value tensor : call.operands("tensors")) {
    SmallVector<int64_t> shape = stackedShape("vstack", shapeOf(tensor));
    Value block = call.reshape(call.convert(tensor, call.resultElement()), shape);
    int64_t after = width - before - shape[1];
    if (shape[1] != width)
      block = call.make("aten.pad.default")
                  .tensor("self", block)
                  .integers("pad", {before, after})
                  .build({shape[0], width}, call.resultElement());
    blocks.push_back(block);
    before += shape[1];
  }
  return blocks.empty() ? SmallVector<Value>() : SmallVector<Value>{call.concatenate(blocks, 0)};
}

//===----------------------------------------------------------------------===//
// diagflat: all elements on a diagonal
//===----------------------------------------------------------------------===//

static SmallVector<Value> flatDiagonal(const Composite &call) {
  Value self = call.operand("self");
  if (!self)
    return {};
  Value row = call.reshape(self, {cast<RankedTensorType>(self.getType()).getNumElements()});
  return {call.make("aten.diag_embed.default")
              .tensor("self", row)
              .integer("offset", call.getView().getInt("offset", 0))
              .build(call.resultShape(), call.resultElement())};
}

void meshplan::addShapeComposites(llvm::StringMap<CompositeRule> &table) {
  for (StringRef name : {"atleast_1d", "atleast_2d", "atleast_3d"})
    for (StringRef overload : {"default", "Sequence"})
      table[("aten." + name + "." + overload).str()] = atLeast;
  for (StringRef name : {"hstack", "vstack", "row_stack", "dstack", "column_stack"})
    table[("aten." + name + ".default").str()] = stack;
  table["aten.meshgrid.default"] = table["aten.meshgrid.indexing"] = meshgrid;
  table["aten.repeat.default"] = repeat;
  table["aten.broadcast_tensors.default"] = broadcast;
  table["aten.block_diag.default"] = {blockDiagonal, {{"tensors", 0, 2}, {"", 2, 2}}};
  table["aten.diagflat.default"] = flatDiagonal;
}
