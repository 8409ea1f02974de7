//===- accumulation.h - dtype and size of sums ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ACCUMULATION_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ACCUMULATION_H

#include "runtime/schema/kernel_blocks.h"

#include <ATen/core/Tensor.h>
#include <algorithm>

namespace meshplan {

/// The dtype in which elements of `type` are accumulated.
inline at::ScalarType accumulationType(at::ScalarType type) {
  return at::isReducedFloatingType(type) ? at::kFloat : type;
}

/// Number of rows of a matrix [.., columns] that are computed at a time. On a GPU they keep the device busy and are
/// still much smaller than the logits.
inline int64_t rowsAtATime(const at::Tensor &input, int64_t columns) {
  int64_t elements = input.is_cpu() ? kernel_blocks::rowElements : 1 << 24;
  return std::max<int64_t>(1, elements / std::max<int64_t>(1, columns));
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_ACCUMULATION_H
