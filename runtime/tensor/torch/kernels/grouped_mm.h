//===- grouped_mm.h - grouped matrix products -------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPED_MM_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPED_MM_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// input [rows, k], weight [groups, k, m], offs [groups] of non-decreasing integers. Group g has the rows from offs[g -
/// 1] (0 for the first) to offs[g]; they are multiplied by weight[g]. Rows after the last group give zeros. Waits for
/// the values of `offs`.
at::Tensor groupedMm(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &offs);

/// As groupedMm, composed of differentiable operators, and for any dtype.
at::Tensor composedGroupedMm(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &offs);

/// The gradient of its matrices: left [rows, k] and right [rows, m] in the same groups give [groups, k, m], for each
/// group the sum of left^T right over its rows; zeros for a group without rows. 16-bit sums are rounded once. Waits for
/// the values of `offs`.
at::Tensor groupedWeightGradient(const at::Tensor &left, const at::Tensor &right, const at::Tensor &offs);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GROUPED_MM_H
