//===- dtype_test.cpp -----------------------------------------------------===//

#include "runtime/base/dtype.h"

#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <limits>

namespace meshplan {
namespace {

/// Values of all 65,536 bit patterns, from the definition of the format.
double valueOf(uint16_t bits, int exponentBits, int mantissaBits) {
  int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  double mantissa = bits & ((1 << mantissaBits) - 1);
  int bias = (1 << (exponentBits - 1)) - 1;
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == (1 << exponentBits) - 1)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0)
    return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
}

template <typename To> To convertDouble(double value, DType to) {
  To result;
  convertFloats(reinterpret_cast<const std::byte *>(&value), DType::f64, reinterpret_cast<std::byte *>(&result), to, 1);
  return result;
}

struct HalfFormat {
  DType dtype;
  int exponentBits, mantissaBits;
  float (*widen)(uint16_t);
  uint16_t (*narrow)(float);
};

const HalfFormat formats[] = {
    {DType::f16, 5, 10, [](uint16_t bits) { return toFloat(Float16{bits}); },
     [](float value) { return toFloat16(value).bits; }},
    {DType::bf16, 8, 7, [](uint16_t bits) { return toFloat(BFloat16{bits}); },
     [](float value) { return toBFloat16(value).bits; }},
};

int infinityBits(const HalfFormat &format) { return 0x8000 - (1 << format.mantissaBits); }

TEST(Halves, WideningIsExactForAllBitPatterns) {
  for (const HalfFormat &format : formats)
    for (int bits = 0; bits < 0x10000; ++bits) {
      double expected = valueOf(uint16_t(bits), format.exponentBits, format.mantissaBits);
      float actual = format.widen(uint16_t(bits));
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(actual));
      else
        ASSERT_EQ(static_cast<double>(actual), expected) << bits;
    }
}

TEST(Halves, NarrowingGivesBackAllBitPatterns) {
  for (const HalfFormat &format : formats)
    for (int bits = 0; bits < 0x10000; ++bits) {
      float value = format.widen(uint16_t(bits));
      if (!std::isnan(value))
        ASSERT_EQ(format.narrow(value), bits);
      else
        EXPECT_TRUE(std::isnan(format.widen(format.narrow(value))));
    }
}

TEST(Halves, NarrowingRoundsToNearestEven) {
  for (const HalfFormat &format : formats)
    for (int bits = 0; bits + 1 < infinityBits(format); ++bits) {
      double low = valueOf(uint16_t(bits), format.exponentBits, format.mantissaBits);
      double high = valueOf(uint16_t(bits + 1), format.exponentBits, format.mantissaBits);
      double middle = (low + high) / 2, step = (high - low) / 1e6;
      auto even = uint16_t(bits % 2 == 0 ? bits : bits + 1);
      // Also through double: rounding to f32 first would lose on which side of the midpoint the value was.
      ASSERT_EQ(convertDouble<uint16_t>(middle, format.dtype), even);
      ASSERT_EQ(convertDouble<uint16_t>(std::nextafter(middle, high), format.dtype), bits + 1);
      ASSERT_EQ(convertDouble<uint16_t>(std::nextafter(middle, low), format.dtype), bits);
      ASSERT_EQ(convertDouble<uint16_t>(-(middle + step), format.dtype), (bits + 1) | 0x8000);
      ASSERT_EQ(format.narrow(static_cast<float>(middle)), even);
    }
}

TEST(Halves, OverflowIsInfinity) {
  EXPECT_EQ(toFloat16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(toFloat16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(toFloat16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(toBFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(convertDouble<uint16_t>(-1e300, DType::f16), 0xfc00);
  EXPECT_EQ(convertDouble<uint16_t>(1e300, DType::bf16), 0x7f80);
  EXPECT_EQ(convertDouble<uint16_t>(1e-300, DType::bf16), 0);
  EXPECT_EQ(convertDouble<float>(1e300, DType::f32), std::numeric_limits<float>::infinity());
}

TEST(ConvertFloats, BetweenAllPairsAndUnaligned) {
  const DType floats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
  std::vector<double> values = {0, 1, -2.5, 96, 0.0078125};
  for (DType from : floats)
    for (DType to : floats) {
      // One leading byte makes both buffers unaligned.
      std::vector<std::byte> source(1 + 8 * values.size()), target(1 + 8 * values.size()), back(8 * values.size());
      auto count = static_cast<int64_t>(values.size());
      convertFloats(reinterpret_cast<const std::byte *>(values.data()), DType::f64, source.data() + 1, from, count);
      convertFloats(source.data() + 1, from, target.data() + 1, to, count);
      convertFloats(target.data() + 1, to, back.data(), DType::f64, count);
      EXPECT_EQ(std::memcmp(back.data(), values.data(), back.size()), 0) << dtypeName(from) << " " << dtypeName(to);
    }
}

TEST(DType, NamesAndSizes) {
  EXPECT_EQ(dtypeName(DType::bf16), "bf16");
  EXPECT_EQ(dtypeName(DType::boolean), "bool");
  EXPECT_EQ(dtypeSize(DType::f64), 8);
  EXPECT_EQ(dtypeSize(DType::boolean), 1);
  for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
    DType dtype = static_cast<DType>(i);
    EXPECT_EQ(dtypeOfSafetensorsName(safetensorsName(dtype)), dtype);
  }
  EXPECT_EQ(dtypeOfSafetensorsName("F8_E4M3"), std::nullopt);
  EXPECT_TRUE(isFloat(DType::f16));
  EXPECT_FALSE(isFloat(DType::i32));
}

} // namespace
} // namespace meshplan
