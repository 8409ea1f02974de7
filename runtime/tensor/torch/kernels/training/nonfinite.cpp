//===- nonfinite.cpp - non-finite elements --------------------------------===//

#include "runtime/tensor/torch/kernels/training/nonfinite.h"

#include "runtime/base/each_processor.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <functional>
#include <limits>

using namespace meshplan;

/// Number of elements from which a second thread pays.
static constexpr int64_t scanGrain = 1 << 15;

static constexpr const char *wrongType = " are not checked for being finite";

/// Counts elements whose exponent bits are all set; `exponent` is their mask. Counters are as wide as the elements, so
/// that both have the same vector width; a run is short enough that they do not overflow.
template <typename Bits>
static inline __attribute__((always_inline)) int64_t countIn(const Bits *elements, int64_t size, Bits exponent) {
  // A 16-bit counter holds 65535.
  constexpr int64_t run = 1 << 12;
  int64_t count = 0;
  for (int64_t begin = 0; begin < size; begin += run) {
    Bits found = 0;
    for (int64_t i = begin, end = std::min(size, begin + run); i < end; ++i)
      found = static_cast<Bits>(found + ((elements[i] & exponent) == exponent));
    count += static_cast<int64_t>(found);
  }
  return count;
}

MESHPLAN_EACH_PROCESSOR static int64_t count(const uint16_t *elements, int64_t size, uint16_t exponent) {
  return countIn(elements, size, exponent);
}

MESHPLAN_EACH_PROCESSOR static int64_t count(const uint32_t *elements, int64_t size, uint32_t exponent) {
  return countIn(elements, size, exponent);
}

MESHPLAN_EACH_PROCESSOR static int64_t count(const uint64_t *elements, int64_t size, uint64_t exponent) {
  return countIn(elements, size, exponent);
}

/// `dense` has no gaps between its elements, which may be in any order.
template <typename Bits> static int64_t countAll(const at::Tensor &dense, Bits exponent) {
  auto *elements = static_cast<const Bits *>(dense.const_data_ptr());
  return at::parallel_reduce(
      0, dense.numel(), scanGrain, int64_t(0),
      [&](int64_t begin, int64_t end, int64_t known) { return known + count(elements + begin, end - begin, exponent); },
      std::plus<>());
}

static int64_t countOnHost(const at::Tensor &dense) {
  // An element is NaN or infinite if all bits of its exponent are set, so the bits decide without floating-point
  // instructions.
  switch (dense.scalar_type()) {
  case at::kDouble:
    return countAll<uint64_t>(dense, 0x7FF0000000000000);
  case at::kFloat:
    return countAll<uint32_t>(dense, 0x7F800000);
  case at::kHalf:
    return countAll<uint16_t>(dense, 0x7C00);
  case at::kBFloat16:
    return countAll<uint16_t>(dense, 0x7F80);
  default:
    TORCH_CHECK(false, "elements of type ", dense.scalar_type(), wrongType);
  }
}

at::Tensor meshplan::nonfiniteCountByOperators(const at::Tensor &self) {
  TORCH_CHECK(at::isFloatingType(self.scalar_type()), "elements of type ", self.scalar_type(), wrongType);
  // Comparisons with NaN are false, so it fails both.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // at::isfinite creates tensors of the size of `self`; these have one byte per element.
  at::Tensor finite = self.lt(infinity).logical_and_(self.gt(-infinity));
  return finite.sum().neg_().add_(self.numel());
}

at::Tensor meshplan::nonfiniteCount(const at::Tensor &self) {
  if (!self.is_cpu())
    return nonfiniteCountByOperators(self);
  return at::scalar_tensor(countOnHost(self.is_non_overlapping_and_dense() ? self : self.contiguous()), at::kLong);
}
