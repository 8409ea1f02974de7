//===- tensor.cpp - the handle over at::Tensor ----------------------------===//
//
// The rooms above see a handle without headers of LibTorch, which take seconds to compile. Exceptions of LibTorch
// become a Status here (guarded), as nowhere above is there a handler.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/tensor.h"

#include "runtime/base/names.h"
#include "runtime/tensor/memory.h"
#include "runtime/tensor/torch/access.h"
#include "runtime/tensor/torch/device.h"
#include "runtime/tensor/torch/dtype.h"
#include "runtime/tensor/torch/guard.h"

#include <ATen/ATen.h>

using namespace meshplan;

// The handle stores an at::Tensor in raw bytes, so that its header needs no header of LibTorch.
static_assert(sizeof(at::Tensor) == sizeof(void *) && alignof(at::Tensor) == alignof(void *));

Tensor::Tensor() { new (storage) at::Tensor(); }
Tensor::Tensor(const Tensor &other) { new (storage) at::Tensor(unwrap(other)); }
Tensor::Tensor(Tensor &&other) noexcept { new (storage) at::Tensor(std::move(unwrap(other))); }
Tensor::~Tensor() { unwrap(*this).~Tensor(); }

Tensor &Tensor::operator=(const Tensor &other) {
  unwrap(*this) = unwrap(other);
  return *this;
}

Tensor &Tensor::operator=(Tensor &&other) noexcept {
  unwrap(*this) = std::move(unwrap(other));
  return *this;
}

bool Tensor::defined() const { return unwrap(*this).defined(); }
DType Tensor::dtype() const { return dtypeOf(unwrap(*this).scalar_type()).value(); }
int64_t Tensor::elementCount() const { return unwrap(*this).numel(); }
bool Tensor::isContiguous() const { return unwrap(*this).is_contiguous(); }

std::span<const int64_t> Tensor::shape() const {
  at::IntArrayRef sizes = unwrap(*this).sizes();
  return {sizes.data(), sizes.size()};
}

std::byte *Tensor::data() const {
  const at::Tensor &tensor = unwrap(*this);
  // An empty tensor need not have a storage.
  return tensor.numel() == 0 ? nullptr : static_cast<std::byte *>(tensor.mutable_data_ptr());
}

Expected<Tensor> meshplan::allocateTensor(std::span<const int64_t> shape, DType dtype) {
  if (inHostScope())
    return allocateHostTensor(shape, dtype);
  return guarded([&]() -> Expected<Tensor> {
    auto options = at::TensorOptions(scalarTypeOf(dtype)).device(torchDevice(deviceOfThread()));
    return wrap(at::empty(at::IntArrayRef(shape.data(), shape.size()), options));
  });
}

Expected<Tensor> meshplan::allocateHostTensor(std::span<const int64_t> shape, DType dtype) {
  return guarded([&]() -> Expected<Tensor> {
    // Copies from pageable memory to a GPU are slow and not asynchronous.
    auto options = at::TensorOptions(scalarTypeOf(dtype)).pinned_memory(!deviceOfThread().isHost());
    return wrap(at::empty(at::IntArrayRef(shape.data(), shape.size()), options));
  });
}

Expected<Tensor> meshplan::onDevice(const Tensor &tensor) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).to(torchDevice(deviceOfThread()))); });
}

Expected<Tensor> meshplan::onHost(const Tensor &tensor) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).to(at::kCPU)); });
}

Expected<Tensor> meshplan::largestInFirstDim(const Tensor &tensor) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).amax(0)); });
}

Expected<Tensor> meshplan::leastInFirstDim(const Tensor &tensor) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).amin(0)); });
}

Expected<Tensor> meshplan::contiguous(const Tensor &tensor) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).contiguous()); });
}

Expected<Tensor> meshplan::narrow(const Tensor &tensor, int64_t dim, int64_t offset, int64_t size) {
  return guarded([&]() -> Expected<Tensor> { return wrap(unwrap(tensor).narrow(dim, offset, size)); });
}

Expected<Tensor> meshplan::reshape(const Tensor &tensor, std::span<const int64_t> shape) {
  // A view or a failure, never a copy: callers write to the result and expect the elements of `tensor` to change.
  return guarded(
      [&]() -> Expected<Tensor> { return wrap(unwrap(tensor).view(at::IntArrayRef(shape.data(), shape.size()))); });
}

Expected<Tensor> meshplan::joined(std::span<const Tensor> tensors) {
  return guarded([&]() -> Expected<Tensor> {
    const at::Tensor &first = unwrap(tensors.front());
    int64_t count = 0;
    for (const Tensor &tensor : tensors) {
      const at::Tensor &next = unwrap(tensor);
      // Aliasing alone is not enough: the elements must continue exactly where the previous tensor ends.
      bool follows = next.is_contiguous() && next.is_alias_of(first) && next.scalar_type() == first.scalar_type() &&
                     next.storage_offset() == first.storage_offset() + count;
      if (!follows)
        return Tensor();
      count += next.numel();
    }
    return wrap(first.as_strided({count}, {1}));
  });
}

Expected<Tensor> meshplan::tensorOver(std::shared_ptr<void> memory, std::span<const int64_t> shape, DType dtype) {
  return guarded([&]() -> Expected<Tensor> {
    auto options = at::TensorOptions(scalarTypeOf(dtype)).device(torchDevice(deviceOfThread()));
    void *begin = memory.get();
    // The tensor is the last owner: a buffer of a communicator library must not be freed while a view of it exists.
    auto keep = [memory = std::move(memory)](void *) mutable { memory.reset(); };
    return wrap(at::from_blob(begin, at::IntArrayRef(shape.data(), shape.size()), std::move(keep), options));
  });
}

Expected<Tensor> meshplan::concatenate(std::span<const Tensor> tensors, int64_t dim) {
  return guarded([&]() -> Expected<Tensor> {
    std::vector<at::Tensor> pieces;
    for (const Tensor &tensor : tensors)
      pieces.push_back(unwrap(tensor));
    return wrap(at::cat(pieces, dim));
  });
}

Status meshplan::copyElements(const Tensor &from, const Tensor &into) {
  return guarded([&]() -> Status {
    if (!std::ranges::equal(from.shape(), into.shape()) || from.dtype() != into.dtype())
      return Status::error(StatusCode::invalid, "cannot copy ", describe(from), " into ", describe(into));
    unwrap(into).copy_(unwrap(from));
    return Status();
  });
}

Status meshplan::fillZeros(const Tensor &tensor) {
  return guarded([&]() -> Status {
    unwrap(tensor).zero_();
    return Status();
  });
}

std::string meshplan::describe(const Tensor &tensor) {
  if (!tensor.defined())
    return "none";
  return shapeText(tensor.shape()) + " " + std::string(dtypeName(tensor.dtype()));
}
