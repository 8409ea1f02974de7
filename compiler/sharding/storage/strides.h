//===- strides.h - strides of tensors in memory -----------------*- C++ -*-===//
//
// The strides, in elements, that ATen gives tensors on CPU. They decide whether
// a reshape is a view, and which kernels copy an operand before they read it.
// The stride of a dim of one element has no meaning.
//
// Pure functions of local shapes. Only the planned memory depends on them,
// never a result.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SHARDING_STORAGE_STRIDES_H
#define MESHPLAN_COMPILER_SHARDING_STORAGE_STRIDES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace meshplan {

using Strides = llvm::SmallVector<int64_t, 4>;

/// A shape and the strides of its dims.
struct StridedShape {
  llvm::ArrayRef<int64_t> shape, strides;

  /// True if the elements are row-major without gaps.
  bool isContiguous() const;
  /// True if the elements have no gaps in some order of the dims, and no two have the same address.
  bool isDense() const;
  /// True if dim 1 (features) of 4 or 5 dims is innermost and the other dims are row-major.
  bool isChannelsLast() const;
};

/// Row-major.
Strides contiguousStrides(llvm::ArrayRef<int64_t> shape);

/// Dim 1 innermost (isChannelsLast). The shape has 4 or 5 dims.
Strides channelsLastStrides(llvm::ArrayRef<int64_t> shape);

/// The strides of `tensor` viewed in another shape with as many elements; nullopt if this needs a copy.
std::optional<Strides> viewStrides(StridedShape tensor, llvm::ArrayRef<int64_t> shape);

/// The strides of `tensor` broadcast to a shape, aligned at the last dim.
Strides expandedStrides(StridedShape tensor, llvm::ArrayRef<int64_t> shape);

/// The strides of the new result of an elementwise operator. Its dims are ordered like those of the operands; an
/// earlier operand takes precedence. Operands broadcast to `shape`.
Strides elementwiseStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<StridedShape> operands);

/// The strides of a copy, which keeps those of a dense tensor.
Strides copyStrides(StridedShape tensor);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_SHARDING_STORAGE_STRIDES_H
