//===- integers_test.cpp - integers that widen ----------------------------===//

#include "runtime/dataset/integers.h"

#include "test/unit/dataset/helpers.h"

namespace meshplan {
namespace {

using testing::ElementsAre;

template <typename To, typename From>
std::vector<To> converted(const std::vector<From> &values, IntegerType from, DType to) {
  std::vector<To> result(values.size());
  convertIntegers(std::as_bytes(std::span(values)).data(), from, std::as_writable_bytes(std::span(result)).data(), to,
                  values.size());
  return result;
}

TEST(Integers, HoldWhatHasEveryValue) {
  // Rows: the stored type; columns: u8, i8, i16, i32, i64.
  constexpr bool expected[6][5] = {{1, 0, 1, 1, 1}, {0, 1, 1, 1, 1}, {0, 0, 0, 1, 1},
                                   {0, 0, 1, 1, 1}, {0, 0, 0, 1, 1}, {0, 0, 0, 0, 1}};
  constexpr DType types[] = {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64};
  for (int from = 0; from < 6; ++from)
    for (int to = 0; to < 5; ++to)
      EXPECT_EQ(holdsAll(types[to], static_cast<IntegerType>(from)), expected[from][to]) << from << " " << to;
  for (DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16, DType::boolean})
    EXPECT_FALSE(holdsAll(dtype, IntegerType::u8)) << dtypeName(dtype);
}

TEST(Integers, EndsOfTheRanges) {
  EXPECT_THAT((converted<int64_t, uint16_t>({0, 1, 50256, 65535}, IntegerType::u16, DType::i64)),
              ElementsAre(0, 1, 50256, 65535));
  EXPECT_THAT((converted<int32_t, uint16_t>({65535}, IntegerType::u16, DType::i32)), ElementsAre(65535));
  EXPECT_THAT((converted<int64_t, int32_t>({-100, INT32_MIN, INT32_MAX}, IntegerType::i32, DType::i64)),
              ElementsAre(-100, INT32_MIN, INT32_MAX));
  EXPECT_THAT((converted<int16_t, uint8_t>({255}, IntegerType::u8, DType::i16)), ElementsAre(255));
  EXPECT_THAT((converted<int64_t, int8_t>({-128}, IntegerType::i8, DType::i64)), ElementsAre(-128));
  EXPECT_THAT((converted<int64_t, int64_t>({INT64_MIN}, IntegerType::i64, DType::i64)), ElementsAre(INT64_MIN));
}

TEST(Integers, NamesAndSizes) {
  constexpr std::pair<IntegerType, std::string_view> names[] = {{IntegerType::u8, "u8"},   {IntegerType::i8, "i8"},
                                                                {IntegerType::u16, "u16"}, {IntegerType::i16, "i16"},
                                                                {IntegerType::i32, "i32"}, {IntegerType::i64, "i64"}};
  for (auto [type, name] : names) {
    EXPECT_EQ(integerName(type), name);
    EXPECT_EQ(integerSize(type) * 8, std::stoi(std::string(name.substr(1))));
  }
  for (DType dtype : {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64})
    EXPECT_EQ(integerName(*integerTypeOf(dtype)), dtypeName(dtype));
  EXPECT_FALSE(integerTypeOf(DType::boolean));
  EXPECT_FALSE(integerTypeOf(DType::f32));
}

} // namespace
} // namespace meshplan
