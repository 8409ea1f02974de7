//===- shared_heads.cpp - sums over heads that share a key head -----------===//

#include "runtime/tensor/torch/kernels/gradients/shared_heads.h"
#include "runtime/tensor/torch/kernels/accumulation.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

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
    if (end - begin == 1)
      sum.copy_(input.select(1, begin));
    else
      sum.copy_(input.narrow(1, begin, end - begin).sum(1, false, accumulationType(input.scalar_type())));
  }
  return result;
}
