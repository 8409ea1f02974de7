//===- indices.h - numbers that point into a divided dim ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_INDICES_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_INDICES_H

#include <ATen/ATen.h>

namespace meshplan {

/// Throws IndexError unless all numbers are within [0, size). No rank may look at
/// its own part only: a number that is in nobody's part would count as zero.
inline void checkIndices(const at::Tensor &indices, int64_t size, const char *what) {
  if (indices.numel() == 0)
    return;
  int64_t least = indices.min().item<int64_t>(), most = indices.max().item<int64_t>();
  TORCH_CHECK_INDEX(least >= 0 && most < size, what, " ", least < 0 ? least : most, " is out of range [0, ", size, ")");
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_INDICES_H
