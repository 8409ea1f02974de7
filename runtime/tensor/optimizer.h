//===- optimizer.h - first steps of the compute library's optimizers -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_OPTIMIZER_H
#define MESHPLAN_RUNTIME_TENSOR_OPTIMIZER_H

#include "runtime/tensor/tensor.h"

namespace meshplan {

enum class OptimizerKind : uint8_t { adam, adamw, sgd };

/// Numbers by the names that torch.optim has for them; those of the other kinds do not count.
struct OptimizerNumbers {
  OptimizerKind kind = OptimizerKind::sgd;
  double rate = 0, weightDecay = 0;
  double beta1 = 0, beta2 = 0, eps = 0;
  double momentum = 0, dampening = 0;
  bool nesterov = false;
};

/// Twin of the first step of torch.optim.Adam, AdamW or SGD: the parameter behind it. Both tensors are of `dtype`
/// during the step, the gradient times `factor` (clipping).
Expected<Tensor> firstStep(const OptimizerNumbers &numbers, const Tensor &parameter, const Tensor &gradient,
                           double factor, DType dtype);

/// What torch.nn.utils.clip_grad_norm_ multiplies gradients with.
double clippingFactor(double norm, double limit);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_OPTIMIZER_H
