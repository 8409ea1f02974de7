//===- guard.h - LibTorch's exceptions as Status ----------------*- C++ -*-===//
//
// The only code in the runtime that catches exceptions of the compute library.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_GUARD_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_GUARD_H

#include "runtime/base/status.h"

#include <utility>

namespace meshplan {

/// The Status of the current exception: its message without the stack trace. Call from a catch block.
Status currentExceptionStatus();

/// Calls `body`, which returns a Status or an Expected. Returns its result, or the exception that it threw as Status.
template <typename Body> auto guarded(Body &&body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return currentExceptionStatus();
  }
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_GUARD_H
