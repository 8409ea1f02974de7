//===- optimizer.h - steps of optimizers ------------------------*- C++ -*-===//
//
// Optimizer steps, by the fused kernels of ATen, one parameter at a time. Parameter and states are updated in place;
// gradients are unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// The operands that all optimizers share. Gradient and states have the shape of the parameter. The states have its
/// dtype or a narrower one; the gradient has any. The others are scalar tensors of any float dtype (except
/// `nonfinite`), so that one schedule serves all their values.
struct OptimizerStep {
  at::Tensor parameter, gradient;
  at::Tensor learningRate;
  at::Tensor step;                     ///< step number, 1 for the first; used only by optimizers with states
  std::optional<at::Tensor> factor;    ///< multiplies the gradient
  std::optional<at::Tensor> nonfinite; ///< an integer; if it is not 0, nothing is changed
};

struct AdamNumbers {
  double beta1 = 0, beta2 = 0, eps = 0, weightDecay = 0;
  bool decoupled = false; ///< weight decay as in AdamW
};

struct SgdNumbers {
  double momentum = 0, dampening = 0, weightDecay = 0;
  bool nesterov = false;
};

/// Adam (Kingma and Ba, 2015) as in torch.optim.Adam; with `decoupled` weight decay AdamW (Loshchilov and Hutter,
/// 2019).
void adamStep(const OptimizerStep &step, at::Tensor average, at::Tensor squareAverage, const AdamNumbers &numbers);

/// torch.optim.SGD, without momentum if `momentum` is undefined. The first step sets the momentum to the gradient.
void sgdStep(const OptimizerStep &step, at::Tensor momentum, const SgdNumbers &numbers);

/// Copies the elements of `source` to `self`, in its dtype, and returns it. They may be on different devices.
at::Tensor assign(at::Tensor self, const at::Tensor &source);

/// Adds `addend` to `self` and returns it.
at::Tensor accumulate(at::Tensor self, const at::Tensor &addend);

/// A copy in another dtype.
at::Tensor roundAddends(const at::Tensor &self, at::ScalarType dtype);

/// A view of slice `index` (a scalar tensor) of a dim that is split into `count` equal slices.
at::Tensor takeMicrobatch(const at::Tensor &self, const at::Tensor &index, int64_t dim, int64_t count);

/// The sum of squares of all elements, [] f32 (f64 for f64): an addend of a squared norm.
at::Tensor squareSum(const at::Tensor &self);

/// The factor that reduces a norm, given as its square, to `limit`: limit / (norm + 1e-6), at most 1, as in
/// torch.nn.utils.clip_grad_norm_. If the gradients are scaled by `scale` (a scalar tensor), the factor clips the
/// unscaled gradients and removes the scale.
at::Tensor clipFactor(const at::Tensor &squaredNorm, const std::optional<at::Tensor> &scale, double limit);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H
