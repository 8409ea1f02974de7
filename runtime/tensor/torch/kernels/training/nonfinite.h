//===- nonfinite.h - elements that are no finite numbers ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_NONFINITE_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_NONFINITE_H

#include <ATen/core/Tensor.h>
#include <string_view>

namespace meshplan {

/// How many elements are NaN or infinite, [] i64 on the device of `self`: an addend of the count of all ranks. On a CPU
/// each element is read once, and nothing of the size of `self` is made unless its elements lie with gaps. Throws for
/// what is no float of 16, 32 or 64 bits.
at::Tensor nonfiniteCount(const at::Tensor &self);

/// The same by operators of PyTorch, on any device: with a few bytes for each element.
at::Tensor nonfiniteCountByOperators(const at::Tensor &self);

/// `self`. Says to the notes of this thread, if there are any (nonfinite_notes.h), how many such elements it has under
/// this name. `summed`: other ranks may have made them.
at::Tensor noteNonfinite(const at::Tensor &self, std::string_view name, bool summed);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_TRAINING_NONFINITE_H
