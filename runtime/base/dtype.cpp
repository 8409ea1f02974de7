//===- dtype.cpp - element types and their conversions --------------------===//

#include "runtime/base/dtype.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace meshplan {

namespace {

struct DTypeRow {
  std::string_view name;
  std::string_view safetensors;
  int64_t size;
};

// In the order of the enumerators.
constexpr std::array<DTypeRow, 10> rows = {{{"f32", "F32", 4},
                                            {"f64", "F64", 8},
                                            {"f16", "F16", 2},
                                            {"bf16", "BF16", 2},
                                            {"i64", "I64", 8},
                                            {"i32", "I32", 4},
                                            {"i16", "I16", 2},
                                            {"i8", "I8", 1},
                                            {"u8", "U8", 1},
                                            {"bool", "BOOL", 1}}};

const DTypeRow &rowOf(DType dtype) {
  // Without a default, so that an enumerator without a row does not compile.
  switch (dtype) {
  case DType::f32:
  case DType::f64:
  case DType::f16:
  case DType::bf16:
  case DType::i64:
  case DType::i32:
  case DType::i16:
  case DType::i8:
  case DType::u8:
  case DType::boolean:
    break;
  }
  return rows[static_cast<size_t>(dtype)];
}

/// Converts to a float that rounds to every narrower type exactly as `value` would. It rounds to odd: toward zero, with
/// the last bit set if anything was cut off. So the second rounding never sees a false tie. Example: 1 + 2^-8 + 2^-40
/// becomes 1 + 2^-7 in bf16. The nearest float is 1 + 2^-8, halfway between two numbers of bf16, and the tie would go
/// to 1, which is even. Rounded to odd, the float is above the tie.
float toOdd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value)
    return nearest;
  // `nearest` is inexact. Undo the rounding if it increased the magnitude, then mark that bits were lost.
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  bool away = std::abs(static_cast<double>(nearest)) > std::abs(value);
  return std::bit_cast<float>((away ? bits - 1 : bits) | 1);
}

template <typename To, typename From> To convertOne(From value) {
  if constexpr (std::is_same_v<From, To>)
    return value;
  else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>)
    return convertOne<To>(toFloat(value));
  else if constexpr (std::is_same_v<To, Float16>)
    return toFloat16(std::is_same_v<From, double> ? toOdd(value) : static_cast<float>(value));
  else if constexpr (std::is_same_v<To, BFloat16>)
    return toBFloat16(std::is_same_v<From, double> ? toOdd(value) : static_cast<float>(value));
  else
    return static_cast<To>(value);
}

template <typename From, typename To> void convertAll(const std::byte *source, std::byte *destination, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    // The bytes of a file need not be aligned for their dtype. They are copied and not cast: reading an unaligned
    // pointer is undefined, and compilers turn the copy into a load.
    From value;
    std::memcpy(&value, source + i * sizeof(From), sizeof(From));
    To result = convertOne<To>(value);
    std::memcpy(destination + i * sizeof(To), &result, sizeof(To));
  }
}

template <typename From> void convertFrom(const std::byte *source, std::byte *destination, DType to, int64_t count) {
  switch (to) {
  case DType::f32:
    return convertAll<From, float>(source, destination, count);
  case DType::f64:
    return convertAll<From, double>(source, destination, count);
  case DType::f16:
    return convertAll<From, Float16>(source, destination, count);
  case DType::bf16:
    return convertAll<From, BFloat16>(source, destination, count);
  default:
    assert(false && "not a floating-point type");
  }
}

} // namespace

int64_t dtypeSize(DType dtype) { return rowOf(dtype).size; }
std::string_view dtypeName(DType dtype) { return rowOf(dtype).name; }
std::string_view safetensorsName(DType dtype) { return rowOf(dtype).safetensors; }

static std::optional<DType> findRow(std::string_view DTypeRow::*column, std::string_view name) {
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].*column == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<DType> dtypeOfName(std::string_view name) { return findRow(&DTypeRow::name, name); }
std::optional<DType> dtypeOfSafetensorsName(std::string_view name) { return findRow(&DTypeRow::safetensors, name); }

bool isFloat(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

float toFloat(Float16 value) {
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16;
  uint32_t magnitude = value.bits & 0x7fff;
  if (magnitude >= 0x7c00) // infinity or NaN: the exponent field is all ones in both formats
    return std::bit_cast<float>(sign | 0x7f800000 | ((magnitude & 0x3ff) << 13));
  if (magnitude < 0x400) // zero or subnormal: a multiple of 2^-24, exact in f32
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));
  // A normal number: the mantissa gets 13 more bits, and the exponent's bias changes from 15 to 127.
  return std::bit_cast<float>(sign | ((magnitude << 13) + ((127 - 15) << 23)));
}

Float16 toFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  // A NaN stays a NaN: the quiet bit keeps its mantissa from becoming that of infinity.
  if (magnitude > 0x7f800000)
    return {uint16_t(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff))};
  if (magnitude >= 0x477ff000) // 65520: halfway between the largest half and the next power of two
    return {uint16_t(sign | 0x7c00)};
  if (magnitude < 0x38800000) { // below the smallest normal half: adding 0.5 rounds to a multiple of 2^-24
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(0.5f)))};
  }
  // Round to nearest, ties to even: add half a unit in the last place, less one bit if the last kept bit is even.
  magnitude += 0xfff + ((magnitude >> 13) & 1);
  return {uint16_t(sign | ((magnitude - ((127 - 15) << 23)) >> 13))};
}

void convertFloats(const std::byte *source, DType from, std::byte *destination, DType to, int64_t count) {
  switch (from) {
  case DType::f32:
    return convertFrom<float>(source, destination, to, count);
  case DType::f64:
    return convertFrom<double>(source, destination, to, count);
  case DType::f16:
    return convertFrom<Float16>(source, destination, to, count);
  case DType::bf16:
    return convertFrom<BFloat16>(source, destination, to, count);
  default:
    assert(false && "not a floating-point type");
  }
}

} // namespace meshplan
