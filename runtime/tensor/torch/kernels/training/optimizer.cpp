//===- optimizer.cpp - steps of optimizers --------------------------------===//
//
// A step computes in the dtype of the parameter, or of its master weight. Order of what happens to a gradient:
// converted, multiplied by the factor (clipping, and the inverse loss scale), given to the fused kernel of ATen. If the
// count of non-finite elements is not 0, nothing changes: on a CPU the host sees that and returns; on a GPU the kernel
// is told, so that the host need not wait.
//
// Offloaded states are changed on the host while copies of them to the device may still be under way, because the wait
// for such a copy does not block the host (copy_lane.h); beforeChange does.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/torch/kernels/training/optimizer.h"
#include "runtime/schema/kernel_blocks.h"

#include "runtime/tensor/copy_lane.h"

#include <ATen/ATen.h>

using namespace meshplan;

static void checkShapes(const at::Tensor &parameter, std::initializer_list<const at::Tensor *> others) {
  for (const at::Tensor *other : others)
    TORCH_CHECK(parameter.sizes().equals(other->sizes()), "a parameter ", parameter.sizes(), " and a tensor ",
                other->sizes(), " of its step differ in shape");
}

/// The gradient in the parameter's dtype, times the factor. The fused kernels require the same dtype.
static at::Tensor scaled(const at::Tensor &gradient, const at::Tensor &parameter,
                         const std::optional<at::Tensor> &factor) {
  at::Tensor own = gradient.to(parameter.scalar_type());
  return factor ? own.mul(factor->to(own.device(), own.scalar_type())) : own;
}

/// If parameter and count are on a GPU, the count is passed to the fused kernel, so that the host need not wait for it.
static bool isToldToKernel(const at::Tensor &parameter, const at::Tensor &nonfinite) {
  return !parameter.is_cpu() && !nonfinite.is_cpu();
}

/// True if the step must change nothing and the host can see that.
static bool isSkipped(const at::Tensor &parameter, const std::optional<at::Tensor> &nonfinite) {
  return nonfinite && !isToldToKernel(parameter, *nonfinite) && nonfinite->item<int64_t>() != 0;
}

/// The count in the form of the fused GPU kernels: 1 means that they change nothing.
static std::optional<at::Tensor> foundNonfinite(const at::Tensor &parameter,
                                                const std::optional<at::Tensor> &nonfinite) {
  bool isTold = nonfinite && isToldToKernel(parameter, *nonfinite);
  return isTold ? std::optional(nonfinite->ne(0).to(at::kFloat)) : std::nullopt;
}

/// A copy of a host tensor to the device that is still under way would mix old and new elements.
static void beforeChange(const at::Tensor &tensor) {
  if (!tensor.is_cpu())
    return;
  Status status = finishHostReads();
  TORCH_CHECK(status.ok(), status.message());
}

/// The kernels require the gradient to have the parameter's strides.
static at::Tensor likeParameter(const at::Tensor &gradient, const at::Tensor &parameter) {
  return gradient.strides().equals(parameter.strides()) ? gradient : gradient.contiguous();
}

/// The gradient in the form that the fused kernels require.
static at::Tensor ownGradient(const OptimizerStep &step) {
  return likeParameter(scaled(step.gradient, step.parameter, step.factor), step.parameter);
}

void meshplan::adamStep(const OptimizerStep &step, at::Tensor average, at::Tensor squareAverage,
                        const AdamNumbers &numbers) {
  const at::Tensor &parameter = step.parameter;
  checkShapes(parameter, {&step.gradient, &average, &squareAverage});
  if (parameter.numel() == 0 || isSkipped(parameter, step.nonfinite))
    return;
  beforeChange(parameter);
  // States in 16 bits save memory; the step is computed in the parameter's dtype, which the kernels require of states.
  at::Tensor wideAverage = average.to(parameter.scalar_type()), wideSquare = squareAverage.to(parameter.scalar_type());
  // The kernel increments the step count itself.
  at::Tensor count = at::full({}, step.step.item<double>(), parameter.options().dtype(at::kFloat));
  std::optional<at::Tensor> found = foundNonfinite(parameter, step.nonfinite);
  // Settings are host tensors, so this does not wait for a device.
  double rate = step.learningRate.item<double>();
  std::vector<at::Tensor> parameters{parameter}, gradients{ownGradient(step)}, averages{wideAverage},
      squares{wideSquare}, steps{count};
  if (numbers.decoupled)
    at::_fused_adamw_(parameters, gradients, averages, squares, {}, steps, rate, numbers.beta1, numbers.beta2,
                      numbers.weightDecay, numbers.eps, /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/{},
                      found);
  else
    at::_fused_adam_(parameters, gradients, averages, squares, {}, steps, rate, numbers.beta1, numbers.beta2,
                     numbers.weightDecay, numbers.eps, /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/{}, found);
  if (!wideAverage.is_same(average))
    average.copy_(wideAverage);
  if (!wideSquare.is_same(squareAverage))
    squareAverage.copy_(wideSquare);
}

