//===- optimizer.h - first steps of library optimizers ----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_OPTIMIZER_H
#define MESHPLAN_RUNTIME_TENSOR_OPTIMIZER_H

#include "runtime/tensor/tensor.h"

namespace meshplan {

enum class OptimizerKind : uint8_t { adam, adamw, sgd };

/// Parameters of torch.optim by their names there. Only those of `kind` are used.
struct OptimizerNumbers {
  OptimizerKind kind = OptimizerKind::sgd;
  double rate = 0, weightDecay = 0;
  double beta1 = 0, beta2 = 0, eps = 0;
  double momentum = 0, dampening = 0;
  bool nesterov = false;
};

/// The parameter after the first step of torch.optim.Adam, AdamW or SGD. Parameter and gradient are converted to
/// `dtype`, and the gradient is multiplied by `factor` (clipping).
Expected<Tensor> firstStep(const OptimizerNumbers &numbers, const Tensor &parameter, const Tensor &gradient,
                           double factor, DType dtype);

/// The factor by which torch.nn.utils.clip_grad_norm_ multiplies gradients.
double clippingFactor(double norm, double limit);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_OPTIMIZER_H
