//===- tensor.h - the tensor that the runtime handles -----------*- C++ -*-===//
//
// A handle to a tensor of the compute library, without that library's headers. Copies of a handle share the elements.
// Functions that can fail return the compute library's message in a Status; none throws.
//
// Thread safety: as a shared pointer. Access to elements is not synchronized.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_TENSOR_H
#define MESHPLAN_RUNTIME_TENSOR_TENSOR_H

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// Empty after default construction, after a move, and if an operator returned None. Then only `defined`, assignment
/// and destruction are allowed.
class Tensor {
public:
  Tensor();
  Tensor(const Tensor &other);
  Tensor(Tensor &&other) noexcept;
  Tensor &operator=(const Tensor &other);
  Tensor &operator=(Tensor &&other) noexcept;
  ~Tensor();

  bool defined() const;
  DType dtype() const;
  std::span<const int64_t> shape() const;
  int64_t elementCount() const;
  int64_t byteSize() const { return elementCount() * dtypeSize(dtype()); }

  /// True if it is row-major without gaps.
  bool isContiguous() const;

  /// The first element, in the memory of the tensor's device. Null if there are no elements.
  std::byte *data() const;

private:
  friend struct TensorAccess;
  /// Holds one intrusive pointer of the compute library.
  alignas(void *) std::byte storage[sizeof(void *)];
};

/// A new row-major tensor on the device of the thread; inside a HostScope as allocateHostTensor. The elements are not
/// initialized.
Expected<Tensor> allocateTensor(std::span<const int64_t> shape, DType dtype);

/// A new row-major tensor in host memory, pinned if the thread's device is a GPU.
Expected<Tensor> allocateHostTensor(std::span<const int64_t> shape, DType dtype);

/// The tensor itself if it is there already, else a copy: on the device of the thread, or in host memory.
Expected<Tensor> onDevice(const Tensor &tensor);
Expected<Tensor> onHost(const Tensor &tensor);

/// The tensor itself if it is row-major, else a row-major copy.
Expected<Tensor> contiguous(const Tensor &tensor);

/// A view of `size` elements of `dim`, starting at `offset`. `invalid` if out of range.
Expected<Tensor> narrow(const Tensor &tensor, int64_t dim, int64_t offset, int64_t size);

/// A view of a row-major tensor in another shape with the same number of elements.
Expected<Tensor> reshape(const Tensor &tensor, std::span<const int64_t> shape);

/// A one-dimensional view over row-major tensors that are adjacent, in order, in one storage; an empty handle if they
/// are not.
Expected<Tensor> joined(std::span<const Tensor> tensors);

/// A row-major tensor over memory of the thread's device, which it keeps alive; `memory` has room for its elements.
Expected<Tensor> tensorOver(std::shared_ptr<void> memory, std::span<const int64_t> shape, DType dtype);

/// A new row-major tensor: the tensors concatenated along `dim`.
Expected<Tensor> concatenate(std::span<const Tensor> tensors, int64_t dim);

/// The elementwise max or min over the first dim, which is removed. NaN if any element is NaN.
Expected<Tensor> largestInFirstDim(const Tensor &tensor);
Expected<Tensor> leastInFirstDim(const Tensor &tensor);

/// Copies the elements of `from` to `into`: equal shapes, any strides, any devices.
Status copyElements(const Tensor &from, const Tensor &into);

/// Sets all elements to zero in place.
Status fillZeros(const Tensor &tensor);

/// "[2, 3] bf16", or "none".
std::string describe(const Tensor &tensor);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TENSOR_H
