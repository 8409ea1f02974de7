//===- reduce_test.cpp - reductions against plain loops -------------------===//

#include "runtime/comm/reduce.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <limits>
#include <random>

namespace meshplan {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr Reduction allReductions[] = {Reduction::sum, Reduction::max, Reduction::min};

// Around the number of elements that are reduced at a time, and around multiples of it.
constexpr int64_t counts[] = {0, 1, 7, 2047, 2048, 2049, 5000};

template <typename T> std::vector<T> reduced(const std::vector<std::vector<T>> &inputs, DType dtype, Reduction how) {
  std::vector<const void *> pointers;
  for (const std::vector<T> &input : inputs)
    pointers.push_back(input.data());
  std::vector<T> output(inputs[0].size());
  void *target = output.data();
  reduceInOrder(pointers, {&target, 1}, static_cast<int64_t>(output.size()), dtype, how);
  return output;
}

template <typename T> struct Integer {
  using type = T;
  static constexpr DType dtype = std::is_same_v<T, int64_t>   ? DType::i64
                                 : std::is_same_v<T, int32_t> ? DType::i32
                                 : std::is_same_v<T, int16_t> ? DType::i16
                                 : std::is_same_v<T, int8_t>  ? DType::i8
                                                              : DType::u8;
};

template <typename T> class ReduceIntegers : public testing::Test {
protected:
  /// Values from the whole range of the type, with its limits often among them.
  std::vector<T> draw(int64_t count) {
    std::vector<T> values;
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = generator();
      T any = static_cast<T>(bits);
      values.push_back(bits % 7 == 0   ? std::numeric_limits<T>::max()
                       : bits % 7 == 1 ? std::numeric_limits<T>::min()
                                       : any);
    }
    return values;
  }

  /// Computed exactly, then reduced to the low bits.
  static T expected(const std::vector<std::vector<T>> &inputs, size_t i, Reduction how) {
    __int128 result = inputs[0][i];
    for (size_t rank = 1; rank < inputs.size(); ++rank) {
      __int128 next = inputs[rank][i];
      result = how == Reduction::sum   ? result + next
               : how == Reduction::max ? std::max(result, next)
                                       : std::min(result, next);
    }
    return static_cast<T>(result);
  }

  std::mt19937_64 generator{7};
};

using Integers = testing::Types<int64_t, int32_t, int16_t, int8_t, uint8_t>;
TYPED_TEST_SUITE(ReduceIntegers, Integers);

TYPED_TEST(ReduceIntegers, AreExactAndSumsWrapAround) {
  for (Reduction how : allReductions)
    for (size_t ranks : {1, 2, 3, 5})
      for (int64_t count : counts) {
        std::vector<std::vector<TypeParam>> inputs;
        for (size_t rank = 0; rank < ranks; ++rank)
          inputs.push_back(this->draw(count));
        std::vector<TypeParam> result = reduced(inputs, Integer<TypeParam>::dtype, how), wanted;
        for (size_t i = 0; i < result.size(); ++i)
          wanted.push_back(this->expected(inputs, i, how));
        EXPECT_EQ(result, wanted) << ranks << " ranks, " << count << " elements";
      }
}

TEST(ReduceIntegersByHand, WrapAround) {
  EXPECT_THAT(reduced<int8_t>({{127, -128}, {1, -1}}, DType::i8, Reduction::sum), ElementsAre(-128, 127));
  EXPECT_THAT(reduced<uint8_t>({{255}, {3}}, DType::u8, Reduction::sum), ElementsAre(2));
  EXPECT_THAT(reduced<int64_t>({{INT64_MAX}, {1}}, DType::i64, Reduction::sum), ElementsAre(INT64_MIN));
  EXPECT_THAT(reduced<uint8_t>({{200}, {100}}, DType::u8, Reduction::max), ElementsAre(200)) << "u8 has no sign";
}

