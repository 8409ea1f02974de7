//===- indices.h - indices into a sharded dim -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_INDICES_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_INDICES_H

#include <ATen/ATen.h>

namespace meshplan {

/// Throws IndexError unless all indices are in [0, size). The whole range is checked, not the rank's part: an index in
/// no rank's part would silently count as zero.
inline void checkIndices(const at::Tensor &indices, int64_t size, const char *what) {
  if (indices.numel() == 0)
    return;
  int64_t least = indices.min().item<int64_t>(), most = indices.max().item<int64_t>();
  TORCH_CHECK_INDEX(least >= 0 && most < size, what, " ", least < 0 ? least : most, " is out of range [0, ", size, ")");
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_INDICES_H
