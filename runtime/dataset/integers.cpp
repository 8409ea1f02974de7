//===- integers.cpp - widening integers -----------------------------------===//
//
// Token files have the narrowest type that holds the vocabulary, models read i64 or i32. Every pair of types is one
// instance of `widen`; withInteger turns a type that is known at run time into a C++ type.
//
//===----------------------------------------------------------------------===//

#include "runtime/dataset/integers.h"

#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

namespace meshplan {

namespace {

/// Calls `use` with a zero of the C++ type.
template <typename Use> auto withInteger(IntegerType type, const Use &use) {
  switch (type) {
  case IntegerType::u8:
    return use(uint8_t());
  case IntegerType::i8:
    return use(int8_t());
  case IntegerType::u16:
    return use(uint16_t());
  case IntegerType::i16:
    return use(int16_t());
  case IntegerType::i32:
    return use(int32_t());
  case IntegerType::i64:
    break;
  }
  return use(int64_t());
}

template <typename From, typename To> void widen(const std::byte *source, std::byte *destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, source + i * sizeof(From), sizeof(From));
    // Keeps the value, since `holdsAll` holds: signed numbers extend their sign, unsigned ones get zeros.
    To wide = static_cast<To>(value);
    std::memcpy(destination + i * sizeof(To), &wide, sizeof(To));
  }
}

} // namespace

int64_t integerSize(IntegerType type) {
  return withInteger(type, [](auto zero) { return static_cast<int64_t>(sizeof(zero)); });
}

std::string_view integerName(IntegerType type) {
  constexpr std::array<std::string_view, 6> names = {"u8", "i8", "u16", "i16", "i32", "i64"};
  return names[static_cast<size_t>(type)];
}

std::optional<IntegerType> integerTypeOf(DType dtype) {
  constexpr std::array<std::pair<DType, IntegerType>, 5> types = {{{DType::u8, IntegerType::u8},
                                                                   {DType::i8, IntegerType::i8},
                                                                   {DType::i16, IntegerType::i16},
                                                                   {DType::i32, IntegerType::i32},
                                                                   {DType::i64, IntegerType::i64}}};
  for (auto [stored, type] : types)
    if (stored == dtype)
      return type;
  return std::nullopt;
}

bool holdsAll(DType to, IntegerType from) {
  std::optional<IntegerType> type = integerTypeOf(to);
  return type && withInteger(*type, [&](auto wide) {
           return withInteger(from, [](auto narrow) {
             using To = std::numeric_limits<decltype(wide)>;
             using From = std::numeric_limits<decltype(narrow)>;
             return std::in_range<decltype(wide)>(From::min()) && std::cmp_less_equal(From::max(), To::max());
           });
         });
}

void convertIntegers(const std::byte *source, IntegerType from, std::byte *destination, DType to, int64_t count) {
  assert(holdsAll(to, from) && "the destination must have every value");
  withInteger(*integerTypeOf(to), [&](auto wide) {
    withInteger(from, [&](auto narrow) { widen<decltype(narrow), decltype(wide)>(source, destination, count); });
  });
}

} // namespace meshplan