TEST(ReduceBool, IsOrAndAnd) {
  const std::vector<std::vector<uint8_t>> all = {{0, 0, 1, 1}, {0, 1, 0, 1}};
  EXPECT_THAT(reduced(all, DType::boolean, Reduction::max), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(reduced(all, DType::boolean, Reduction::min), ElementsAre(0, 0, 0, 1));
}

TEST(ReduceFloats, SumsAddInTheOrderOfTheRanks) {
  // 1 is lost when added to 1e8 in f32, or to 1e17 in f64.
  EXPECT_THAT(reduced<float>({{1e8f}, {1}, {-1e8f}}, DType::f32, Reduction::sum), ElementsAre(0));
  EXPECT_THAT(reduced<float>({{1e8f}, {-1e8f}, {1}}, DType::f32, Reduction::sum), ElementsAre(1));
  EXPECT_THAT(reduced<double>({{1e17}, {1}, {-1e17}}, DType::f64, Reduction::sum), ElementsAre(0));
  EXPECT_THAT(reduced<double>({{1e17}, {-1e17}, {1}}, DType::f64, Reduction::sum), ElementsAre(1));
}

template <typename T> void expectPlainSums(DType dtype) {
  std::mt19937 generator(3);
  std::normal_distribution<T> normal;
  for (int64_t count : counts) {
    std::vector<std::vector<T>> inputs(4, std::vector<T>(count));
    for (std::vector<T> &input : inputs)
      for (T &each : input)
        each = normal(generator) * std::exp2(T(generator() % 40));
    std::vector<T> wanted = inputs[0];
    for (size_t rank = 1; rank < inputs.size(); ++rank)
      for (int64_t i = 0; i < count; ++i)
        wanted[i] += inputs[rank][i];
    EXPECT_EQ(reduced(inputs, dtype, Reduction::sum), wanted) << "bit for bit";
  }
}

TEST(ReduceFloats, SumsAreThoseOfAPlainLoop) {
  expectPlainSums<float>(DType::f32);
  expectPlainSums<double>(DType::f64);
}

template <typename Half> std::vector<std::vector<Half>> halves(const std::vector<std::vector<float>> &inputs) {
  std::vector<std::vector<Half>> result;
  for (const std::vector<float> &input : inputs) {
    auto &list = result.emplace_back();
    for (float each : input)
      if constexpr (std::is_same_v<Half, Float16>)
        list.push_back(toFloat16(each));
      else
        list.push_back(toBFloat16(each));
  }
  return result;
}

template <typename Half>
std::vector<float> reducedHalves(const std::vector<std::vector<float>> &inputs, DType dtype, Reduction how) {
  std::vector<float> result;
  for (Half each : reduced(halves<Half>(inputs), dtype, how))
    result.push_back(toFloat(each));
  return result;
}

TEST(ReduceHalves, AddInFloatAndRoundOnce) {
  // Rounded after each addition, the ones would be lost: f16 has 11 bits, bf16 has 8.
  EXPECT_THAT(reducedHalves<Float16>({{2048}, {1}, {1}}, DType::f16, Reduction::sum), ElementsAre(2050));
  EXPECT_THAT(reducedHalves<BFloat16>({{256}, {1}, {1}}, DType::bf16, Reduction::sum), ElementsAre(258));
  // The intermediate sum exceeds the largest f16.
  EXPECT_THAT(reducedHalves<Float16>({{60000}, {60000}, {-60000}}, DType::f16, Reduction::sum), ElementsAre(60000));
  EXPECT_THAT(reducedHalves<Float16>({{60000}, {60000}}, DType::f16, Reduction::sum),
              ElementsAre(std::numeric_limits<float>::infinity()));
  // Ties to even: 2049 lies between 2048 and 2050, 2051 between 2050 and 2052.
  EXPECT_THAT(reducedHalves<Float16>({{2048, 2050}, {1, 1}}, DType::f16, Reduction::sum), ElementsAre(2048, 2052));
}

TEST(ReduceHalves, OneRankKeepsEveryBit) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<uint16_t>(i);
  for (DType dtype : {DType::f16, DType::bf16})
    for (Reduction how : allReductions) {
      std::vector<uint16_t> result = reduced<uint16_t>({all}, dtype, how);
      uint16_t infinity = dtype == DType::f16 ? 0x7c00 : 0x7f80;
      for (size_t i = 0; i < all.size(); ++i)
        if ((all[i] & 0x7fff) > infinity) // NaN of any kind stays NaN
          EXPECT_GT(result[i] & 0x7fff, infinity);
        else
          EXPECT_EQ(result[i], all[i]);
    }
}

