//===- row_loss.h - gradient of losses over a divided vocabulary -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The gradient of the losses that rowMax, rowSumExp, rowPick, rowSumLogSoftmax and tokenLoss make together, with
/// respect to the columns [offset, offset + C) of `classes` that are here. input [N, C], target [N] and `gradient` [N]
/// of the losses give [N, C] of the input's type. Rows whose target is `ignoreIndex` get zeros, whatever `gradient` and
/// `input` hold there.
///
/// `max` and `sumExp` [N] are those of whole rows; without both, the input is logarithms of probabilities already.
/// `weight` [N] is what tokenLoss multiplied by. `classWeight` [classes] is read only where labelSmoothing is not 0:
/// row n is gradient[n] times
///     weight[n] (1 - s) (p[c] - (c is target)) + s / classes (sum(classWeight) p[c] - classWeight[c]),
/// p = 0 without max and sumExp. Computed in f32 for 16-bit types, in blocks of rows: the result is the only tensor of
/// its size. Fails for another target outside of [0, classes).
at::Tensor rowLossGradient(const at::Tensor &gradient, const at::Tensor &input, const at::Tensor &target,
                           const std::optional<at::Tensor> &max, const std::optional<at::Tensor> &sumExp,
                           const std::optional<at::Tensor> &weight, const std::optional<at::Tensor> &classWeight,
                           int64_t ignoreIndex, int64_t classes, double labelSmoothing = 0, int64_t offset = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_ROW_LOSS_H
