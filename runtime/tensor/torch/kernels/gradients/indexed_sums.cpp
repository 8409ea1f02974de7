//===- indexed_sums.cpp - gradients of elements read often ----------------===//

#include "runtime/tensor/torch/kernels/gradients/indexed_sums.h"
#include "runtime/tensor/torch/kernels/accumulation.h"

#include <ATen/ATen.h>
#include <ATen/ops/_unique2.h>
#include <algorithm>

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
  // An element that is selected often would lose small addends in 16 bits: in bf16, 256 + 1 is 256.
  return sums.index_put_(indices, source.to(type), /*accumulate=*/true).to(source.scalar_type());
}

/// PyTorch accumulates each row in the order of its indices; threads split the rows, not the indices.
static at::Tensor sumRows(const at::Tensor &gradient, const at::Tensor &indices, int64_t rows, bool scaleByFrequency) {
  return at::embedding_dense_backward(gradient, indices, rows, /*padding_idx=*/-1, scaleByFrequency);
}

at::Tensor meshplan::embeddingGradient(const at::Tensor &gradient, const at::Tensor &indices,
                                       const std::optional<at::Tensor> &weight, int64_t offset, int64_t paddingIdx,
                                       bool scaleByFrequency, int64_t rows) {
  TORCH_CHECK(weight || rows >= 0, "there is neither a weight nor a number of rows");
  TORCH_CHECK(!weight || weight->dim() == 2, "weight must have 2 dims, it has ", weight ? weight->dim() : 0);
  std::vector<int64_t> expected = indices.sizes().vec();
  expected.push_back(weight ? weight->size(1) : gradient.dim() > 0 ? gradient.size(-1) : 0);
  TORCH_CHECK(gradient.sizes().equals(expected), "gradient ", gradient.sizes(), " does not fit indices ",
              indices.sizes(), weight ? c10::str(" and weight ", weight->sizes()) : std::string());
  if (weight)
    rows = weight->size(0);
  int64_t features = gradient.size(-1);
  at::Tensor flat = indices.reshape({-1}), sources = gradient.reshape({flat.size(0), features});
  at::Tensor local = flat.to(at::kLong) - offset;
  at::Tensor isHere = local.ge(0).logical_and_(local.lt(rows));
  if (paddingIdx >= 0)
    isHere.logical_and_(flat.ne(paddingIdx));
  // Drop the indices of other ranks, whose rows are not in the result.
  if (!isHere.all().item<bool>()) {
    at::Tensor here = isHere.nonzero().squeeze(1);
    local = local.index_select(0, here);
    sources = sources.index_select(0, here);
  }
  if (sources.numel() == 0)
    return at::zeros({rows, features}, gradient.options());
  at::ScalarType type = accumulationType(gradient.scalar_type());
  if (type == gradient.scalar_type())
    return sumRows(sources, local, rows, scaleByFrequency);
  // Only the rows that occur are accumulated in f32; the table may be much larger.
  auto [present, position, count] = at::_unique2(local, /*sorted=*/true, /*return_inverse=*/true);
  at::Tensor sums = sumRows(sources.to(type), position, present.size(0), scaleByFrequency);
  return at::zeros({rows, features}, gradient.options()).index_copy_(0, present, sums.to(gradient.scalar_type()));
}

at::Tensor meshplan::sumSharedHeads(const at::Tensor &input, int64_t groups, int64_t headsPerGroup, int64_t firstHead) {
  TORCH_CHECK(input.dim() >= 2, "input must have 2 dims or more, it has ", input.dim());
  int64_t heads = input.size(1);
  TORCH_CHECK(headsPerGroup > 0 && firstHead >= 0 && firstHead + heads <= groups * headsPerGroup, "heads ", firstHead,
              " to ", firstHead + heads, " do not fit ", groups, " groups of ", headsPerGroup);
  std::vector<int64_t> shape = input.sizes().vec();
  shape[1] = groups;
  at::Tensor result = at::empty(shape, input.options());
  for (int64_t group = 0; group < groups; ++group) {
    // A shard of the heads may begin and end inside a group.
    int64_t begin = std::clamp<int64_t>(group * headsPerGroup - firstHead, 0, heads);
    int64_t end = std::clamp<int64_t>((group + 1) * headsPerGroup - firstHead, 0, heads);
    at::Tensor sum = result.select(1, group);
    // A single head needs no sum, and keeps its elements unrounded.
    if (end - begin == 1)
      sum.copy_(input.select(1, begin));
    else
      sum.copy_(input.narrow(1, begin, end - begin).sum(1, false, accumulationType(input.scalar_type())));
  }
  return result;
}
