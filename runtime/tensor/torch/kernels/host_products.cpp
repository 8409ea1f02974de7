//===- host_products.cpp - f32 products on a CPU --------------------------===//

#include "runtime/tensor/torch/kernels/host_products.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>

using namespace meshplan;

/// Below it the two libraries take about as long, and oneDNN's calls cost more.
static constexpr int64_t leastMultiplications = 1 << 20;

using Product = at::Tensor(const at::Tensor &, const at::Tensor &, const std::optional<at::Tensor> &, std::string_view,
                           c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);

static bool isFasterHere() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") && !__builtin_cpu_is("intel") && at::hasMKLDNN();
#else
  return false;
#endif
}

/// Rows or columns of adjacent elements that do not overlap.
static bool isPlain(const at::Tensor &matrix) {
  return (matrix.stride(1) == 1 && matrix.stride(0) >= matrix.size(1)) ||
         (matrix.stride(0) == 1 && matrix.stride(1) >= matrix.size(0));
}

/// left [n, k] x weight^T [k, m] + bias [m]. Of matrices that isLarge accepts.
static at::Tensor multiply(const at::Tensor &left, const at::Tensor &weight, const std::optional<at::Tensor> &bias) {
  static const auto product =
      c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<Product>();
  // The kernel takes no notice of the strides of a bias.
  std::optional<at::Tensor> adjacent = bias ? std::optional(bias->contiguous()) : std::nullopt;
  return product.call(left, weight, adjacent, "none", c10::List<std::optional<at::Scalar>>(), "");
}

static bool isLarge(const at::Tensor &left, const at::Tensor &weight) {
  static const bool isFaster = isFasterHere();
  return isFaster && left.is_cpu() && weight.is_cpu() && left.scalar_type() == at::kFloat &&
         weight.scalar_type() == at::kFloat && !c10::GradMode::is_enabled() && left.size(1) == weight.size(1) &&
         left.numel() * weight.size(0) >= leastMultiplications && isPlain(left) && isPlain(weight);
}

/// All dims but the last as one, where that needs no copy.
static std::optional<at::Tensor> asMatrix(const at::Tensor &tensor) {
  if (tensor.dim() == 2)
    return tensor;
  if (tensor.dim() < 2 || !tensor.is_contiguous())
    return std::nullopt;
  return tensor.view({-1, tensor.size(-1)});
}

/// The product, if it is one of large matrices.
static std::optional<at::Tensor> largeProduct(const at::Tensor &input, const at::Tensor &weight,
                                              const std::optional<at::Tensor> &bias) {
  if (input.numel() == 0 || weight.numel() == 0 || (bias && bias->scalar_type() != at::kFloat))
    return std::nullopt;
  std::optional<at::Tensor> left = asMatrix(input);
  if (!left || !isLarge(*left, weight))
    return std::nullopt;
  std::vector<int64_t> sizes = input.sizes().vec();
  sizes.back() = weight.size(0);
  return multiply(*left, weight, bias).view(sizes);
}

std::string_view meshplan::hostProductOf(std::string_view target) {
  if (target == "aten.linear.default")
    return "meshplan.host_linear";
  return target == "aten.matmul.default" ? "meshplan.host_matmul" : target;
}

at::Tensor meshplan::hostLinear(const at::Tensor &input, const at::Tensor &weight,
                                const std::optional<at::Tensor> &bias) {
  bool isMatrix = weight.dim() == 2 && (!bias || bias->sizes().equals({weight.size(0)}));
  std::optional<at::Tensor> product = isMatrix ? largeProduct(input, weight, bias) : std::nullopt;
  return product ? *product : at::linear(input, weight, bias);
}

at::Tensor meshplan::hostMatmul(const at::Tensor &self, const at::Tensor &other) {
  std::optional<at::Tensor> product = other.dim() == 2 ? largeProduct(self, other.t(), std::nullopt) : std::nullopt;
  return product ? *product : at::matmul(self, other);
}
