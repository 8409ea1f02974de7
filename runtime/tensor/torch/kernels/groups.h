//===- groups.h - operators of groups of features ----------------*- C++ -*-===//
//
// ATen's take the number of groups, which differs between ranks that have some of
// them each. These take the features of a group, and count.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H

#include <ATen/core/Tensor.h>
#include <c10/util/string_view.h>
#include <optional>

namespace meshplan {

/// aten.convolution of an input [batch, features, places..], or of one sample without a batch; a group has as many
/// input features as the dim 1 of the weight, or `groupInputs` where it is transposed. Lists have one number for each
/// window dim. With a `mode`, "same" or "valid", that is the padding.
at::Tensor groupedConvolution(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias,
                              at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                              c10::string_view mode, bool transposed, at::IntArrayRef outputPadding,
                              int64_t groupInputs);

/// aten.group_norm of groups of `groupFeatures`.
at::Tensor groupNorm(const at::Tensor &input, int64_t groupFeatures, const std::optional<at::Tensor> &weight,
                     const std::optional<at::Tensor> &bias, double eps);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
