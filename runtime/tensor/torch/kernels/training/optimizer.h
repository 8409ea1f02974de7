//===- optimizer.h - steps of optimizers -------------------------*- C++ -*-===//
//
// The fused kernels of ATen, one parameter at a time. Parameter and states are
// changed in place and returned; gradients are left as they are. Learning rate,
// number of the step (1 for the first) and the factor of the gradient, if there
// is one, are tensors without dims, so that a schedule need not be made anew for
// another value. Their dtype is any float. Where `nonfinite`, an integer without
// dims, is given and not 0, nothing is changed.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_OPTIMIZER_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <tuple>

namespace meshplan {

/// Adam (Kingma and Ba, 2015) as torch.optim.Adam does it; with `decoupled` weight decay AdamW (Loshchilov and Hutter,
/// 2019). All tensors have the shape and, but for the gradient, the dtype of the parameter.
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
