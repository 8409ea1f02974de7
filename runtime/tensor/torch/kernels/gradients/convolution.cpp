//===- convolution.cpp - gradients of convolutions ------------------------===//

#include "runtime/tensor/torch/kernels/gradients/convolution.h"

#include <ATen/ATen.h>
#include <algorithm>

using namespace meshplan;

static std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor &gradient, const at::Tensor &input,
                                                               const at::Tensor &weight, at::IntArrayRef stride,
                                                               at::IntArrayRef padding, at::IntArrayRef dilation,
                                                               std::array<bool, 3> wanted) {
  TORCH_CHECK(weight.size(1) > 0 && input.size(1) % weight.size(1) == 0, input.size(1), " features are not groups of ",
              weight.size(1));
  // Output padding belongs to transposed convolutions.
  std::vector<int64_t> noPadding(stride.size(), 0);
  return at::convolution_backward(gradient, input, weight, std::nullopt, stride, padding, dilation,
                                  /*transposed=*/false, noPadding, input.size(1) / weight.size(1), wanted);
}

at::Tensor meshplan::convolutionInputGradient(const at::Tensor &gradient, const at::Tensor &input,
                                              const at::Tensor &weight, at::IntArrayRef stride, at::IntArrayRef padding,
                                              at::IntArrayRef dilation) {
  return std::get<0>(backward(gradient, input, weight, stride, padding, dilation, {true, false, false}));
}

bool meshplan::losesWeightGradients(const at::Tensor &weight) {
  constexpr int64_t dimsForVolumes = 5;
  return weight.is_cpu() && weight.scalar_type() == at::kBFloat16 && weight.dim() == dimsForVolumes;
}

bool meshplan::losesWeightGradients(std::span<const c10::IValue> arguments) {
  return std::ranges::any_of(arguments, [](const c10::IValue &argument) {
    return argument.isTensor() && losesWeightGradients(argument.toTensor());
  });
}

at::Tensor meshplan::convolutionWeightGradient(const at::Tensor &gradient, const at::Tensor &input,
                                               const at::Tensor &weight, at::IntArrayRef stride,
                                               at::IntArrayRef padding, at::IntArrayRef dilation) {
  if (losesWeightGradients(weight))
    return convolutionWeightGradient(gradient.to(at::kFloat), input.to(at::kFloat), weight.to(at::kFloat), stride,
                                     padding, dilation)
        .to(weight.scalar_type());
  return std::get<1>(backward(gradient, input, weight, stride, padding, dilation, {false, true, false}));
}
