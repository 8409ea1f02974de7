//===- draws.cpp - random elements of tensors -----------------------------===//

#include "runtime/tensor/torch/kernels/random/draws.h"

#include "runtime/tensor/torch/device.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <limits>

using namespace meshplan;

/// Number of words computed at a time, so that they stay in the first-level cache.
static constexpr int64_t pieceLength = 2048;
/// Number of elements from which a second thread pays.
static constexpr int64_t drawGrain = 1 << 15;

static constexpr double words32 = 4294967296.0;

static uint64_t wholeNumber(const char *what, double value, double end) {
  TORCH_CHECK(value >= 0 && value < end && value == std::floor(value), what, " ", value,
              " is not a whole number from 0 to ", static_cast<uint64_t>(end) - 1);
  return static_cast<uint64_t>(value);
}

RandomStream meshplan::randomStream(const Draws &draws) {
  TORCH_CHECK(draws.seed && draws.step, "random numbers need a seed and a step");
  uint64_t before = draws.microbatch ? wholeNumber("the microbatch", draws.microbatch->item<double>(), words32) : 0;
  // A double represents integers below 2^53 exactly.
  return {wholeNumber("the seed", draws.seed->item<double>(), 9007199254740992.0),
          static_cast<uint32_t>(wholeNumber("the number of an operator", static_cast<double>(draws.number), words32)),
          static_cast<uint32_t>(wholeNumber("the step", draws.step->item<double>(), words32)),
          before * static_cast<uint64_t>(draws.drawn)};
}

/// Calls `visit` with runs of the rank's elements: the first element's position in the part, and the words. Uses
/// several threads.
template <typename Visit>
static void forPieces(const PartOfWhole &part, const RandomStream &stream, const Visit &visit) {
  // Both long and short runs are split evenly over the threads, in pieces.
  int64_t length = part.runLength(), pieces = (length + pieceLength - 1) / pieceLength;
  if (length == 0)
    return;
  // A thread takes at least `drawGrain` elements, be they of one run or of many short ones.
  int64_t atOnce = std::max<int64_t>(1, drawGrain / std::min(length, pieceLength));
  at::parallel_for(0, part.runs() * pieces, atOnce, [&](int64_t begin, int64_t end) {
    uint32_t words[pieceLength];
    for (int64_t index = begin; index < end; ++index) {
      int64_t run = index / pieces, skipped = index % pieces * pieceLength;
      std::span<uint32_t> own(words, std::min(pieceLength, length - skipped));
      randomWords(stream, part.start(run) + skipped, own);
      visit(run * length + skipped, own);
    }
  });
}

namespace {

/// The dropout of one element.
struct Drop {
  uint32_t bound; ///< smaller words drop the element
  double scale;   ///< factor of the elements that stay

  // With p = 1 the largest word is not below the bound, but then the scale is 0.
  explicit Drop(double p)
      : bound(static_cast<uint32_t>(std::min(std::ceil(p * words32), words32 - 1))), scale(p < 1 ? 1 / (1 - p) : 0) {}
};

} // namespace

template <typename T>
static void dropRow(T *out, const T *input, std::span<const uint32_t> words, uint32_t bound, at::opmath_type<T> scale) {
  for (size_t i = 0; i < words.size(); ++i)
    out[i] = static_cast<T>(static_cast<at::opmath_type<T>>(input[i]) * (words[i] < bound ? 0 : scale));
}

void meshplan::dropInto(const at::Tensor &out, const at::Tensor &input, const PartOfWhole &part, double p,
                        const RandomStream &stream) {
  Drop drop(p);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "dropout", [&] {
    scalar_t *to = out.mutable_data_ptr<scalar_t>();
    const scalar_t *from = input.const_data_ptr<scalar_t>();
    forPieces(part, stream, [&](int64_t offset, std::span<const uint32_t> words) {
      dropRow(to + offset, from + offset, words, drop.bound, static_cast<at::opmath_type<scalar_t>>(drop.scale));
    });
  });
}

