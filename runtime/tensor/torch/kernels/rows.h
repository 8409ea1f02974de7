//===- rows.h - cross entropy over a divided vocabulary ----------*- C++ -*-===//
//
// Each rank holds some columns of the logits. The maximum, the sum of
// exponentials, the sum of logarithms of probabilities and the target's logit
// are reduced over the ranks; the logits are not gathered. Work goes in blocks of rows, so that no second tensor of
// the size of the logits exists. f16 and bf16 are computed in f32; results have
// the element type of the input.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ROWS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ROWS_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// [N, C] to [N]: largest element of each row, minus infinity when C is 0.
at::Tensor rowMax(const at::Tensor &input);

/// [N, C], [N] to [N]: sum over each row of exp(input - max). A sum of half types is f32: it is one addend of that of
/// all columns.
at::Tensor rowSumExp(const at::Tensor &input, const at::Tensor &max);

/// [N, C], [N], [N] to [N]: sum over each row of input - max - log(sumExp), each times its column's element of weight
/// [C] if there is one. A sum of half types is f32.
at::Tensor rowSumLogSoftmax(const at::Tensor &input, const at::Tensor &max, const at::Tensor &sumExp,
                            const std::optional<at::Tensor> &weight);

/// [N, C], [N] to [N]: input[n, target[n] - offset], zero where that column is not here.
at::Tensor rowPick(const at::Tensor &input, const at::Tensor &target, int64_t offset);

/// [C], [N] to [N]: weight[target], zero where target is ignoreIndex. Fails for another target outside of [0, C).
at::Tensor classWeight(const at::Tensor &weight, const at::Tensor &target, int64_t ignoreIndex);

/// The losses of rows, from what the ranks know of them together.
struct TokenLoss {
  std::optional<at::Tensor> max, sumExp; ///< [N]; neither: `picked` is logarithms of probabilities
  at::Tensor picked, target;             ///< [N]
  int64_t ignoreIndex = 0;
  int64_t classes = -1;             ///< none, or a negative number: not known
  std::optional<at::Tensor> weight; ///< [N], of the target's class
  std::optional<at::Tensor> rowSum; ///< [N], that of rowSumLogSoftmax, which smoothed labels need
  double labelSmoothing = 0;
};

/// [N]: log(sumExp) + max - picked, or -picked without the first two, times weight; zero where target is ignoreIndex.
/// With rowSum (1 - labelSmoothing) of it, and labelSmoothing / classes of -rowSum. Fails for another target outside of
/// [0, classes).
at::Tensor tokenLoss(const TokenLoss &row);

/// [N] to []: number of targets other than ignoreIndex.
at::Tensor countTokens(const at::Tensor &target, int64_t ignoreIndex, at::ScalarType dtype);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ROWS_H
