//===- plain_tensor.h - the tensors of the stand-in -------------*- C++ -*-===//
//
// The stand-in for LibTorch under runtime/tensor: elements in plain memory, so that the thread sanitizer sees every
// access. For tests only; slow.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_TENSOR_PLAIN_TENSOR_H
#define MESHPLAN_TEST_LIB_TENSOR_PLAIN_TENSOR_H

#include "runtime/tensor/tensor.h"

#include <atomic>
#include <functional>
#include <memory>

namespace meshplan {

/// What a handle refers to. Views share the memory.
struct PlainTensor {
  std::atomic<int> handles = 0;
  std::shared_ptr<std::byte> memory;
  int64_t offset = 0; // offset of the first element, in elements
  std::vector<int64_t> shape, strides;
  DType dtype = DType::f32;

  /// The element with these indices.
  std::byte *at(std::span<const int64_t> index) const;
};

struct TensorAccess {
  static PlainTensor *&pointer(Tensor &tensor);
  static PlainTensor *pointer(const Tensor &tensor);
  /// A new tensor that aliases the memory of `tensor`.
  static Tensor view(const Tensor &tensor, int64_t offset, std::vector<int64_t> shape, std::vector<int64_t> strides);
};

/// Allocates memory, from the pool of the calling thread if it has one.
std::shared_ptr<std::byte> allocateMemory(size_t bytes);

/// Calls `visit` with the indices of each element, in row-major order.
void forEachIndex(std::span<const int64_t> shape, const std::function<void(std::span<const int64_t>)> &visit);

/// Reads one element of a floating-point tensor.
double readElement(const Tensor &tensor, std::span<const int64_t> index);
void writeElement(const Tensor &tensor, std::span<const int64_t> index, double value);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_TENSOR_PLAIN_TENSOR_H
