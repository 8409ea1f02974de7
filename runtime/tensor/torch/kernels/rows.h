//===- rows.h - cross entropy, sharded vocabulary ---------------*- C++ -*-===//
//
// Cross entropy with a sharded vocabulary. Each rank holds some columns of the logits. The maximum, the sum of
// exponentials, the sum of log probabilities and the target's logit are reduced over the ranks; the logits are not
// gathered. Works in blocks of rows, so that no second tensor of the size of the logits exists. f16 and bf16 are
// computed in f32; results have the dtype of the input.
//
// Example: logits [1, 2, 3, 4] with target 2; rank 0 holds the first two columns, rank 1 the last two. Max: 2 and 4,
// all-reduced to 4. Sum of exp(x - 4): 0.185 and 1.368, together 1.553. Pick: 0 and 3, together 3. Loss: log(1.553) + 4
// - 3 = 1.440.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ROWS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ROWS_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// [N, C] to [N]: the largest element of each row; minus infinity if C is 0.
at::Tensor rowMax(const at::Tensor &input);

/// [N, C], [N] to [N]: row sums of exp(input - max). For 16-bit dtypes the sum is f32, because it is an addend of the
/// sum over all columns.
at::Tensor rowSumExp(const at::Tensor &input, const at::Tensor &max);

/// [N, C], [N], [N] to [N]: row sums of input - max - log(sumExp), each term times its column's element of weight [C]
/// if given. For 16-bit dtypes the sum is f32.
at::Tensor rowSumLogSoftmax(const at::Tensor &input, const at::Tensor &max, const at::Tensor &sumExp,
                            const std::optional<at::Tensor> &weight);

/// [N, C], [N] to [N]: input[n, target[n] - offset]; zero if the rank does not hold that column.
at::Tensor rowPick(const at::Tensor &input, const at::Tensor &target, int64_t offset);

/// [C], [N] to [N]: weight[target]; zero if target is ignoreIndex. Fails for another target outside [0, C).
at::Tensor classWeight(const at::Tensor &weight, const at::Tensor &target, int64_t ignoreIndex);

/// The arguments of tokenLoss. Values of rows are those of whole rows, reduced over the ranks.
struct TokenLoss {
  std::optional<at::Tensor> max, sumExp; ///< [N]; absent if `picked` is log probabilities
  at::Tensor picked, target;             ///< [N]
  int64_t ignoreIndex = 0;
  int64_t classes = -1;             ///< <= 0 means unknown
  std::optional<at::Tensor> weight; ///< [N], the weight of the target's class
  std::optional<at::Tensor> rowSum; ///< [N], the result of rowSumLogSoftmax; given if labels are smoothed
  double labelSmoothing = 0;
};

/// [N]: log(sumExp) + max - picked; zero if target is ignoreIndex. Without max and sumExp, -picked. Multiplied by
/// `weight` if given. With `rowSum`: (1 - labelSmoothing) times that, minus labelSmoothing / classes times rowSum.
/// Fails for another target outside [0, classes).
at::Tensor tokenLoss(const TokenLoss &row);

/// [N] to []: the number of targets other than ignoreIndex.
at::Tensor countTokens(const at::Tensor &target, int64_t ignoreIndex, at::ScalarType dtype);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ROWS_H
