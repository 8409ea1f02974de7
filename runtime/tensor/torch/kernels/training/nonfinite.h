//===- nonfinite.h - non-finite elements ------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_NONFINITE_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_NONFINITE_H

#include <ATen/core/Tensor.h>
#include <string_view>

namespace meshplan {

/// The number of non-finite elements, [] i64 on the device of `self`: an addend of the count over all ranks. On a CPU
/// it reads each element once and allocates nothing of the size of `self`, unless the elements have gaps. Throws unless
/// the dtype is a float of 16, 32 or 64 bits.
at::Tensor nonfiniteCount(const at::Tensor &self);

/// As nonfiniteCount, by operators of PyTorch, on any device: needs a few bytes per element.
at::Tensor nonfiniteCountByOperators(const at::Tensor &self);

/// Returns `self`. Adds its number of non-finite elements, under this name, to the notes of this thread
/// (nonfinite_notes.h), if there are any. `summed`: other ranks may have made them.
at::Tensor noteNonfinite(const at::Tensor &self, std::string_view name, bool summed);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_NONFINITE_H
