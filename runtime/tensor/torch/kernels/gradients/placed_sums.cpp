//===- placed_sums.cpp - scattered sums -----------------------------------===//

#include "runtime/tensor/torch/kernels/gradients/placed_sums.h"
#include "runtime/tensor/torch/kernels/accumulation.h"

#include <ATen/ATen.h>

using namespace meshplan;

at::Tensor meshplan::scatterSum(const at::Tensor &source, const at::Tensor &index, int64_t dim, at::IntArrayRef size) {
  at::ScalarType type = accumulationType(source.scalar_type());
  at::Tensor sums = at::zeros(size, source.options().dtype(type));
  return sums.scatter_add_(dim, index, source.to(type)).to(source.scalar_type());
}

at::Tensor meshplan::indexSum(const at::Tensor &source, const c10::List<std::optional<at::Tensor>> &indices,
                              at::IntArrayRef size) {
  at::ScalarType type = accumulationType(source.scalar_type());
  at::Tensor sums = at::zeros(size, source.options().dtype(type));
  return sums.index_put_(indices, source.to(type), /*accumulate=*/true).to(source.scalar_type());
}
