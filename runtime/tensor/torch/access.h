//===- access.h - from the handle to at::Tensor and back ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_ACCESS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_ACCESS_H

#include "runtime/tensor/tensor.h"

#include <ATen/core/Tensor.h>

namespace meshplan {

/// A Tensor is an at::Tensor in place: no cost, no second object.
struct TensorAccess {
  static at::Tensor &get(Tensor &tensor) { return *std::launder(reinterpret_cast<at::Tensor *>(tensor.storage)); }
  static const at::Tensor &get(const Tensor &tensor) {
    return *std::launder(reinterpret_cast<const at::Tensor *>(tensor.storage));
  }
};

inline at::Tensor &unwrap(Tensor &tensor) { return TensorAccess::get(tensor); }
inline const at::Tensor &unwrap(const Tensor &tensor) { return TensorAccess::get(tensor); }

/// Precondition: the artifact has a name for the element type (dtypeOf is set).
inline Tensor wrap(at::Tensor tensor) {
  Tensor handle;
  unwrap(handle) = std::move(tensor);
  return handle;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_ACCESS_H
