//===- groups.h - grouped convolution and norm ------------------*- C++ -*-===//
//
// Grouped operators for a shard of the groups. ATen's operators take the number of groups, which differs between ranks
// that hold different numbers of groups. These take the features per group and count the groups themselves.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H

#include <ATen/core/Tensor.h>
#include <c10/util/string_view.h>
#include <optional>

namespace meshplan {

/// aten.convolution of an input [batch, features, positions..], or of one sample without batch dim. A group has as many
/// input features as dim 1 of the weight, or `groupInputs` if the convolution is transposed. Lists have one number per
/// window dim. `mode`, "same" or "valid", replaces the padding.
at::Tensor groupedConvolution(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias,
                              at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                              c10::string_view mode, bool transposed, at::IntArrayRef outputPadding,
                              int64_t groupInputs);

/// aten.group_norm of groups of `groupFeatures` features.
at::Tensor groupNorm(const at::Tensor &input, int64_t groupFeatures, const std::optional<at::Tensor> &weight,
                     const std::optional<at::Tensor> &bias, double eps);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPS_H