/// SGD in f32, as the fused kernel computes it: ATen's fused kernel does not update 16-bit parameters on the CPU. The
/// GPU kernel does.
static void wideSgd(const OptimizerStep &step, const at::Tensor &gradient, const at::Tensor &momentum,
                    const SgdNumbers &numbers, bool isFirst) {
  at::Tensor wide = step.parameter.to(at::kFloat);
  at::Tensor change = gradient.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true).add_(wide, numbers.weightDecay);
  if (momentum.defined()) {
    at::Tensor kept =
        isFirst ? change.clone() : momentum.to(at::kFloat).mul_(numbers.momentum).add_(change, 1 - numbers.dampening);
    // Rounded for the next step; this step uses the unrounded momentum.
    momentum.copy_(kept);
    change = numbers.nesterov ? change.add_(kept, numbers.momentum) : kept;
  }
  step.parameter.copy_(wide.sub_(change, step.learningRate.item<double>()));
}

void meshplan::sgdStep(const OptimizerStep &step, at::Tensor momentum, const SgdNumbers &numbers) {
  const at::Tensor &parameter = step.parameter;
  checkShapes(parameter, {&step.gradient});
  if (momentum.defined())
    checkShapes(parameter, {&momentum});
  if (parameter.numel() == 0 || isSkipped(parameter, step.nonfinite))
    return;
  beforeChange(parameter);
  // As for Adam: the kernels require states in the parameter's dtype.
  at::Tensor wide = momentum.defined() ? momentum.to(parameter.scalar_type()) : momentum;
  // The first momentum is the gradient itself, without dampening, so zeros in the state would not do.
  bool isFirst = momentum.defined() && step.step.item<double>() == 1;
  if (parameter.is_cpu() && at::elementSize(parameter.scalar_type()) < 4) {
    wideSgd(step, ownGradient(step), wide, numbers, isFirst);
  } else {
    std::vector<at::Tensor> parameters{parameter}, gradients{ownGradient(step)}, states;
    if (momentum.defined())
      states.push_back(wide);
    at::_fused_sgd_(parameters, gradients, states, numbers.weightDecay, numbers.momentum,
                    step.learningRate.item<double>(), numbers.dampening, numbers.nesterov, /*maximize=*/false, isFirst,
                    /*grad_scale=*/{}, foundNonfinite(parameter, step.nonfinite));
  }
  if (!wide.is_same(momentum))
    momentum.copy_(wide);
}

at::Tensor meshplan::assign(at::Tensor self, const at::Tensor &source) {
  checkShapes(self, {&source});
  beforeChange(self);
  return self.copy_(source);
}

at::Tensor meshplan::accumulate(at::Tensor self, const at::Tensor &addend) {
  checkShapes(self, {&addend});
  beforeChange(self);
  return self.add_(addend);
}

at::Tensor meshplan::roundAddends(const at::Tensor &self, at::ScalarType dtype) {
  return self.to(dtype, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor meshplan::takeMicrobatch(const at::Tensor &self, const at::Tensor &index, int64_t dim, int64_t count) {
  TORCH_CHECK(count > 0 && self.size(dim) % count == 0, "dim ", dim, " of ", self.sizes(), " cannot be split into ",
              count, " microbatches");
  int64_t size = self.size(dim) / count;
  // A view: microbatches do not copy the batch.
  return self.narrow(dim, index.item<int64_t>() * size, size);
}

at::Tensor meshplan::squareSum(const at::Tensor &self) {
  at::ScalarType type = self.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  // ATen's vector norm accumulates f32 sequentially; its error is 1e-3 at 28 million elements. The sums of the pieces
  // are added in f64, and each piece is short enough that the temporary square is small.
  constexpr int64_t piece = kernel_blocks::squaredElements;
  at::Tensor elements = self.reshape(-1), sum = at::zeros({}, self.options().dtype(at::kDouble));
  for (int64_t begin = 0; begin < elements.numel(); begin += piece) {
    at::Tensor part = elements.narrow(0, begin, std::min(piece, elements.numel() - begin)).to(type);
    sum += part.mul(part).sum(at::kDouble);
  }
  return sum.to(type);
}

at::Tensor meshplan::clipFactor(const at::Tensor &squaredNorm, const std::optional<at::Tensor> &scale, double limit) {
  at::Tensor norm = squaredNorm.sqrt();
  if (!scale)
    return norm.add(1e-6).reciprocal().mul(limit).clamp_max(1);
  // Gradients are multiplied by the loss scale, and so is their norm. The limit is that of the unscaled norm.
  at::Tensor undone = scale->to(norm.options()).reciprocal();
  return norm.mul(undone).add(1e-6).reciprocal().mul(limit).clamp_max(1).mul(undone);
}
