//===- optimizer.cpp - first steps of LibTorch's optimizers ---------------===//

#include "runtime/tensor/optimizer.h"

#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/dtype.h"
#include "runtime/tensor/torch/guard.h"
#include "runtime/tensor/torch/recording.h"

#include <algorithm>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

using namespace meshplan;

static std::unique_ptr<torch::optim::Optimizer> makeOptimizer(const OptimizerNumbers &numbers,
                                                              std::vector<at::Tensor> parameters) {
  std::tuple<double, double> betas(numbers.beta1, numbers.beta2);
  switch (numbers.kind) {
  case OptimizerKind::adam:
    return std::make_unique<torch::optim::Adam>(
        std::move(parameters),
        torch::optim::AdamOptions(numbers.rate).betas(betas).eps(numbers.eps).weight_decay(numbers.weightDecay));
  case OptimizerKind::adamw:
    return std::make_unique<torch::optim::AdamW>(
        std::move(parameters),
        torch::optim::AdamWOptions(numbers.rate).betas(betas).eps(numbers.eps).weight_decay(numbers.weightDecay));
  case OptimizerKind::sgd:
    break;
  }
  return std::make_unique<torch::optim::SGD>(std::move(parameters), torch::optim::SGDOptions(numbers.rate)
                                                                        .momentum(numbers.momentum)
                                                                        .dampening(numbers.dampening)
                                                                        .nesterov(numbers.nesterov)
                                                                        .weight_decay(numbers.weightDecay));
}

Expected<Tensor> meshplan::firstStep(const OptimizerNumbers &numbers, const Tensor &parameter, const Tensor &gradient,
                                     double factor, DType dtype) {
  return guarded([&]() -> Expected<Tensor> {
    RecordingScope recording;
    at::ScalarType type = scalarTypeOf(dtype);
    at::Tensor own = unwrap(parameter).detach().to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_(true);
    // In the type of this step: what is compared is the step, not the rounding of a stored gradient.
    own.mutable_grad() = unwrap(gradient).detach().to(own.device(), type).mul(factor);
    makeOptimizer(numbers, {own})->step();
    return wrap(own.detach());
  });
}

double meshplan::clippingFactor(double norm, double limit) { return std::min(1.0, limit / (norm + 1e-6)); }
