//===- optimizer.h - steps of optimizers ------------------------*- C++ -*-===//
//
// Optimizer steps, by the fused kernels of ATen, one parameter at a time. Parameter and states are updated in place and
// returned; gradients are unchanged. Learning rate, step number (1 for the first) and the optional factor of the
// gradient are scalar tensors of any float dtype, so that one schedule serves all their values. If `nonfinite`, a
// scalar integer, is given and not 0, nothing is changed.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// Adam (Kingma and Ba, 2015) as in torch.optim.Adam; with `decoupled` weight decay AdamW (Loshchilov and Hutter,
/// 2019). All tensors have the shape of the parameter and, except the gradient, its dtype.
std::tuple<at::Tensor, at::Tensor, at::Tensor> adamStep(at::Tensor parameter, const at::Tensor &gradient,
                                                        at::Tensor average, at::Tensor squareAverage,
                                                        const at::Tensor &learningRate, const at::Tensor &step,
                                                        const std::optional<at::Tensor> &factor,
                                                        const std::optional<at::Tensor> &nonfinite, double beta1,
                                                        double beta2, double eps, double weightDecay, bool decoupled);

/// torch.optim.SGD without momentum.
at::Tensor sgdStep(at::Tensor parameter, const at::Tensor &gradient, const at::Tensor &learningRate,
                   const std::optional<at::Tensor> &factor, const std::optional<at::Tensor> &nonfinite,
                   double weightDecay);

/// torch.optim.SGD with momentum. The first step sets the state to the gradient.
std::tuple<at::Tensor, at::Tensor> momentumStep(at::Tensor parameter, const at::Tensor &gradient, at::Tensor momentum,
                                                const at::Tensor &learningRate, const at::Tensor &step,
                                                const std::optional<at::Tensor> &factor,
                                                const std::optional<at::Tensor> &nonfinite, double rate,
                                                double dampening, double weightDecay, bool nesterov);

/// A row-major copy in host memory (pinned, if the tensor is on a GPU); and a copy on the thread's device. The elements
/// are read before later work of the thread's stream.
at::Tensor toHost(const at::Tensor &self);
at::Tensor toDevice(const at::Tensor &self);

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