/// Elements 0, 1, 2: NaN on the first, the second, the third of three ranks.
std::vector<std::vector<float>> withNaN() {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  return {{nan, 1, infinity}, {2, nan, -infinity}, {3, -infinity, nan}};
}

TEST(ReduceFloats, NaNOfAnyRankIsTheResult) {
  for (Reduction how : allReductions) {
    EXPECT_THAT(reduced(withNaN(), DType::f32, how), Each(testing::IsNan()));
    std::vector<std::vector<double>> wide;
    for (const std::vector<float> &input : withNaN())
      wide.emplace_back(input.begin(), input.end());
    EXPECT_THAT(reduced(wide, DType::f64, how), Each(testing::IsNan()));
    EXPECT_THAT(reducedHalves<Float16>(withNaN(), DType::f16, how), Each(testing::IsNan()));
    EXPECT_THAT(reducedHalves<BFloat16>(withNaN(), DType::bf16, how), Each(testing::IsNan()));
  }
}

TEST(ReduceFloats, Infinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> both = {{infinity, 1}, {-infinity, infinity}};
  EXPECT_THAT(reduced(both, DType::f32, Reduction::max), ElementsAre(infinity, infinity));
  EXPECT_THAT(reduced(both, DType::f32, Reduction::min), ElementsAre(-infinity, 1));
  EXPECT_THAT(reduced(both, DType::f32, Reduction::sum), ElementsAre(testing::IsNan(), infinity));
}

TEST(ReduceBuffers, EveryOutputGetsTheResultAndMayBeAnInput) {
  constexpr int64_t count = 5000;
  for (size_t place : {0, 1, 2}) {
    std::vector<std::vector<int32_t>> buffers(3, std::vector<int32_t>(count));
    for (int32_t rank = 0; rank < 3; ++rank)
      for (int32_t i = 0; i < count; ++i)
        buffers[rank][i] = i * (rank + 1);
    std::vector<int32_t> apart(count + 1, -7);
    std::vector<const void *> inputs = {buffers[0].data(), buffers[1].data(), buffers[2].data()};
    std::vector<void *> outputs = {apart.data(), buffers[place].data()};
    reduceInOrder(inputs, outputs, count, DType::i32, Reduction::sum);
    EXPECT_EQ(apart.back(), -7) << "nothing is written after the end";
    apart.pop_back();
    EXPECT_EQ(buffers[place], apart);
    for (int32_t i = 0; i < count; ++i)
      EXPECT_EQ(apart[i], 6 * i);
    for (int32_t other = 0; other < 3; ++other)
      if (other != static_cast<int32_t>(place)) {
        EXPECT_EQ(buffers[other][count - 1], (count - 1) * (other + 1)) << "the inputs stay";
      }
  }
}

TEST(ReduceBuffers, NothingToReduceNeedsNoBuffers) {
  const void *input = nullptr;
  void *output = nullptr;
  for (int dtype = 0; dtype <= static_cast<int>(DType::boolean); ++dtype)
    reduceInOrder({&input, 1}, {&output, 1}, 0, static_cast<DType>(dtype), Reduction::max);
}

} // namespace
} // namespace meshplan
