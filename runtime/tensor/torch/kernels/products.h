//===- products.h - products of matrices -------------------------*- C++ -*-===//
//
// Those of 16-bit types are rounded as often as on one rank. What a rank adds to a sum over ranks is not
// rounded: each addend would err as much as the whole sum does on one rank.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PRODUCTS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PRODUCTS_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// matmul(self, other) of two tensors of one 16-bit type, as f32: the sums that the product makes, not rounded. Dims
/// are those of at::matmul. On a GPU the operands are read as they are; on a CPU, whose products of 16-bit types give
/// only such types, they are converted, the second one block by block.
at::Tensor matmulF32(const at::Tensor &self, const at::Tensor &other);

/// matmulF32(input, weight^T): input [.., k], weight [m, k] give [.., m].
at::Tensor linearF32(const at::Tensor &input, const at::Tensor &weight);

/// left^T right, summed over all dims but the last: left [.., m] and right [.., k] give [m, k]. The gradient of a
/// matrix that all rows of its operand meet.
at::Tensor weightGradient(const at::Tensor &left, const at::Tensor &right);

/// The same of two tensors of one 16-bit type as f32, not rounded.
at::Tensor weightGradientF32(const at::Tensor &left, const at::Tensor &right);

/// at::linear on an input that it sees row-major, so that it adds the bias before it rounds the product.
at::Tensor rowMajorLinear(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PRODUCTS_H
