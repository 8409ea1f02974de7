//===- integers.h - integers that widen --------------------------*- C++ -*-===//
//
// Token files store what fits, such as 16 bits without a sign, and models take
// 64 bits. Only types that hold every value of the stored one are taken.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATASET_INTEGERS_H
#define MESHPLAN_RUNTIME_DATASET_INTEGERS_H

#include "runtime/base/dtype.h"

#include <optional>

namespace meshplan {

/// Integers that files have: those of DType, and u16.
enum class IntegerType : int8_t { u8, i8, u16, i16, i32, i64 };

/// Bytes of one.
int64_t integerSize(IntegerType type);

/// "u16".
std::string_view integerName(IntegerType type);

/// Nothing for floats and booleans.
std::optional<IntegerType> integerTypeOf(DType dtype);

/// Whether `to` is an integer type that has every value of `from`.
bool holdsAll(DType to, IntegerType from);

/// Source and destination need no alignment and must not overlap. Precondition: holdsAll.
void convertIntegers(const std::byte *source, IntegerType from, std::byte *destination, DType to, int64_t count);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_INTEGERS_H
