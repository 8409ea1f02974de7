//===- row_loss.h - gradient of losses over a divided vocabulary -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The losses that rowMax, rowSumExp, rowPick, rowSumLogSoftmax and tokenLoss make together, of the columns [offset,
/// offset + C) of `classes` that are here.
struct RowLoss {
  at::Tensor input;                      ///< [N, C]
  at::Tensor target;                     ///< [N]
  std::optional<at::Tensor> max, sumExp; ///< [N], of whole rows; neither: the input is logarithms of probabilities
  std::optional<at::Tensor> weight;      ///< [N], what tokenLoss multiplied by
  std::optional<at::Tensor> classWeight; ///< [classes]; read only where labelSmoothing is not 0
  int64_t ignoreIndex = 0, classes = 0;
  double labelSmoothing = 0;
  int64_t offset = 0;
};

/// The gradient with respect to the input, of its shape and type, for `gradient` [N] of the losses. Rows whose target
/// is `ignoreIndex` get zeros, whatever `gradient` and `input` hold there. With s = labelSmoothing row n is gradient[n]
/// times
///     weight[n] (1 - s) (p[c] - (c is target)) + s / classes (sum(classWeight) p[c] - classWeight[c]),
/// p = 0 without max and sumExp. Computed in f32 for 16-bit types, in blocks of rows: the result is the only tensor of
/// its size. Fails for another target outside of [0, classes).
at::Tensor rowLossGradient(const at::Tensor &gradient, const RowLoss &loss);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
