//===- reduce.cpp - reductions in a fixed order ---------------------------===//
//
// Why not add pairwise, or in the order of arrival? Floating-point addition is not associative: every rank, every
// backend and every run must add in one order to get the same bits, and a replicated value with different bits on two
// ranks drifts apart over the steps.
//
// Example in bf16, whose numbers above 256 are 2 apart: 256 + 1 + 1. Rounded after each addition it is 256; accumulated
// in f32 and rounded once it is 258.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/reduce.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace meshplan {

namespace {

// Number of elements that are reduced at a time, so that the accumulator stays in the first-level cache.
constexpr int64_t blockSize = 2048;

template <typename T> constexpr bool isHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// The type in which elements of type T are accumulated. Integers wrap around.
template <typename T> struct AccumulatorOf {
  using type = T;
};
template <> struct AccumulatorOf<Float16> {
  using type = float;
};
template <> struct AccumulatorOf<BFloat16> {
  using type = float;
};

template <typename T> auto load(T value) {
  if constexpr (isHalf<T>)
    return toFloat(value);
  else
    return value;
}

template <typename T, typename Accumulator> T store(Accumulator value) {
  if constexpr (std::is_same_v<T, Float16>)
    return toFloat16(value);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return toBFloat16(value);
  else
    return value;
}

struct Sum {
  template <typename A> static A apply(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      // Unsigned, because overflow of signed integers is undefined.
      return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};

/// NaN wins, as in PyTorch: a comparison alone would depend on the order of the operands.
struct Max {
  template <typename A> static A apply(A a, A b) { return a > b || a != a ? a : b; }
};

struct Min {
  template <typename A> static A apply(A a, A b) { return a < b || a != a ? a : b; }
};

template <typename T, typename Op>
void reduceTyped(std::span<const void *const> inputs, std::span<void *const> outputs, int64_t count) {
  using Accumulator = typename AccumulatorOf<T>::type;
  // Blocks outside, inputs inside: each input is read once, and the order of the additions is that of the inputs.
  Accumulator accumulator[blockSize];
  for (int64_t begin = 0; begin < count; begin += blockSize) {
    int64_t size = std::min(blockSize, count - begin);
    const T *first = static_cast<const T *>(inputs[0]) + begin;
    for (int64_t i = 0; i < size; ++i)
      accumulator[i] = load(first[i]);
    for (const void *input : inputs.subspan(1)) {
      const T *next = static_cast<const T *>(input) + begin;
      for (int64_t i = 0; i < size; ++i)
        accumulator[i] = Op::apply(accumulator[i], static_cast<Accumulator>(load(next[i])));
    }
    for (void *output : outputs) {
      T *result = static_cast<T *>(output) + begin;
      for (int64_t i = 0; i < size; ++i)
        // 16-bit types are rounded once, after all additions in f32.
        result[i] = store<T>(accumulator[i]);
    }
  }
}

template <typename T>
void reduceBy(std::span<const void *const> inputs, std::span<void *const> outputs, int64_t count, Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
    return reduceTyped<T, Sum>(inputs, outputs, count);
  case Reduction::max:
    return reduceTyped<T, Max>(inputs, outputs, count);
  case Reduction::min:
    return reduceTyped<T, Min>(inputs, outputs, count);
  }
}

} // namespace

void reduceInOrder(std::span<const void *const> inputs, std::span<void *const> outputs, int64_t count, DType dtype,
                   Reduction reduction) {
  switch (dtype) {
  case DType::f32:
    return reduceBy<float>(inputs, outputs, count, reduction);
  case DType::f64:
    return reduceBy<double>(inputs, outputs, count, reduction);
  case DType::f16:
    return reduceBy<Float16>(inputs, outputs, count, reduction);
  case DType::bf16:
    return reduceBy<BFloat16>(inputs, outputs, count, reduction);
  case DType::i64:
    return reduceBy<int64_t>(inputs, outputs, count, reduction);
  case DType::i32:
    return reduceBy<int32_t>(inputs, outputs, count, reduction);
  case DType::i16:
    return reduceBy<int16_t>(inputs, outputs, count, reduction);
  case DType::i8:
    return reduceBy<int8_t>(inputs, outputs, count, reduction);
  case DType::u8:
  case DType::boolean:
    return reduceBy<uint8_t>(inputs, outputs, count, reduction);
  }
}

} // namespace meshplan
