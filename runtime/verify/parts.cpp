//===- parts.cpp - whole tensors and shards -------------------------------===//

#include "runtime/verify/parts.h"

#include "runtime/tensor/elements.h"

#include <cstring>

using namespace meshplan;

/// Calls `move` for each run with its offset in the whole tensor, its offset in the part, and its size, in bytes of
/// f64.
template <typename Move>
static Status forEachPiece(std::span<const SliceRanges> slices, std::span<const int64_t> shape, const Move &move) {
  int64_t size = dtypeSize(DType::f64), begin = 0;
  // A flat shard has several slices, which follow one another in the part.
  for (const SliceRanges &slice : slices) {
    MESHPLAN_RETURN_IF_ERROR(
        forEachRun(slice, shape, contiguousStrides(shape), [&](int64_t global, int64_t local, int64_t count) {
          move(global * size, (begin + local) * size, count * size);
          return Status();
        }));
    begin += elementCount(sliceShape(slice));
  }
  return Status();
}

Expected<Tensor> meshplan::partOf(const Tensor &whole, std::span<const SliceRanges> slices,
                                  std::span<const int64_t> shape) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor part, allocateHostTensor(shape, DType::f64));
  auto move = [&](int64_t global, int64_t local, int64_t bytes) {
    std::memcpy(part.data() + local, whole.data() + global, bytes);
  };
  MESHPLAN_RETURN_IF_ERROR(forEachPiece(slices, whole.shape(), move));
  return part;
}

Expected<Tensor> meshplan::assembled(const Tensor &part, std::span<const SliceRanges> slices,
                                     std::span<const int64_t> shape) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor wide, converted(part, DType::f64));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor host, onHost(wide));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor own, contiguous(host));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor whole, allocateHostTensor(shape, DType::f64));
  if (whole.byteSize() > 0)
    std::memset(whole.data(), 0, whole.byteSize());
  auto move = [&](int64_t global, int64_t local, int64_t bytes) {
    std::memcpy(whole.data() + global, own.data() + local, bytes);
  };
  MESHPLAN_RETURN_IF_ERROR(forEachPiece(slices, shape, move));
  return whole;
}
