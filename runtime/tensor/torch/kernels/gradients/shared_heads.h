//===- shared_heads.h - sums over heads that share a key head ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_SHARED_HEADS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_SHARED_HEADS_H

#include <ATen/core/Tensor.h>

namespace meshplan {

/// input [B, h, ..] holds the heads firstHead .. firstHead + h of all. Gives [B, groups, ..] with head n added into
/// group n / headsPerGroup; groups that no head belongs to are zero. Sums of 16-bit types are taken in f32 and rounded
/// once. Fails for a head that belongs to no group.
at::Tensor sumSharedHeads(const at::Tensor &input, int64_t groups, int64_t headsPerGroup, int64_t firstHead = 0);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_GRADIENTS_SHARED_HEADS_H
