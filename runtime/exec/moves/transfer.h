//===- transfer.h - copying overlaps of tensors -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_MOVES_TRANSFER_H
#define MESHPLAN_RUNTIME_EXEC_MOVES_TRANSFER_H

#include "runtime/exec/moves/pieces.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// Copies the elements of the overlap from `source` to `target`.
Status copyOverlap(const Overlap &overlap, const Tensor &source, const Tensor &target);

/// The elements as a tensor of one dim: a view of a row-major tensor, a copy of any other.
Expected<Tensor> flatten(const Tensor &tensor);

/// Copies `count` elements from one tensor of one dim to another.
Status copyRun(const Tensor &from, int64_t source, const Tensor &into, int64_t target, int64_t count);

/// Copies a run of the elements of a tensor, counted in row-major order, to a tensor of one dim. It needs no memory,
/// whatever the strides of the tensor.
Status packRun(const Tensor &from, Range run, const Tensor &into, int64_t target);

/// Copies a piece of a tensor to the elements from `begin` on of a tensor of one dim.
Status packPiece(const TensorPiece &piece, const Tensor &from, const Tensor &packed, int64_t begin);

/// Copies the elements from `begin` on of a tensor of one dim to a piece of a tensor. The piece is an overlap, or the
/// tensor is row-major.
Status unpackPiece(const TensorPiece &piece, const Tensor &packed, int64_t begin, const Tensor &into);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_MOVES_TRANSFER_H
