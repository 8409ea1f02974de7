//===- embedding.h - rows of a sharded table --------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// `weight` holds the rows [offset, offset + V) of a table. Returns the row of each index, and zeros for rows that
/// other ranks hold: an addend of the whole table's rows. indices [..] give [.., E]. Fails, like aten::embedding, for
/// an index outside the table's `rows`; a negative number means unknown.
at::Tensor shardedEmbedding(const at::Tensor &weight, const at::Tensor &indices, int64_t offset, int64_t rows = -1);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H
