//===- autograd.h - gradients by the compute library -------------*- C++ -*-===//
//
// For programs that are not differentiated by the compiler: operators are
// recorded while they run, and the compute library goes back over them.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_AUTOGRAD_H
#define MESHPLAN_RUNTIME_TENSOR_AUTOGRAD_H

#include "runtime/tensor/tensor.h"

#include <memory>

namespace meshplan {

/// While it exists, operators that this thread calls are recorded, also inside of a ComputeScope, and use `threads`
/// threads; what makes a tensor without saying of which float makes one of `dtype`. That last is a setting of the
/// process: no other thread of it may compute. Create and destroy on the same thread.
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

/// A tensor with the same elements, of which gradients can be asked. `invalid` unless it is of floats.
Expected<Tensor> differentiable(const Tensor &tensor);

/// The same elements without what was recorded of them.
Expected<Tensor> detached(const Tensor &tensor);

/// The gradients of a tensor of one number with respect to `leaves`, which differentiable has made; not defined where
/// it does not depend on one. Frees what was recorded. Inside of an AutogradScope.
Expected<std::vector<Tensor>> gradientsOf(const Tensor &number, std::span<const Tensor> leaves);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_AUTOGRAD_H
