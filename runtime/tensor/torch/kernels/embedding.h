//===- embedding.h - rows of a divided table ---------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// `weight` holds the rows [offset, offset + V) of a table. Gives the row of
/// each index, zeros for rows that it does not hold: one addend of the whole
/// table's rows. indices [..] gives [.., E]. Fails, as aten::embedding does, for
/// an index outside of the table's `rows`; a negative number stands for not known.
at::Tensor shardedEmbedding(const at::Tensor &weight, const at::Tensor &indices, int64_t offset, int64_t rows = -1);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_EMBEDDING_H
