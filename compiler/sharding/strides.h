//===- strides.h - where the elements of a tensor lie ------------*- C++ -*-===//
//
// The strides, in elements, that ATen gives tensors on CPU. They decide whether
// a reshape is a view, and which kernels copy an operand before they read it.
// Strides of a dim of one element mean nothing.
//
// Pure functions of local shapes. Only the planned memory depends on them, never
// a result.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_STRIDES_H
#define MESHPLAN_COMPILER_SHARDING_STRIDES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace meshplan {

using Strides = llvm::SmallVector<int64_t, 4>;

/// A shape and the strides of its dims.
struct StridedShape {
  llvm::ArrayRef<int64_t> shape, strides;

  /// True if the elements lie row-major, without gaps.
  bool isContiguous() const;
  /// True if the elements lie without gaps in some order of the dims, and no two at one place.
  bool isDense() const;
  /// True if the features, dim 1 of 4 or 5, are innermost and the other dims follow row-major.
  bool isChannelsLast() const;
};

/// Row-major.
Strides contiguousStrides(llvm::ArrayRef<int64_t> shape);

/// Features innermost (isChannelsLast). The shape has 4 or 5 dims.
Strides channelsLastStrides(llvm::ArrayRef<int64_t> shape);

/// The strides of `tensor` viewed in another shape of as many elements; nullopt if only a copy can have it.
std::optional<Strides> viewStrides(StridedShape tensor, llvm::ArrayRef<int64_t> shape);

/// The strides of `tensor` broadcast to a shape, aligned at the last dim.
Strides expandedStrides(StridedShape tensor, llvm::ArrayRef<int64_t> shape);

/// The strides of the new result of an elementwise operator: its dims are ordered as those of the operands, of which an
/// earlier one decides first. Operands broadcast to `shape`.
Strides elementwiseStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<StridedShape> operands);

/// The strides of a copy that keeps those of a dense tensor.
Strides copyStrides(StridedShape tensor);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_STRIDES_H
