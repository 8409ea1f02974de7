//===- host_call.h - operators without a GPU kernel -------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_HOST_CALL_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_HOST_CALL_H

#include "runtime/tensor/operator.h"

namespace meshplan {

/// Wraps a call so that it runs on the host if LibTorch has no kernel for the device: tensors are copied there, and
/// results back. LibTorch's warning names `target`, once. `call` must not change its arguments.
std::unique_ptr<OperatorCall> onHostWithoutKernel(std::unique_ptr<OperatorCall> call, std::string_view target,
                                                  std::span<const Argument> arguments, std::vector<int> outputs);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_HOST_CALL_H
