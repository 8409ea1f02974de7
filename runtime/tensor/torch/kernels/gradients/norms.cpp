//===- norms.cpp - gradients of layer and RMS norm ------------------------===//

#include "runtime/tensor/torch/kernels/gradients/norms.h"
#include "runtime/tensor/torch/kernels/accumulation.h"

#include <ATen/ATen.h>
#include <limits>

using namespace meshplan;

namespace {

struct Norm {
  bool centered;
  double eps;
};

/// A block of rows in the dtype of the computation.
struct NormBlock {
  at::Tensor gradient, normalized, inverseDeviation; // [n, E], [n, E], [n, 1]
};

} // namespace

static void checkNorm(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                      const std::optional<at::Tensor> &weight = {}) {
  bool ends = !shape.empty() && static_cast<size_t>(input.dim()) >= shape.size() &&
              input.sizes().slice(input.dim() - shape.size()).equals(shape);
  TORCH_CHECK(ends, "input ", input.sizes(), " does not end in the dims ", shape);
  TORCH_CHECK(gradient.sizes() == input.sizes(), "gradient ", gradient.sizes(), " does not fit input ", input.sizes());
  TORCH_CHECK(!weight || weight->sizes() == shape, "weight ", weight->sizes(), " does not have the dims ", shape);
}

static NormBlock normalize(const at::Tensor &gradient, const at::Tensor &input, Norm norm, at::ScalarType type) {
  at::Tensor centered = input.to(type);
  if (norm.centered)
    centered = centered - centered.mean(1, /*keepdim=*/true);
  at::Tensor inverse = centered.square().mean(1, /*keepdim=*/true).add_(norm.eps).rsqrt_();
  return {gradient.to(type), centered * inverse, inverse};
}

/// Calls `visit` with each block of rows and the index of its first row.
template <typename Visit>
static void forBlocks(const at::Tensor &gradient, const at::Tensor &input, int64_t columns, Norm norm,
                      const Visit &visit) {
  int64_t rows = input.numel() / columns, most = rowsAtATime(input, columns);
  at::Tensor gradients = gradient.reshape({rows, columns}), inputs = input.reshape({rows, columns});
  at::ScalarType type = accumulationType(input.scalar_type());
  for (int64_t row = 0; row < rows; row += most) {
    int64_t count = std::min(most, rows - row);
    visit(normalize(gradients.narrow(0, row, count), inputs.narrow(0, row, count), norm, type), row);
  }
}

static at::Tensor inputGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                const std::optional<at::Tensor> &weight, Norm norm) {
  checkNorm(gradient, input, shape, weight);
  at::Tensor result = at::empty(input.sizes(), input.options());
  if (result.numel() == 0)
    return result;
  int64_t columns = c10::multiply_integers(shape);
  at::Tensor flat = result.view({-1, columns}), factor;
  if (weight)
    factor = weight->to(accumulationType(input.scalar_type())).reshape({columns});
  // Works in place where possible, so that at most three blocks exist at a time.
  forBlocks(gradient, input, columns, norm, [&](NormBlock block, int64_t row) {
    if (factor.defined())
      block.gradient = block.gradient * factor;
    // The gradient of x / deviation has three terms: the direct one, one through the deviation (share) and, if
    // centered, one through the mean. With g the gradient times the weight, n the normalized row and d the deviation:
    // dx = (g - n mean(g n) - mean(g)) / d.
    at::Tensor share = (block.gradient * block.normalized).mean(1, /*keepdim=*/true);
    at::Tensor change = block.gradient - block.normalized.mul_(share);
    if (norm.centered)
      change.sub_(block.gradient.mean(1, /*keepdim=*/true));
    flat.narrow(0, row, change.size(0)).copy_(change.mul_(block.inverseDeviation));
  });
  return result;
}

static at::Tensor normWeightGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                     Norm norm) {
  checkNorm(gradient, input, shape);
  int64_t columns = c10::multiply_integers(shape);
  // 16-bit inputs accumulate in f32, so that the result is rounded once and not once per block.
  at::Tensor sum = at::zeros({columns}, input.options().dtype(accumulationType(input.scalar_type())));
  if (input.numel() > 0)
    forBlocks(gradient, input, columns, norm,
              [&](const NormBlock &block, int64_t) { sum.add_((block.gradient * block.normalized).sum(0)); });
  return sum.to(input.scalar_type()).view(shape);
}

static Norm rmsNorm(const at::Tensor &input, std::optional<double> eps) {
  bool isDouble = input.scalar_type() == at::kDouble;
  double least = isDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return {/*centered=*/false, eps.value_or(least)};
}

at::Tensor meshplan::layerNormInputGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                            const std::optional<at::Tensor> &weight, double eps) {
  return inputGradient(gradient, input, shape, weight, {/*centered=*/true, eps});
}

at::Tensor meshplan::layerNormWeightGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                             double eps) {
  return normWeightGradient(gradient, input, shape, {/*centered=*/true, eps});
}

at::Tensor meshplan::rmsNormInputGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                          const std::optional<at::Tensor> &weight, std::optional<double> eps) {
  return inputGradient(gradient, input, shape, weight, rmsNorm(input, eps));
}

at::Tensor meshplan::rmsNormWeightGradient(const at::Tensor &gradient, const at::Tensor &input, at::IntArrayRef shape,
                                           std::optional<double> eps) {
  return normWeightGradient(gradient, input, shape, rmsNorm(input, eps));
}
