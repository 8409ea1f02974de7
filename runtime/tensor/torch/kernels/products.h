//===- products.h - products of matrices ------------------------*- C++ -*-===//
//
// Matrix products of 16-bit dtypes that are rounded as often as on one rank. An addend of a sum over ranks is therefore
// not rounded: each rounded addend would have as large an error as the whole sum on one rank.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PRODUCTS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PRODUCTS_H

#include <ATen/core/Tensor.h>
#include <optional>

namespace meshplan {

/// matmul(self, other) of two tensors of one 16-bit dtype, as unrounded f32 sums. Dims as in at::matmul. A GPU reads
/// the operands as they are. CPU kernels for 16-bit operands return only 16-bit results, so there the operands are
/// converted, the second one block by block.
at::Tensor matmulF32(const at::Tensor &self, const at::Tensor &other);

/// The same of two matrices, into `result`, an f32 matrix.
void multiplyF32(const at::Tensor &result, const at::Tensor &self, const at::Tensor &other);

/// matmulF32(input, weight^T): input [.., k], weight [m, k] give [.., m].
at::Tensor linearF32(const at::Tensor &input, const at::Tensor &weight);

/// left^T right, summed over all dims but the last: left [.., m] and right [.., k] give [m, k]. The gradient of a
/// weight matrix.
at::Tensor weightGradient(const at::Tensor &left, const at::Tensor &right);

/// As weightGradient, of two tensors of one 16-bit dtype, as unrounded f32.
at::Tensor weightGradientF32(const at::Tensor &left, const at::Tensor &right);

/// at::linear on a row-major copy of the input, for which it adds the bias before it rounds the product.
at::Tensor rowMajorLinear(const at::Tensor &input, const at::Tensor &weight, const std::optional<at::Tensor> &bias);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_PRODUCTS_H
