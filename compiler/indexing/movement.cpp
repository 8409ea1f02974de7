//===- movement.cpp - operators that only move elements -------------------===//
//
// Each function answers, for an element of the result, which element of the operand it is. The indices of the result
// are expressions, and so are the answers: a chain of movements becomes one expression of the coordinates at its end.
//
// Example: y = permute(x, [1, 0]) and z = slice(y, dim 0, start 2). z[i, j] is y[2 + i, j], which is x[j, 2 + i].
//
//===----------------------------------------------------------------------===//

#include "compiler/indexing/movement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace llvm;

namespace meshplan::indexing {

Indices coordinatesOf(ExprBuilder &builder, ArrayRef<int64_t> shape) {
  Indices coordinates;
  for (auto [dim, extent] : llvm::enumerate(shape))
    coordinates.push_back(extent == 0 ? nullptr : builder.coordinate(dim, extent));
  return coordinates;
}

/// Reads each operand dim with `read` at the dim of the result that aligns with it.
static Indices readAligned(ArrayRef<int64_t> operandShape, ArrayRef<Expr> result,
                           function_ref<Expr(int64_t extent, Expr index)> read) {
  if (operandShape.size() > result.size())
    return Indices(operandShape.size(), nullptr);
  Indices indices;
  ArrayRef<Expr> aligned = result.take_back(operandShape.size());
  for (auto [extent, index] : llvm::zip(operandShape, aligned))
    indices.push_back(read(extent, index));
  return indices;
}

Indices readExpanded(ExprBuilder &builder, ArrayRef<int64_t> operandShape, ArrayRef<Expr> result) {
  return readAligned(operandShape, result,
                     [&](int64_t extent, Expr index) { return extent == 1 ? builder.integer(0) : index; });
}

Indices readTiled(ExprBuilder &builder, ArrayRef<int64_t> operandShape, ArrayRef<Expr> result) {
  return readAligned(operandShape, result, [&](int64_t extent, Expr index) { return builder.modulo(index, extent); });
}

/// The row-major stride of each dim in elements, then the element count; nullopt if that overflows or is 0.
static std::optional<SmallVector<int64_t>> stridesAndCount(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size() + 1, 1);
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    if (shape[dim] < 1 || llvm::MulOverflow(stride, shape[dim], stride))
      return std::nullopt;
  }
  strides.back() = stride;
  return strides;
}

Indices readReshaped(ExprBuilder &builder, ArrayRef<int64_t> operandShape, ArrayRef<int64_t> resultShape,
                     ArrayRef<Expr> result) {
  auto resultStrides = stridesAndCount(resultShape), operandStrides = stridesAndCount(operandShape);
  if (!resultStrides || !operandStrides || resultStrides->back() != operandStrides->back())
    return Indices(operandShape.size(), nullptr);
  // A reshape keeps the row-major position of every element.
  Expr position = builder.integer(0);
  for (auto [index, stride] : llvm::zip(result, *resultStrides))
    position = builder.add(position, builder.multiply(index, stride));
  Indices indices;
  for (auto [extent, stride] : llvm::zip(operandShape, *operandStrides))
    // For the first dim the remainder changes nothing. Where the bounds of the position show this, it is removed.
    indices.push_back(builder.modulo(builder.floorDivide(position, stride), extent));
  return indices;
}

Indices readPermuted(ArrayRef<int64_t> permutation, ArrayRef<Expr> result) {
  Indices indices(permutation.size(), nullptr);
  for (auto [dim, source] : llvm::enumerate(permutation))
    indices[source] = result[dim];
  return indices;
}

Indices readSliced(ExprBuilder &builder, int64_t dim, int64_t start, int64_t step, ArrayRef<Expr> result) {
  Indices indices(result);
  indices[dim] = builder.add(builder.integer(start), builder.multiply(indices[dim], step));
  return indices;
}

Indices readSelected(ExprBuilder &builder, int64_t dim, int64_t index, ArrayRef<Expr> result) {
  Indices indices(result);
  indices.insert(indices.begin() + dim, builder.integer(index));
  return indices;
}

Indices readInterleaved(ExprBuilder &builder, int64_t dim, int64_t count, ArrayRef<Expr> result) {
  Indices indices(result);
  indices[dim] = builder.floorDivide(indices[dim], count);
  return indices;
}

} // namespace meshplan::indexing
