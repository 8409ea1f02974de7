//===- parts.h - whole tensors and shards -----------------------*- C++ -*-===//
//
// Copies between whole tensors and the shards of ranks. All are f64, row-major, in host memory. Slices are those of
// RankView: their elements, concatenated, are the shard.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_VERIFY_PARTS_H
#define MESHPLAN_RUNTIME_VERIFY_PARTS_H

#include "runtime/data/slice.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// The shard of a whole tensor, as a tensor of this shape.
Expected<Tensor> partOf(const Tensor &whole, std::span<const SliceRanges> slices, std::span<const int64_t> shape);

/// A whole tensor of this shape with the elements of `part` (of any dtype and on any device), and zeros elsewhere.
Expected<Tensor> assembled(const Tensor &part, std::span<const SliceRanges> slices, std::span<const int64_t> shape);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_PARTS_H
