//===- groups.cpp - grouped convolution and norm --------------------------===//

#include "runtime/tensor/torch/kernels/groups.h"

#include <ATen/ATen.h>

using namespace meshplan;

at::Tensor meshplan::groupedConvolution(const at::Tensor &input, const at::Tensor &weight,
                                        const std::optional<at::Tensor> &bias, const ConvolutionForm &form) {
  // The features of a sample without batch dim are its first dim, and `batch.size(1)` below must be theirs.
  bool isSample = input.dim() < weight.dim();
  at::Tensor batch = isSample ? input.unsqueeze(0) : input;
  int64_t ofGroup = form.transposed ? form.groupInputs : weight.size(1);
  TORCH_CHECK(ofGroup > 0 && batch.size(1) % ofGroup == 0, batch.size(1), " features are not groups of ", ofGroup);
  int64_t groups = batch.size(1) / ofGroup;
  const std::vector<int64_t> noPadding(form.stride.size(), 0);
  at::Tensor result = form.mode.empty()
                          ? at::convolution(batch, weight, bias, form.stride, form.padding, form.dilation,
                                            form.transposed, form.transposed ? form.outputPadding : noPadding, groups)
                          : at::_convolution_mode(batch, weight, bias, form.stride, form.mode, form.dilation, groups);
  return isSample ? result.squeeze(0) : result;
}

at::Tensor meshplan::groupNorm(const at::Tensor &input, int64_t groupFeatures, const std::optional<at::Tensor> &weight,
                               const std::optional<at::Tensor> &bias, double eps) {
  TORCH_CHECK(groupFeatures > 0, "groups of ", groupFeatures, " features");
  return at::group_norm(input, input.size(1) / groupFeatures, weight, bias, eps);
}
