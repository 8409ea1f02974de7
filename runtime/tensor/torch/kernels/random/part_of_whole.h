//===- part_of_whole.h - numbering a part -----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_PART_OF_WHOLE_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_PART_OF_WHOLE_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// A box of a whole tensor. Numbers its elements, in row-major order, by their position in the whole tensor: as runs of
/// consecutive numbers.
class PartOfWhole {
public:
  /// The elements [offset, offset + shape) of a tensor of shape `whole`. Empty lists: the part is the whole tensor.
  /// Throws if the part is out of range.
  PartOfWhole(at::IntArrayRef shape, at::IntArrayRef whole, at::IntArrayRef offset);

  int64_t runs() const { return runCount; }
  /// The number of elements of a run.
  int64_t runLength() const { return length; }
  /// The number, in the whole tensor, of the first element of a run.
  int64_t start(int64_t run) const;

  /// [shape] i64 on a device: the number of each element in the whole tensor.
  at::Tensor numbers(at::Device device) const;

private:
  int64_t stride(size_t dim) const;

  at::DimVector shape, whole, offset;
  size_t outer = 0; ///< the dims before this one number the runs
  int64_t length = 1, runCount = 1;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_RANDOM_PART_OF_WHOLE_H
