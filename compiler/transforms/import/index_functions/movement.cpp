//===- movement.cpp - calls that only move elements -----------------------===//
//
// The indices of a result become indices of the operand, so that a mask is read through the calls that move it. A call
// that does not fit its schema, or whose arguments are not literals, is not read through; the mask then stays a tensor.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/import/index_functions/call_reader.h"
#include "llvm/ADT/StringSwitch.h"
#include <numeric>

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

namespace {

/// A call with one operand `self`, read at indices of its result.
struct Movement {
  ExprBuilder &builder;
  CallView call;
  ArrayRef<int64_t> self, result;
  ArrayRef<Expr> indices;

  std::optional<int64_t> selfDim(StringRef name, int64_t otherwise = 0) const {
    return countedDim(call.getInt(name, otherwise), self.size());
  }
};

} // namespace

using ReadMovement = std::optional<Indices> (*)(const Movement &);

static std::optional<Indices> readSame(const Movement &movement) {
  // A conversion changes values. Only one to its own type moves elements unchanged.
  if (movement.self != movement.result || movement.call.operands[0] != movement.call.results[0])
    return std::nullopt;
  return Indices(movement.indices);
}

static std::optional<Indices> readView(const Movement &movement) {
  return readReshaped(movement.builder, movement.self, movement.result, movement.indices);
}

static std::optional<Indices> readExpand(const Movement &movement) {
  return readExpanded(movement.builder, movement.self, movement.indices);
}

static std::optional<Indices> readRepeat(const Movement &movement) {
  return readTiled(movement.builder, movement.self, movement.indices);
}

static std::optional<Indices> readRepeatInterleave(const Movement &movement) {
  std::optional<int64_t> dim = movement.call.get("dim") ? movement.selfDim("dim") : std::nullopt;
  int64_t repeats = movement.call.getInt("repeats", 0);
  if (!dim || repeats < 1 || movement.self.size() != movement.result.size())
    return std::nullopt;
  return readInterleaved(movement.builder, *dim, repeats, movement.indices);
}

static std::optional<Indices> readSlice(const Movement &movement) {
  std::optional<int64_t> dim = movement.selfDim("dim");
  if (!dim || movement.self.size() != movement.result.size())
    return std::nullopt;
  int64_t extent = movement.self[*dim], start = movement.call.getInt("start", 0);
  start = std::clamp(start < 0 ? start + extent : start, int64_t(0), extent);
  return readSliced(movement.builder, *dim, start, movement.call.getInt("step", 1), movement.indices);
}

static std::optional<Indices> readSelect(const Movement &movement) {
  std::optional<int64_t> dim = movement.selfDim("dim");
  std::optional<int64_t> index = dim ? countedDim(movement.call.getInt("index", 0), movement.self[*dim]) : std::nullopt;
  if (!index || movement.self.size() != movement.result.size() + 1)
    return std::nullopt;
  return readSelected(movement.builder, *dim, *index, movement.indices);
}

/// Reads the dims of the operand in this order of the result, if it is a permutation.
static std::optional<Indices> readInOrder(const Movement &movement, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> order;
  for (int64_t dim : dims)
    order.push_back(countedDim(dim, movement.self.size()).value_or(-1));
  SmallVector<int64_t> sorted = order;
  llvm::sort(sorted);
  for (auto [index, dim] : llvm::enumerate(sorted))
    if (dim != static_cast<int64_t>(index))
      return std::nullopt;
  if (order.size() != movement.self.size() || order.size() != movement.indices.size())
    return std::nullopt;
  return readPermuted(order, movement.indices);
}

static std::optional<Indices> readPermute(const Movement &movement) {
  std::optional<SmallVector<int64_t>> dims = movement.call.getInts("dims");
  return dims ? readInOrder(movement, *dims) : std::nullopt;
}

static std::optional<Indices> readSwapped(const Movement &movement, std::optional<int64_t> first,
                                          std::optional<int64_t> second) {
  if (!first || !second)
    return std::nullopt;
  SmallVector<int64_t> order(movement.self.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[*first], order[*second]);
  return readInOrder(movement, order);
}

static std::optional<Indices> readTranspose(const Movement &movement) {
  return readSwapped(movement, movement.selfDim("dim0"), movement.selfDim("dim1"));
}

static std::optional<Indices> readMatrixTranspose(const Movement &movement) {
  if (movement.self.size() < 2)
    return readSame(movement);
  return movement.self.size() == 2 ? readSwapped(movement, 0, 1) : std::nullopt;
}

static ReadMovement movementOf(StringRef target) {
  return llvm::StringSwitch<ReadMovement>(target)
      .Cases({"aten.alias.default", "aten.clone.default", "aten.contiguous.default", "aten.lift_fresh_copy.default",
              "aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten._to_copy.default"},
             readSame)
      .Cases({"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default", "aten.unsqueeze.default",
              "aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims", "aten.flatten.using_ints",
              "aten.unflatten.int", "aten.view_as.default"},
             readView)
      .Cases({"aten.expand.default", "aten.expand_as.default", "aten.broadcast_to.default"}, readExpand)
      .Case("aten.repeat.default", readRepeat)
      .Case("aten.repeat_interleave.self_int", readRepeatInterleave)
      .Case("aten.slice.Tensor", readSlice)
      .Case("aten.select.int", readSelect)
      .Case("aten.permute.default", readPermute)
      .Case("aten.transpose.int", readTranspose)
      .Case("aten.t.default", readMatrixTranspose)
      .Default(nullptr);
}

bool meshplan::keepsOrder(plan::CallOp call) {
  ReadMovement read = call.getNumResults() == 1 ? movementOf(call.getTarget()) : nullptr;
  if ((read != readView && read != readSame) || CallView::of(call).getOperand("self") != 0u)
    return false;
  auto from = cast<RankedTensorType>(call.getOperand(0).getType()),
       to = cast<RankedTensorType>(call.getResult(0).getType());
  return from.getElementType() == to.getElementType() && from.getNumElements() == to.getNumElements();
}

std::optional<MovedRead> meshplan::readThroughMovement(ExprBuilder &builder, Value value, ArrayRef<Expr> indices) {
  auto call = value.getDefiningOp<plan::CallOp>();
  ReadMovement read = call && call.getNumResults() == 1 ? movementOf(call.getTarget()) : nullptr;
  if (!read)
    return std::nullopt;
  CallView view = CallView::of(call);
  std::optional<unsigned> self = view.getOperand("self");
  // The code below takes operand 0 as self. view_as and expand_as have another operand, of which only the shape
  // matters.
  if (self != 0u)
    return std::nullopt;
  Movement movement{builder, view, view.operands[0].getShape(), view.results[0].getShape(), indices};
  std::optional<Indices> moved = read(movement);
  return moved ? std::optional<MovedRead>({call.getOperand(0), std::move(*moved)}) : std::nullopt;
}
