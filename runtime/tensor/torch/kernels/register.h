//===- register.h - the runtime's kernels in the dispatcher -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_REGISTER_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_REGISTER_H

namespace meshplan {

/// Registers the operators `meshplan::*` with PyTorch's dispatcher. Further calls do nothing. Thread safe.
void registerKernels();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_REGISTER_H
