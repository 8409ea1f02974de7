//===- groups.h - grouped convolution and norm ------------------*- C++ -*-===//
//
// Grouped operators for a shard of the groups. ATen's operators take the number of groups, which differs between ranks
// that hold different numbers of groups. These take the features per group and count the groups themselves.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// The windows of a convolution. Lists have one number per window dim.
struct ConvolutionForm {
  std::vector<int64_t> stride, padding, dilation;
  std::string mode; ///< "same" or "valid" replaces `padding`
  bool transposed = false;
  std::vector<int64_t> outputPadding; ///< used only if the convolution is transposed
  int64_t groupInputs = 0;            ///< input features per group; used only if the convolution is transposed
};

/// aten.convolution of an input [batch, features, positions..], or of one sample without batch dim. A group has as many
/// input features as dim 1 of the weight, or form.groupInputs if the convolution is transposed.
at::Tensor groupedConvolution(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias,
                              const ConvolutionForm &form);

/// aten.group_norm of groups of `groupFeatures` features.
at::Tensor groupNorm(const at::Tensor &input, int64_t groupFeatures, const std::optional<at::Tensor> &weight,
                     const std::optional<at::Tensor> &bias, double eps);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
