//===- movement.h - operators that only move elements -----------*- C++ -*-===//
//
// An operator is described by how it reads its operand. Given the position at
// which its result is read (one expression for each dim of the result), each
// function returns the position in the operand (one expression for each dim of
// the operand). Composing the functions from the last operator to the first
// describes a chain. Dims are not negative. Indices are null where the shapes
// do not fit.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_INDEXING_MOVEMENT_H
#define MESHPLAN_COMPILER_INDEXING_MOVEMENT_H

#include "compiler/indexing/expr.h"

namespace meshplan::indexing {

using Indices = llvm::SmallVector<Expr, 4>;

/// d0, d1, ... of a tensor of this shape; null for a dim without elements.
Indices coordinatesOf(ExprBuilder &builder, llvm::ArrayRef<int64_t> shape);

/// expand and broadcast: dims align at the last one; dims of size 1 repeat.
Indices readExpanded(ExprBuilder &builder, llvm::ArrayRef<int64_t> operandShape, llvm::ArrayRef<Expr> result);

/// view, reshape, squeeze, unsqueeze, flatten: elements in the same order under another shape.
Indices readReshaped(ExprBuilder &builder, llvm::ArrayRef<int64_t> operandShape, llvm::ArrayRef<int64_t> resultShape,
                     llvm::ArrayRef<Expr> result);

/// permute: dim i of the result is dim `permutation[i]` of the operand.
Indices readPermuted(llvm::ArrayRef<int64_t> permutation, llvm::ArrayRef<Expr> result);

/// slice: element i of `dim` is element `start + i * step` of the operand.
Indices readSliced(ExprBuilder &builder, int64_t dim, int64_t start, int64_t step, llvm::ArrayRef<Expr> result);

/// select: `dim` of the operand is not in the result and is read at `index`.
Indices readSelected(ExprBuilder &builder, int64_t dim, int64_t index, llvm::ArrayRef<Expr> result);

/// repeat_interleave: each element of `dim` is repeated `count` >= 1 times in a row.
Indices readInterleaved(ExprBuilder &builder, int64_t dim, int64_t count, llvm::ArrayRef<Expr> result);

/// repeat: the operand is a tile; dims align at the last one.
Indices readTiled(ExprBuilder &builder, llvm::ArrayRef<int64_t> operandShape, llvm::ArrayRef<Expr> result);

} // namespace meshplan::indexing

#endif // MESHPLAN_COMPILER_INDEXING_MOVEMENT_H
