//===- parts.h - whole tensors and the parts that ranks hold -----*- C++ -*-===//
//
// Of f64, row-major, in the memory of the host. Slices are those of RankView: their elements, one after the other, are
// the rank's.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_VERIFY_PARTS_H
#define MESHPLAN_RUNTIME_VERIFY_PARTS_H

#include "runtime/data/slice.h"
#include "runtime/tensor/tensor.h"

namespace meshplan {

/// The part of a whole tensor, in a tensor of this shape.
Expected<Tensor> partOf(const Tensor &whole, std::span<const SliceRanges> slices, std::span<const int64_t> shape);

/// A whole tensor of this shape that has the elements of `part`, of any dtype and on any device, and zeros elsewhere.
Expected<Tensor> wholeWith(const Tensor &part, std::span<const SliceRanges> slices, std::span<const int64_t> shape);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_PARTS_H
