//===- host_call.h - operators that a device has no kernel of ----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_HOST_CALL_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_HOST_CALL_H

#include "runtime/tensor/operator.h"

namespace meshplan {

/// The call, which runs on the host where LibTorch has no kernel of the device for its tensors: they are copied there,
/// and its results back. A warning of LibTorch names `target`, once. `call` must change none of its arguments.
std::unique_ptr<OperatorCall> onHostWithoutKernel(std::unique_ptr<OperatorCall> call, std::string_view target,
                                                  std::span<const Argument> arguments, std::vector<int> outputs);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_HOST_CALL_H
