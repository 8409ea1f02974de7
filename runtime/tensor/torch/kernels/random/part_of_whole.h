//===- part_of_whole.h - where a rank's elements lie -------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_PART_OF_WHOLE_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_PART_OF_WHOLE_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// A box of a whole tensor, and how its elements, in row-major order, are numbered in the whole: as runs of numbers
/// that follow each other.
class PartOfWhole {
public:
  /// The elements [offset, offset + shape) of a tensor of shape `whole`. Empty lists: the part is the whole. Throws
  /// where a part lies outside.
  PartOfWhole(at::IntArrayRef shape, at::IntArrayRef whole, at::IntArrayRef offset);

  int64_t runs() const { return runCount; }
  /// Elements of a run.
  int64_t runLength() const { return length; }
  /// The number in the whole of the first element of a run.
  int64_t start(int64_t run) const;

  /// [shape] i64 on a device: the number of each element in the whole.
  at::Tensor numbers(at::Device device) const;

private:
  int64_t stride(size_t dim) const;

  at::DimVector shape, whole, offset;
  size_t outer = 0; ///< dims in which runs are numbered
  int64_t length = 1, runCount = 1;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_PART_OF_WHOLE_H
