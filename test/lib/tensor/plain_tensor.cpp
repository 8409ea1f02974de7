//===- plain_tensor.cpp - tensors in plain memory -------------------------===//

#include "test/lib/tensor/plain_tensor.h"

#include "runtime/base/names.h"
#include "runtime/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

using namespace meshplan;

static std::vector<int64_t> rowMajorStrides(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

static int64_t productOf(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

static void retain(PlainTensor *tensor) {
  if (tensor)
    tensor->handles.fetch_add(1, std::memory_order_relaxed);
}

static void release(PlainTensor *tensor) {
  if (tensor && tensor->handles.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete tensor;
}

std::byte *PlainTensor::at(std::span<const int64_t> index) const {
  int64_t element = std::inner_product(index.begin(), index.end(), strides.begin(), offset);
  return memory.get() + element * dtypeSize(dtype);
}

PlainTensor *&TensorAccess::pointer(Tensor &tensor) { return *reinterpret_cast<PlainTensor **>(tensor.storage); }

PlainTensor *TensorAccess::pointer(const Tensor &tensor) { return pointer(const_cast<Tensor &>(tensor)); }

Tensor TensorAccess::view(const Tensor &tensor, int64_t offset, std::vector<int64_t> shape,
                          std::vector<int64_t> strides) {
  const PlainTensor &whole = *pointer(tensor);
  Tensor result;
  pointer(result) = new PlainTensor{1, whole.memory, offset, std::move(shape), std::move(strides), whole.dtype};
  return result;
}

Tensor::Tensor() { new (storage) PlainTensor *(nullptr); }

Tensor::Tensor(const Tensor &other) : Tensor() { *this = other; }

Tensor::Tensor(Tensor &&other) noexcept : Tensor() { *this = std::move(other); }

Tensor::~Tensor() { release(TensorAccess::pointer(*this)); }

Tensor &Tensor::operator=(const Tensor &other) {
  PlainTensor *taken = TensorAccess::pointer(other);
  retain(taken);
  release(std::exchange(TensorAccess::pointer(*this), taken));
  return *this;
}

Tensor &Tensor::operator=(Tensor &&other) noexcept {
  PlainTensor *taken = std::exchange(TensorAccess::pointer(other), nullptr);
  release(std::exchange(TensorAccess::pointer(*this), taken));
  return *this;
}

bool Tensor::defined() const { return TensorAccess::pointer(*this) != nullptr; }

DType Tensor::dtype() const { return TensorAccess::pointer(*this)->dtype; }

std::span<const int64_t> Tensor::shape() const { return TensorAccess::pointer(*this)->shape; }

int64_t Tensor::elementCount() const { return productOf(shape()); }

bool Tensor::isContiguous() const {
  const PlainTensor &tensor = *TensorAccess::pointer(*this);
  std::vector<int64_t> wanted = rowMajorStrides(tensor.shape);
  for (size_t dim = 0; dim < wanted.size(); ++dim)
    if (tensor.shape[dim] > 1 && tensor.strides[dim] != wanted[dim])
      return false;
  return true;
}

std::byte *Tensor::data() const {
  const PlainTensor &tensor = *TensorAccess::pointer(*this);
  return elementCount() == 0 ? nullptr : tensor.memory.get() + tensor.offset * dtypeSize(tensor.dtype);
}

Expected<Tensor> meshplan::allocateTensor(std::span<const int64_t> shape, DType dtype) {
  Tensor tensor;
  auto bytes = static_cast<size_t>(productOf(shape) * dtypeSize(dtype));
  TensorAccess::pointer(tensor) =
      new PlainTensor{1, allocateMemory(bytes), 0, {shape.begin(), shape.end()}, rowMajorStrides(shape), dtype};
  return tensor;
}

Expected<Tensor> meshplan::allocateHostTensor(std::span<const int64_t> shape, DType dtype) {
  return allocateTensor(shape, dtype);
}

Expected<Tensor> meshplan::onDevice(const Tensor &tensor) { return tensor; }

Expected<Tensor> meshplan::onHost(const Tensor &tensor) { return tensor; }

Expected<Tensor> meshplan::contiguous(const Tensor &tensor) {
  if (tensor.isContiguous())
    return tensor;
  MESHPLAN_ASSIGN_OR_RETURN(Tensor copy, allocateTensor(tensor.shape(), tensor.dtype()));
  MESHPLAN_RETURN_IF_ERROR(copyElements(tensor, copy));
  return copy;
}

Expected<Tensor> meshplan::narrow(const Tensor &tensor, int64_t dim, int64_t offset, int64_t size) {
  const PlainTensor &whole = *TensorAccess::pointer(tensor);
  if (dim < 0 || dim >= static_cast<int64_t>(whole.shape.size()) || offset < 0 || size < 0 ||
      offset + size > whole.shape[dim])
    return Status::error(StatusCode::invalid, "narrow of ", describe(tensor), " is out of range");
  std::vector<int64_t> shape = whole.shape;
  shape[dim] = size;
  return TensorAccess::view(tensor, whole.offset + offset * whole.strides[dim], std::move(shape), whole.strides);
}

Expected<Tensor> meshplan::reshape(const Tensor &tensor, std::span<const int64_t> shape) {
  if (!tensor.isContiguous() || productOf(shape) != tensor.elementCount())
    return Status::error(StatusCode::invalid, "cannot view ", describe(tensor), " as ", shapeText(shape));
  const PlainTensor &whole = *TensorAccess::pointer(tensor);
  return TensorAccess::view(tensor, whole.offset, {shape.begin(), shape.end()}, rowMajorStrides(shape));
}

Expected<Tensor> meshplan::joined(std::span<const Tensor> tensors) {
  const PlainTensor &first = *TensorAccess::pointer(tensors.front());
  int64_t count = 0;
  for (const Tensor &tensor : tensors) {
    const PlainTensor &next = *TensorAccess::pointer(tensor);
    bool follows = tensor.isContiguous() && next.memory == first.memory && next.dtype == first.dtype &&
                   next.offset == first.offset + count;
    if (!follows)
      return Tensor();
    count += tensor.elementCount();
  }
  return TensorAccess::view(tensors.front(), first.offset, {count}, {1});
}

Expected<Tensor> meshplan::tensorOver(std::shared_ptr<void> memory, std::span<const int64_t> shape, DType dtype) {
  Tensor tensor;
  TensorAccess::pointer(tensor) = new PlainTensor{1,
                                                  std::static_pointer_cast<std::byte>(std::move(memory)),
                                                  0,
                                                  {shape.begin(), shape.end()},
                                                  rowMajorStrides(shape),
                                                  dtype};
  return tensor;
}

Expected<Tensor> meshplan::concatenate(std::span<const Tensor> tensors, int64_t dim) {
  std::vector<int64_t> shape(tensors.front().shape().begin(), tensors.front().shape().end());
  shape[dim] = 0;
  for (const Tensor &tensor : tensors)
    shape[dim] += tensor.shape()[dim];
  MESHPLAN_ASSIGN_OR_RETURN(Tensor whole, allocateTensor(shape, tensors.front().dtype()));
  int64_t begin = 0;
  for (const Tensor &tensor : tensors) {
    int64_t size = tensor.shape()[dim];
    MESHPLAN_ASSIGN_OR_RETURN(Tensor part, narrow(whole, dim, begin, size));
    MESHPLAN_RETURN_IF_ERROR(copyElements(tensor, part));
    begin += size;
  }
  return whole;
}

Status meshplan::copyElements(const Tensor &from, const Tensor &into) {
  if (!std::ranges::equal(from.shape(), into.shape()) || from.dtype() != into.dtype())
    return Status::error(StatusCode::invalid, "cannot copy ", describe(from), " into ", describe(into));
  const PlainTensor &source = *TensorAccess::pointer(from), &target = *TensorAccess::pointer(into);
  auto size = static_cast<size_t>(dtypeSize(from.dtype()));
  forEachIndex(from.shape(), [&](auto index) { std::memcpy(target.at(index), source.at(index), size); });
  return Status();
}

Status meshplan::fillZeros(const Tensor &tensor) {
  const PlainTensor &target = *TensorAccess::pointer(tensor);
  auto size = static_cast<size_t>(dtypeSize(tensor.dtype()));
  forEachIndex(tensor.shape(), [&](auto index) { std::memset(target.at(index), 0, size); });
  return Status();
}

/// For floats. Once an element is NaN, the result is NaN.
static Expected<Tensor> extremeInFirstDim(const Tensor &tensor, bool least) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor result, allocateTensor(tensor.shape().subspan(1), tensor.dtype()));
  forEachIndex(tensor.shape(), [&](std::span<const int64_t> index) {
    std::span<const int64_t> place = index.subspan(1);
    double next = readElement(tensor, index);
    double known = index[0] == 0 ? next : readElement(result, place);
    bool better = std::isnan(next) || (least ? next < known : next > known);
    writeElement(result, place, better ? next : known);
  });
  return result;
}

Expected<Tensor> meshplan::largestInFirstDim(const Tensor &tensor) { return extremeInFirstDim(tensor, false); }

Expected<Tensor> meshplan::leastInFirstDim(const Tensor &tensor) { return extremeInFirstDim(tensor, true); }

Expected<NonfiniteElements> meshplan::nonfiniteIn(const Tensor &tensor, bool infinities) {
  NonfiniteElements result;
  if (!isFloat(tensor.dtype()))
    return result;
  int64_t place = 0;
  forEachIndex(tensor.shape(), [&](auto index) {
    double value = readElement(tensor, index);
    if (std::isnan(value) || (infinities && std::isinf(value)))
      result.first = result.count++ == 0 ? place : result.first;
    ++place;
  });
  return result;
}

Expected<std::optional<int64_t>> meshplan::onlyIndexOf(const Tensor &tensor, int64_t number) {
  std::optional<int64_t> result;
  int64_t place = 0, count = 0;
  auto size = static_cast<size_t>(dtypeSize(tensor.dtype()));
  forEachIndex(tensor.shape(), [&](auto index) {
    // Into the upper bytes of a little-endian number; the shift then extends the sign.
    int64_t value = 0;
    std::memcpy(reinterpret_cast<std::byte *>(&value) + sizeof value - size, TensorAccess::pointer(tensor)->at(index),
                size);
    value >>= 8 * (sizeof value - size);
    if (value == number && ++count == 1)
      result = place;
    ++place;
  });
  return count == 1 ? result : std::nullopt;
}

std::string meshplan::describe(const Tensor &tensor) {
  if (!tensor.defined())
    return "none";
  return shapeText(tensor.shape()) + " " + std::string(dtypeName(tensor.dtype()));
}

void meshplan::forEachIndex(std::span<const int64_t> shape,
                            const std::function<void(std::span<const int64_t>)> &visit) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t rest = productOf(shape); rest > 0; --rest) {
    visit(index);
    for (size_t dim = shape.size(); dim-- > 0 && ++index[dim] == shape[dim];)
      index[dim] = 0;
  }
}

double meshplan::readElement(const Tensor &tensor, std::span<const int64_t> index) {
  double value;
  convertFloats(TensorAccess::pointer(tensor)->at(index), tensor.dtype(), reinterpret_cast<std::byte *>(&value),
                DType::f64, 1);
  return value;
}

void meshplan::writeElement(const Tensor &tensor, std::span<const int64_t> index, double value) {
  convertFloats(reinterpret_cast<const std::byte *>(&value), DType::f64, TensorAccess::pointer(tensor)->at(index),
                tensor.dtype(), 1);
}
