//===- transfer.h - copying overlaps of tensors ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_TRANSFER_H
#define MESHPLAN_RUNTIME_EXEC_TRANSFER_H

#include "runtime/exec/overlap.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// Copies what the overlap names from `source` to `target`.
Status copyOverlap(const Overlap &overlap, const Tensor &source, const Tensor &target);

/// The elements as a tensor of one dim: a view of a row-major tensor, a copy of another one.
Expected<Tensor> flatten(const Tensor &tensor);

/// Copies `count` elements of one tensor of one dim to another.
Status copyRun(const Tensor &from, int64_t source, const Tensor &into, int64_t target, int64_t count);

/// A new flat tensor with the pieces of `source` one after the other.
Expected<Tensor> pack(std::span<const Overlap> pieces, const Tensor &source);

/// Puts the pieces, which lie one after the other in the flat tensor `packed`, into `target`.
Status unpack(std::span<const Overlap> pieces, const Tensor &packed, const Tensor &target);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_TRANSFER_H
