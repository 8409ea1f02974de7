//===- tensor.h - the tensor that the runtime handles ------------*- C++ -*-===//
//
// A handle to a tensor of the compute library, without that library's headers.
// Copies of a handle share the elements. Functions that can fail return the
// compute library's message in a Status; none throws.
//
// Thread safety: as of a shared pointer. Elements are not guarded.
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

/// Empty after default construction, after a move and after an operator that
/// gave None; then only `defined`, assignment and destruction are allowed.
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

  /// Row-major without gaps.
  bool isContiguous() const;

  /// First element, in the memory of the tensor's device. Null when there are no elements.
  std::byte *data() const;

private:
  friend struct TensorAccess;
  /// Holds one intrusive pointer of the compute library.
  alignas(void *) std::byte storage[sizeof(void *)];
};

/// A new row-major tensor on the device of the thread, or in a HostScope as allocateHostTensor; its elements are not
/// set.
Expected<Tensor> allocateTensor(std::span<const int64_t> shape, DType dtype);

/// The same in the memory of the host, from which copies to the device of the thread are fast.
Expected<Tensor> allocateHostTensor(std::span<const int64_t> shape, DType dtype);

/// The tensor itself when it lies there, else a copy: on the device of the thread; in the memory of the host.
Expected<Tensor> onDevice(const Tensor &tensor);
Expected<Tensor> onHost(const Tensor &tensor);

/// The tensor itself when it is row-major, else a copy that is.
Expected<Tensor> contiguous(const Tensor &tensor);

/// A view of `size` elements of `dim` from `offset` on. `invalid` when out of range.
Expected<Tensor> narrow(const Tensor &tensor, int64_t dim, int64_t offset, int64_t size);

/// The elements of a row-major tensor under another shape of as many elements: a view.
Expected<Tensor> reshape(const Tensor &tensor, std::span<const int64_t> shape);

/// A view of row-major tensors as one tensor of one dim, where they lie one after the other in one storage without
/// gaps; an empty handle where they do not.
Expected<Tensor> joined(std::span<const Tensor> tensors);

/// A row-major tensor over memory of the device of the thread, which it keeps; `memory` has room for its elements.
Expected<Tensor> tensorOver(std::shared_ptr<void> memory, std::span<const int64_t> shape, DType dtype);

/// A new row-major tensor with the tensors one after the other along `dim`.
Expected<Tensor> concatenate(std::span<const Tensor> tensors, int64_t dim);

/// The largest, or least, of the elements with the same indices in the dims behind the first, which goes. NaN if one is
/// NaN.
Expected<Tensor> largestInFirstDim(const Tensor &tensor);
Expected<Tensor> leastInFirstDim(const Tensor &tensor);

/// Copies the elements of `from` into `into`: equal shapes, any strides, any devices.
Status copyElements(const Tensor &from, const Tensor &into);

/// Sets all elements to zero, in their place.
Status fillZeros(const Tensor &tensor);

/// "[2, 3] bf16", or "none".
std::string describe(const Tensor &tensor);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_TENSOR_H