//===----------------------------------------------------------------------===//
// By operators of PyTorch
//===----------------------------------------------------------------------===//

/// The 32 bits, from bit `shift` on, of the product of two 32-bit numbers. The 64-bit product may wrap as two's
/// complement; the shift then fills in ones, which the mask removes.
static at::Tensor bitsOfProduct(const at::Tensor &words, int64_t factor, int64_t shift) {
  return words.mul(factor).bitwise_right_shift(shift).bitwise_and_(0xFFFFFFFF);
}

/// The word of each number of an i64 tensor.
static at::Tensor wordsByOperators(const at::Tensor &wanted, const RandomStream &stream) {
  // Words of 32 bits in i64 tensors, since PyTorch has few operators on unsigned integers.
  at::Tensor numbers = wanted.add(int64_t(stream.first)), counter = numbers.bitwise_right_shift(2);
  at::Tensor a = counter.bitwise_and(0xFFFFFFFF), b = counter.bitwise_right_shift(32);
  at::Tensor c = at::full_like(a, int64_t(stream.number)), d = at::full_like(a, int64_t(stream.step));
  uint32_t first = static_cast<uint32_t>(stream.seed), second = static_cast<uint32_t>(stream.seed >> 32);
  for (int round = 0; round < philoxRounds; ++round) {
    at::Tensor left = bitsOfProduct(a, philoxMultipliers[0], 32), right = bitsOfProduct(c, philoxMultipliers[1], 32);
    at::Tensor last = bitsOfProduct(a, philoxMultipliers[0], 0);
    a = right.bitwise_xor_(b).bitwise_xor_(int64_t(first));
    b = bitsOfProduct(c, philoxMultipliers[1], 0);
    c = left.bitwise_xor_(d).bitwise_xor_(int64_t(second));
    d = last;
    first += philoxIncrements[0];
    second += philoxIncrements[1];
  }
  // One Philox block has four words. Each element computes the whole block and takes its own word, since tensors have
  // no operator that gives four results.
  at::Tensor word = numbers.bitwise_and(3);
  return at::where(word.lt(2), at::where(word.eq(0), a, b), at::where(word.eq(2), c, d));
}

/// The dropout of each element by the word of its number.
static at::Tensor dropByNumbers(const at::Tensor &input, const at::Tensor &numbers, double p,
                                const RandomStream &stream) {
  Drop drop(p);
  at::Tensor kept = wordsByOperators(numbers, stream).ge(int64_t(drop.bound));
  at::ScalarType type = at::toOpMathType(input.scalar_type());
  return input.to(type).mul(kept.to(type).mul_(drop.scale)).to(input.scalar_type());
}

at::Tensor meshplan::dropByOperators(const at::Tensor &input, const PartOfWhole &part, double p,
                                     const RandomStream &stream) {
  return dropByNumbers(input, part.numbers(input.device()), p, stream);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

at::Tensor meshplan::dropout(const at::Tensor &input, const Draws &draws, double p, at::IntArrayRef shape,
                             at::IntArrayRef offset) {
  TORCH_CHECK(p >= 0 && p <= 1, "a probability of ", p, " is not between 0 and 1");
  PartOfWhole part(input.sizes(), shape, offset);
  RandomStream stream = randomStream(draws);
  at::Tensor rows = input.contiguous();
  if (!input.is_cpu())
    return dropByOperators(rows, part, p, stream);
  at::Tensor out = at::empty(rows.sizes(), rows.options());
  dropInto(out, rows, part, p, stream);
  return out;
}

/// Writes rows [R, F], both row-major, whose first elements have the numbers `positions` * features + first.
static void dropRowsInto(const at::Tensor &out, const at::Tensor &rows, const at::Tensor &positions, double p,
                         const RandomStream &stream, int64_t features, int64_t first) {
  Drop drop(p);
  int64_t columns = rows.size(1);
  const int64_t *at = positions.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, rows.scalar_type(), "dropout_rows", [&] {
    scalar_t *to = out.mutable_data_ptr<scalar_t>();
    const scalar_t *from = rows.const_data_ptr<scalar_t>();
    at::parallel_for(0, rows.size(0), std::max<int64_t>(1, drawGrain / columns), [&](int64_t begin, int64_t end) {
      uint32_t words[pieceLength];
      for (int64_t row = begin; row < end; ++row)
        for (int64_t column = 0; column < columns; column += pieceLength) {
          std::span<uint32_t> own(words, std::min(pieceLength, columns - column));
          randomWords(stream, static_cast<uint64_t>(at[row] * features + first + column), own);
          int64_t offset = row * columns + column;
          dropRow(to + offset, from + offset, own, drop.bound, static_cast<at::opmath_type<scalar_t>>(drop.scale));
        }
    });
  });
}

