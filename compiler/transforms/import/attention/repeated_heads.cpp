//===- repeated_heads.cpp - finds the source of repeated heads ------------===//

#include "compiler/transforms/import/attention/repeated_heads.h"
#include "compiler/transforms/import/index_functions/index_functions.h"

using namespace mlir;
using namespace meshplan;
using namespace meshplan::indexing;

/// The dims [batch, heads, sequence, features] in the order of a layout.
template <typename T> static SmallVector<T, 4> inLayout(ArrayRef<T> dims, bool headsSecond) {
  SmallVector<T, 4> ordered(dims);
  if (headsSecond)
    std::swap(ordered[1], ordered[2]);
  return ordered;
}

/// The number of heads of `source`, in this layout, if `indices` (where the repeated tensor of `shape` reads it) show
/// that the tensor repeats these heads; else 0.
static int64_t groupsOf(ExprBuilder &builder, ArrayRef<int64_t> shape, ArrayRef<int64_t> source, ArrayRef<Expr> indices,
                        bool headsSecond) {
  if (source.size() != 4)
    return 0;
  int64_t heads = shape[1], groups = source[headsSecond ? 2 : 1];
  if (groups < 1 || groups >= heads || heads % groups != 0)
    return 0;
  SmallVector<int64_t, 4> extents(shape);
  extents[1] = groups;
  Indices expected = coordinatesOf(builder, shape);
  expected[1] = builder.floorDivide(expected[1], heads / groups);
  bool matches = ArrayRef(inLayout<int64_t>(extents, headsSecond)) == source &&
                 ArrayRef(inLayout<Expr>(expected, headsSecond)) == indices;
  return matches && !llvm::is_contained(expected, nullptr) ? groups : 0;
}

HeadSource meshplan::findHeadSource(ExprBuilder &builder, Value value) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  HeadSource best{value, shape[1]};
  MovedRead at{value, coordinatesOf(builder, shape)};
  while (std::optional<MovedRead> moved = readThroughMovement(builder, at.operand, at.indices)) {
    at = std::move(*moved);
    ArrayRef<int64_t> source = cast<RankedTensorType>(at.operand.getType()).getShape();
    for (bool headsSecond : {false, true}) {
      int64_t groups = groupsOf(builder, shape, source, at.indices, headsSecond);
      // The walk continues to the end of the chain: the tensors in between have other shapes or all heads.
      if (groups > 0 && groups < best.groups)
        best = {at.operand, groups, headsSecond};
    }
  }
  return best;
}
