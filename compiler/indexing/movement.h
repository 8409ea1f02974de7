//===- movement.h - operators that only move elements -----------*- C++ -*-===//
//
// Such an operator is how it reads: given where its result is read, one
// expression for each dim of the result, these functions say where it reads
// its operand, one expression for each dim of the operand. Reading back
// through a chain of operators composes them. Dims are not negative. Indices
// are null where the shapes do not fit.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_INDEXING_MOVEMENT_H
#define MESHPLAN_COMPILER_INDEXING_MOVEMENT_H

#include "compiler/indexing/expr.h"

namespace meshplan::indexing {

using Indices = llvm::SmallVector<Expr, 4>;

/// d0, d1, ... of a tensor of this shape; null where a dim is empty.
Indices coordinatesOf(ExprBuilder &builder, llvm::ArrayRef<int64_t> shape);

/// expand and broadcast: dims align at the last one, dims of one element repeat.
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

/// repeat_interleave: each element of `dim` stands `count` >= 1 times in a row.
Indices readInterleaved(ExprBuilder &builder, int64_t dim, int64_t count, llvm::ArrayRef<Expr> result);

/// repeat: the operand as a tile; dims align at the last one.
Indices readTiled(ExprBuilder &builder, llvm::ArrayRef<int64_t> operandShape, llvm::ArrayRef<Expr> result);

} // namespace meshplan::indexing

#endif // MESHPLAN_COMPILER_INDEXING_MOVEMENT_H
