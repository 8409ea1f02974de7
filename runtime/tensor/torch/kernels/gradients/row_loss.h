//===- row_loss.h - gradient of sharded losses ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The losses computed by rowMax, rowSumExp, rowPick, rowSumLogSoftmax and tokenLoss, for the rank's columns [offset,
/// offset + C) of `classes`.
struct RowLoss {
  at::Tensor input;                      ///< [N, C]
  at::Tensor target;                     ///< [N]
  std::optional<at::Tensor> max, sumExp; ///< [N], of whole rows; absent if the input is already log probabilities
  std::optional<at::Tensor> weight;      ///< [N], the factor used by tokenLoss
  std::optional<at::Tensor> classWeight; ///< [classes]; used only if labelSmoothing is not 0
  int64_t ignoreIndex = 0, classes = 0;
  double labelSmoothing = 0;
  int64_t offset = 0;
};

/// The gradient with respect to the input, [N, C] in its dtype, given the `gradient` [N] of the losses. Rows whose
/// target is `ignoreIndex` are zero, whatever `gradient` and `input` contain. With s = labelSmoothing, row n is
/// gradient[n] times
///     weight[n] (1 - s) (p[c] - (c is target)) + s / classes (sum(classWeight) p[c] - classWeight[c]),
/// with p = 0 without max and sumExp. 16-bit dtypes are computed in f32, in blocks of rows; the result is the only
/// tensor of its size. Fails for another target outside [0, classes).
at::Tensor rowLossGradient(const at::Tensor &gradient, const RowLoss &loss);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
