//===- vjp.h - gradients by LibTorch's autograd ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_VJP_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_VJP_H

#include "runtime/tensor/operator.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace meshplan {

/// The call "vjp.<target>" of operator.h; `base` is the operator <target>. It computes that operator again, with
/// recording for the arguments that `of` names, and then its derivative, all on the calling thread.
///
/// `invalid`, naming `target`, for arguments that `base` does not take, without gradients or a tensor that `of` names,
/// or for other than one output for each name. The call fails for gradients that do not fit the results.
Expected<std::unique_ptr<OperatorCall>> prepareVjp(c10::OperatorHandle base, std::string_view target,
                                                   std::span<const Argument> arguments, std::vector<int> outputs);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_VJP_H
