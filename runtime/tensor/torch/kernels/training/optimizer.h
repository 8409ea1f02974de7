//===- optimizer.h - steps of optimizers -------------------------*- C++ -*-===//
//
// The fused kernels of ATen, one parameter at a time. Parameter and states are
// changed in place; gradients are left as they are.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// What every optimizer takes. States and gradient have the shape of the parameter; states have its dtype or a narrower
/// one, the gradient has any. The others are tensors without dims, so that a schedule need not be made anew for another
/// value, of any float where nothing is said.
struct OptimizerStep {
  at::Tensor parameter, gradient;
  at::Tensor learningRate;
  at::Tensor step;                     ///< its number, 1 for the first; of an optimizer with states
  std::optional<at::Tensor> factor;    ///< of the gradient
  std::optional<at::Tensor> nonfinite; ///< an integer: nothing is changed where it is not 0
};

struct AdamNumbers {
  double beta1 = 0, beta2 = 0, eps = 0, weightDecay = 0;
  bool decoupled = false;
};

struct SgdNumbers {
  double momentum = 0, dampening = 0, weightDecay = 0;
  bool nesterov = false;
};

/// Adam (Kingma and Ba, 2015) as torch.optim.Adam does it; with `decoupled` weight decay AdamW (Loshchilov and Hutter,
/// 2019).
void adamStep(const OptimizerStep &step, at::Tensor average, at::Tensor squareAverage, const AdamNumbers &numbers);

/// torch.optim.SGD; without a state, `momentum` undefined, it has no momentum. The first step sets the state to the
/// gradient.
void sgdStep(const OptimizerStep &step, at::Tensor momentum, const SgdNumbers &numbers);

/// A row-major copy in the memory of the host, from which copies to the device are fast; one on the device of the
/// thread, of a tensor there. The elements are read before the stream of the thread goes on.
at::Tensor toHost(const at::Tensor &self);
at::Tensor toDevice(const at::Tensor &self);

/// `self`, with the elements of `source`, in its own dtype. They may be on different devices.
at::Tensor assign(at::Tensor self, const at::Tensor &source);

/// `self`, with `addend` added to it.
at::Tensor accumulate(at::Tensor self, const at::Tensor &addend);

/// A copy in another dtype.
at::Tensor roundAddends(const at::Tensor &self, at::ScalarType dtype);

/// A view of piece `index` (a tensor of one number) of the `count` equal ones of a dim.
at::Tensor takeMicrobatch(const at::Tensor &self, const at::Tensor &index, int64_t dim, int64_t count);

/// The sum of the squares of all elements, [] f32 (f64 of f64): an addend of the square of a norm.
at::Tensor squareSum(const at::Tensor &self);

/// The factor that brings a norm, given as its square, down to `limit`; 1 if it is not above. As
/// torch.nn.utils.clip_grad_norm_: limit / (norm + 1e-6). Of gradients that are too large by `scale`, a tensor without
/// dims, it brings the norm of the right ones down, and undoes the scale.
at::Tensor clipFactor(const at::Tensor &squaredNorm, const std::optional<at::Tensor> &scale, double limit);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H
