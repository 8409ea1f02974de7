//===- shared_heads.h - sums over heads that share a key head ---*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_SHARED_HEADS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_SHARED_HEADS_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// input [B, h, ..] holds the heads firstHead .. firstHead + h of the whole. Returns [B, groups, ..], with head n added
/// to group n / headsPerGroup; groups without heads are zero. 16-bit dtypes are accumulated in f32 and rounded once.
/// Fails if a head belongs to no group.
at::Tensor sumSharedHeads(const at::Tensor &input, int64_t groups, int64_t headsPerGroup, int64_t firstHead = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_SHARED_HEADS_H
