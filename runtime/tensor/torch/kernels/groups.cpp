//===- groups.cpp - grouped convolution and norm --------------------------===//

#include "runtime/tensor/torch/kernels/groups.h"

#include <ATen/ATen.h>

using namespace meshplan;

at::Tensor meshplan::groupedConvolution(const at::Tensor &input, const at::Tensor &weight,
                                        const std::optional<at::Tensor> &bias, at::IntArrayRef stride,
                                        at::IntArrayRef padding, at::IntArrayRef dilation, c10::string_view mode,
                                        bool transposed, at::IntArrayRef outputPadding, int64_t groupInputs) {
  bool isSample = input.dim() < weight.dim();
  at::Tensor batch = isSample ? input.unsqueeze(0) : input;
  int64_t ofGroup = transposed ? groupInputs : weight.size(1);
  TORCH_CHECK(ofGroup > 0 && batch.size(1) % ofGroup == 0, batch.size(1), " features are not groups of ", ofGroup);
  int64_t groups = batch.size(1) / ofGroup;
  std::vector<int64_t> noPadding(stride.size(), 0);
  if (!transposed)
    outputPadding = noPadding;
  at::Tensor result =
      mode.empty() ? at::convolution(batch, weight, bias, stride, padding, dilation, transposed, outputPadding, groups)
                   : at::_convolution_mode(batch, weight, bias, stride, mode, dilation, groups);
  return isSample ? result.squeeze(0) : result;
}

at::Tensor meshplan::groupNorm(const at::Tensor &input, int64_t groupFeatures, const std::optional<at::Tensor> &weight,
                               const std::optional<at::Tensor> &bias, double eps) {
  TORCH_CHECK(groupFeatures > 0, "groups of ", groupFeatures, " features");
  return at::group_norm(input, input.size(1) / groupFeatures, weight, bias, eps);
}
