//===- autograd.h - gradients by the compute library ------------*- C++ -*-===//
//
// Gradients of programs that the compiler does not differentiate: the compute library records operators while they run,
// and then goes backward through them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_AUTOGRAD_H
#define MESHPLAN_RUNTIME_TENSOR_AUTOGRAD_H

#include "runtime/tensor/tensor.h"

#include <memory>

namespace meshplan {

/// During its lifetime, operators called by this thread are recorded, even inside a ComputeScope, and use `threads`
/// threads. Operators that create a float tensor without a dtype use `dtype`. This default dtype is a setting of the
/// process, so no other thread may compute. Create and destroy on the same thread.
class AutogradScope {
public:
  AutogradScope(int threads, DType dtype);
  AutogradScope(const AutogradScope &) = delete;
  AutogradScope &operator=(const AutogradScope &) = delete;
  ~AutogradScope();

private:
  struct Guards;
  std::unique_ptr<Guards> guards;
};

/// A tensor with the same elements that records operators for its gradient. `invalid` unless it has floats.
Expected<Tensor> differentiable(const Tensor &tensor);

/// The same elements without the recorded operators.
Expected<Tensor> detached(const Tensor &tensor);

/// The gradients of a tensor with one element with respect to `leaves`, which `differentiable` has made. A gradient is
/// undefined if `number` does not depend on the leaf. Frees the recorded operators. Call inside an AutogradScope.
Expected<std::vector<Tensor>> gradientsOf(const Tensor &number, std::span<const Tensor> leaves);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_AUTOGRAD_H
