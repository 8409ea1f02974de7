//===- access.h - conversion to at::Tensor ----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TORCH_ACCESS_H
#define MESHPLAN_RUNTIME_TENSOR_TORCH_ACCESS_H

#include "runtime/tensor/tensor.h"

#include <ATen/core/Tensor.h>

namespace meshplan {

/// The storage of a Tensor is an at::Tensor; the conversion is free.
struct TensorAccess {
  static at::Tensor &get(Tensor &tensor) { return *std::launder(reinterpret_cast<at::Tensor *>(tensor.storage)); }
  static const at::Tensor &get(const Tensor &tensor) {
    return *std::launder(reinterpret_cast<const at::Tensor *>(tensor.storage));
  }
};

inline at::Tensor &unwrap(Tensor &tensor) { return TensorAccess::get(tensor); }
inline const at::Tensor &unwrap(const Tensor &tensor) { return TensorAccess::get(tensor); }

/// Precondition: the tensor's dtype has a DType.
inline Tensor wrap(at::Tensor tensor) {
  Tensor handle;
  unwrap(handle) = std::move(tensor);
  return handle;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TORCH_ACCESS_H
