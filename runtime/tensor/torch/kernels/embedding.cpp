//===- embedding.cpp - rows of a sharded table ----------------------------===//

#include "runtime/tensor/torch/kernels/embedding.h"

#include <ATen/ATen.h>

using namespace meshplan;

at::Tensor meshplan::shardedEmbedding(const at::Tensor &weight, const at::Tensor &indices, int64_t offset,
                                      int64_t tableRows) {
  TORCH_CHECK(weight.dim() == 2, "weight must have 2 dims, it has ", weight.dim());
  if (tableRows >= 0)
    checkIndices(indices, tableRows, "index");
  int64_t rows = weight.size(0);
  // Example: mesh tp=3, 10 rows. Rank 1 holds rows 4-6, so index 5 is its row 1 and index 2 becomes -2, which another
  // rank has.
  at::Tensor local = indices - offset;
  if (rows == 0) {
    std::vector<int64_t> shape = indices.sizes().vec();
    shape.push_back(weight.size(1));
    return at::zeros(shape, weight.options());
  }
  // Look up a valid row for every index, then zero the rows of other ranks. A branch per index would be slower.
  at::Tensor outside = local.lt(0).logical_or_(local.ge(rows));
  at::Tensor result = at::embedding(weight, local.clamp_(0, rows - 1));
  return result.masked_fill_(outside.unsqueeze(-1), 0);
}
