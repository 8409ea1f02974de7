//===- embedding.h - lookups in tables that ranks share ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>

namespace meshplan {

/// `weight` holds the rows [offset, offset + V) of a table. Returns the row of each index, and zeros for rows that
/// other ranks hold: an addend of the whole table's rows. indices [..] give [.., E]. Fails, like aten::embedding, for
/// an index outside the table's `rows`; a negative number means unknown.
at::Tensor shardedEmbedding(const at::Tensor &weight, const at::Tensor &indices, int64_t offset, int64_t rows = -1);

/// Throws IndexError unless all indices are in [0, size). The whole range is checked, not the rank's part: an index in
/// no rank's part would silently count as zero.
inline void checkIndices(const at::Tensor &indices, int64_t size, const char *what) {
  if (indices.numel() == 0)
    return;
  int64_t least = indices.min().item<int64_t>(), most = indices.max().item<int64_t>();
  TORCH_CHECK_INDEX(least >= 0 && most < size, what, " ", least < 0 ? least : most, " is out of range [0, ", size, ")");
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H
