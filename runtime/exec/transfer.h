//===- transfer.h - copying overlaps of tensors -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_TRANSFER_H
#define MESHPLAN_RUNTIME_EXEC_TRANSFER_H

#include "runtime/schema/overlap.h"
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

/// A new flat tensor with the pieces of `source`, concatenated.
Expected<Tensor> pack(std::span<const Overlap> pieces, const Tensor &source);

/// Copies the pieces, which are consecutive in the flat tensor `packed`, into `target`.
Status unpack(std::span<const Overlap> pieces, const Tensor &packed, const Tensor &target);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_TRANSFER_H
