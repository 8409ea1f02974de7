//===- register.h - the runtime's kernels in the dispatcher ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_REGISTER_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_REGISTER_H

namespace meshplan {

/// Makes the operators `meshplan::*` known to PyTorch's dispatcher. Calls after
/// the first do nothing. Thread safe.
void registerKernels();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_KERNELS_REGISTER_H
