//===- row_loss.h - gradient of sharded losses ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The gradient of the losses computed by rowMax, rowSumExp, rowPick, rowSumLogSoftmax and tokenLoss, with respect to
/// the rank's columns [offset, offset + C) of `classes`. input [N, C], target [N] and `gradient` [N] of the losses give
/// [N, C] in the input's dtype. Rows whose target is `ignoreIndex` are zero, whatever `gradient` and `input` contain.
///
/// `max` and `sumExp` [N] are those of whole rows; without both, the input is already log probabilities. `weight` [N]
/// is the factor used by tokenLoss. `classWeight` [classes] is used only if s = labelSmoothing is not 0. Row n is
/// gradient[n] times
///     weight[n] (1 - s) (p[c] - (c is target)) + s / classes (sum(classWeight) p[c] - classWeight[c]),
/// with p = 0 without max and sumExp. 16-bit dtypes are computed in f32, in blocks of rows; the result is the only
/// tensor of its size. Fails for another target outside [0, classes).
at::Tensor rowLossGradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &target,
                           const std::optional<at::Tensor> &max, const std::optional<at::Tensor> &sumExp,
                           const std::optional<at::Tensor> &weight, const std::optional<at::Tensor> &classWeight,
                           int64_t ignoreIndex, int64_t classes, double labelSmoothing = 0, int64_t offset = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
