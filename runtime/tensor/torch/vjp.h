//===- vjp.h - gradients by LibTorch's autograd -----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_VJP_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_VJP_H

#include "runtime/tensor/operator.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace meshplan {

/// Prepares the call "vjp.<target>" of operator.h; `base` is the operator <target>. The call runs that operator again,
/// recording the arguments that `of` names, and then its derivative, all on the calling thread.
///
/// `invalid`, naming `target`, for arguments that `base` does not take, for missing gradients or tensors, and unless
/// there is one output per name. The call fails for gradients that do not match the results.
Expected<std::unique_ptr<OperatorCall>> prepareVjp(c10::OperatorHandle base, std::string_view target,
                                                   std::span<const Argument> arguments, std::vector<int> outputs);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_VJP_H
