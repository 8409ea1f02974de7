//===- host_products.h - f32 products on a CPU -------------------*- C++ -*-===//
//
// The library that at::mm calls has no kernels of 512 bits for processors of other makers than its own. oneDNN, which
// is part of LibTorch too, has some, and takes half the time there. What it adds up is the same but for the order.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_HOST_PRODUCTS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_HOST_PRODUCTS_H

#include <ATen/core/Tensor.h>
#include <optional>
#include <string_view>

namespace meshplan {

/// The kernel that computes "aten.linear.default" or "aten.matmul.default" on a CPU, with the same arguments; `target`
/// itself where there is none.
std::string_view hostProductOf(std::string_view target);

/// at::linear and at::matmul. What is no large product of f32 matrices, or is recorded by autograd, goes to these.
at::Tensor hostLinear(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias);
at::Tensor hostMatmul(const at::Tensor &self, const at::Tensor &other);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_HOST_PRODUCTS_H
