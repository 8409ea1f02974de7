//===- dtype.h - element types and their conversions ------------*- C++ -*-===//
//
// The element types of the artifact, with the names that messages and
// safetensors files use, and the conversions between the floating-point ones.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_DTYPE_H
#define MESHPLAN_RUNTIME_BASE_DTYPE_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace meshplan {

/// Same values as artifact::DType (held by a static assertion in runtime/artifact).
enum class DType : int8_t { f32 = 0, f64, f16, bf16, i64, i32, i16, i8, u8, boolean };

/// Bytes of one element.
int64_t dtypeSize(DType dtype);

/// "f32", "bf16", "i64", "bool": as plans and messages write it.
std::string_view dtypeName(DType dtype);
std::optional<DType> dtypeOfName(std::string_view name);

/// "F32", "BF16", "I64", "BOOL": as a safetensors header writes it.
std::string_view safetensorsName(DType dtype);
std::optional<DType> dtypeOfSafetensorsName(std::string_view name);

bool isFloat(DType dtype);

/// IEEE half precision and bfloat16 as bits: storage only.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

inline float toFloat(BFloat16 value) { return std::bit_cast<float>(uint32_t(value.bits) << 16); }
float toFloat(Float16 value);

/// Round to nearest, ties to even; NaN stays NaN, overflow becomes infinity.
inline BFloat16 toBFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return {uint16_t((bits >> 16) | 0x40)};
  return {uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}
Float16 toFloat16(float value);

/// Converts `count` floating-point elements and rounds each once, to nearest even. Source and destination need no
/// alignment and must not overlap. Precondition: both types are floats (isFloat).
void convertFloats(const std::byte *source, DType from, std::byte *destination, DType to, int64_t count);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_DTYPE_H