at::Tensor meshplan::dropoutRows(const at::Tensor &given, const at::Tensor &positions, const Draws &draws, double p,
                                 int64_t features, int64_t first) {
  TORCH_CHECK(p >= 0 && p <= 1, "a probability of ", p, " is not between 0 and 1");
  TORCH_CHECK(given.dim() == 2 && positions.dim() == 1 && positions.size(0) == given.size(0) &&
                  positions.scalar_type() == at::kLong,
              "positions ", positions.scalar_type(), " ", positions.sizes(), " do not fit rows ", given.sizes());
  int64_t columns = given.size(1);
  features = features == 0 ? columns : features;
  TORCH_CHECK(first >= 0 && first + columns <= features, columns, " features from ", first, " exceed all ", features);
  RandomStream stream = randomStream(draws);
  at::Tensor rows = given.contiguous();
  if (!rows.is_cpu()) {
    at::Tensor column = at::arange(first, first + columns, positions.options());
    return dropByNumbers(rows, positions.mul(features).unsqueeze(1).add(column), p, stream);
  }
  at::Tensor out = at::empty(rows.sizes(), rows.options());
  if (out.numel() > 0)
    dropRowsInto(out, rows, positions.contiguous(), p, stream, features, first);
  return out;
}

/// Number of mantissa bits of a dtype, at most the 32 of a word.
static int digitsOf(at::ScalarType type) {
  switch (type) {
  case at::kDouble:
    return 32;
  case at::kFloat:
    return 24;
  case at::kHalf:
    return 11;
  case at::kBFloat16:
    return 8;
  default:
    TORCH_CHECK(false, "random numbers of type ", c10::toString(type), " are not supported");
  }
}

at::Tensor meshplan::uniform(const Draws &draws, at::IntArrayRef size, at::ScalarType dtype, at::IntArrayRef shape,
                             at::IntArrayRef offset) {
  PartOfWhole part(size, shape, offset);
  RandomStream stream = randomStream(draws);
  int digits = digitsOf(dtype);
  // A dtype with d mantissa bits gets multiples of 2^-d, all of which it represents exactly.
  double unit = std::ldexp(1.0, -digits);
  if (Device device = deviceOfThread(); !device.isHost())
    return wordsByOperators(part.numbers(torchDevice(device)), stream)
        .bitwise_right_shift(32 - digits)
        .to(at::kDouble)
        .mul_(unit)
        .to(dtype);
  at::Tensor out = at::empty(size, at::TensorOptions(dtype));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "uniform", [&] {
    scalar_t *to = out.mutable_data_ptr<scalar_t>();
    forPieces(part, stream, [&](int64_t offset, std::span<const uint32_t> words) {
      for (size_t i = 0; i < words.size(); ++i)
        to[offset + i] = static_cast<scalar_t>(static_cast<at::opmath_type<scalar_t>>(words[i] >> (32 - digits)) *
                                               static_cast<at::opmath_type<scalar_t>>(unit));
    });
  });
  return out;
}
