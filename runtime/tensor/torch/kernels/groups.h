//===- groups.h - operators of groups of features ----------------*- C++ -*-===//
//
// ATen's take the number of groups, which differs between ranks that have some of
// them each. These take the features of a group, and count.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// How windows of a convolution lie. Lists have one number for each window dim.
struct ConvolutionForm {
  std::vector<int64_t> stride, padding, dilation;
  std::string mode; ///< "same" or "valid", instead of `padding`
  bool transposed = false;
  std::vector<int64_t> outputPadding; ///< of a transposed one
  int64_t groupInputs = 0;            ///< input features of a group of a transposed one
};

/// aten.convolution of an input [batch, features, places..], or of one sample without a batch. A group has as many
/// input features as the dim 1 of the weight, unless the form says it.
at::Tensor groupedConvolution(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias,
                              const ConvolutionForm &form);

/// aten.group_norm of groups of `groupFeatures`.
at::Tensor groupNorm(const at::Tensor &input, int64_t groupFeatures, const std::optional<at::Tensor> &weight,
                     const std::optional<at::Tensor> &bias, double eps);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
