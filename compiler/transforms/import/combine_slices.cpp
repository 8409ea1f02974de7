//===- combine_slices.cpp - combines slices into a split ------------------===//
//
// See CombineSlices in passes.td.
//
//===----------------------------------------------------------------------===//
//
// Models that are written without chunk or split take q, k and v from a fused projection by three slices, [0, 96), [96,
// 192) and [192, 288). A slice alone needs its dim whole, because a rank's part of it would not be the slice of its
// part of the operand. The pieces of a split are factors of their own, so that a rank with a share of each piece splits
// its own part. Only slices that cover the dim exactly are a split.

#include "compiler/sharding/op_record.h"
#include "compiler/transforms/import/passes.h"
#include "dialect/plan/call_builder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace meshplan {
#define GEN_PASS_DEF_COMBINESLICES
#include "compiler/transforms/import/passes.h.inc"
} // namespace meshplan

using namespace mlir;
using namespace meshplan;

namespace {

/// A slice of consecutive elements of one dim.
struct Slice {
  plan::CallOp call;
  int64_t dim, start, size;
};

} // namespace

static int64_t clampIndex(int64_t index, int64_t extent) {
  return std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent);
}

static std::optional<Slice> readSlice(plan::CallOp call) {
  CallView view = CallView::of(call);
  if (view.target != "aten.slice.Tensor" || view.getInt("step", 1) != 1)
    return std::nullopt;
  int64_t rank = view.operands[0].getRank(), dim = view.getInt("dim", 0);
  dim += dim < 0 ? rank : 0;
  if (dim < 0 || dim >= rank || view.results[0].getRank() != rank)
    return std::nullopt;
  int64_t extent = view.operands[0].getDimSize(dim);
  int64_t start = clampIndex(view.getInt("start", 0), extent);
  return Slice{call, dim, start, view.results[0].getDimSize(dim)};
}

/// True if the slices, in order, cover the dim without gaps or overlaps.
static bool tiles(ArrayRef<Slice> slices, int64_t extent) {
  int64_t next = 0;
  for (const Slice &slice : slices) {
    if (slice.start != next || slice.size == 0)
      return false;
    next += slice.size;
  }
  return next == extent && slices.size() > 1;
}

static void combine(MutableArrayRef<Slice> slices) {
  // The map's key may have been erased, if it was a slice itself; so the operand is read again.
  Value value = slices.front().call.getOperands()[0];
  plan::CallOp first = slices.front().call; // the walk is in program order
  llvm::stable_sort(slices, [](const Slice &left, const Slice &right) { return left.start < right.start; });
  int64_t dim = slices.front().dim;
  if (!tiles(slices, cast<RankedTensorType>(value.getType()).getDimSize(dim)))
    return;
  SmallVector<int64_t> sizes = llvm::map_to_vector(slices, [](const Slice &slice) { return slice.size; });
  SmallVector<Type> types = llvm::map_to_vector(slices, [](const Slice &slice) {
    plan::CallOp call = slice.call;
    return call.getResultTypes()[0];
  });
  plan::CallOp split = CallBuilder("aten.split_with_sizes.default", first)
                           .tensor("self", value)
                           .integers("split_sizes", sizes)
                           .integer("dim", dim)
                           .build(types);
  for (auto [slice, result] : llvm::zip(slices, split.getResults())) {
    slice.call.getResult(0).replaceAllUsesWith(result);
    slice.call.erase();
  }
}

namespace {
struct CombineSlicesPass : meshplan::impl::CombineSlicesBase<CombineSlicesPass> {
  void runOnOperation() final {
    llvm::MapVector<std::pair<Value, int64_t>, SmallVector<Slice>> groups;
    getOperation().walk([&](plan::CallOp call) {
      if (std::optional<Slice> slice = readSlice(call))
        groups[{call.getOperands()[0], slice->dim}].push_back(*slice);
    });
    for (auto &[key, slices] : groups)
      combine(slices);
  }
};
} // namespace
