//===- integers.h - widening integers ---------------------------*- C++ -*-===//
//
// Token files store narrow integers, such as u16, and models take 64 bits. Only conversions to types that hold every
// stored value are allowed.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_DATASET_INTEGERS_H
#define MESHPLAN_RUNTIME_DATASET_INTEGERS_H

#include "runtime/base/dtype.h"

#include <optional>

namespace meshplan {

/// Integer types in files: those of DType, and u16.
enum class IntegerType : int8_t { u8, i8, u16, i16, i32, i64 };

/// Size of one integer in bytes.
int64_t integerSize(IntegerType type);

/// "u16".
std::string_view integerName(IntegerType type);

/// Nullopt for floats and booleans.
std::optional<IntegerType> integerTypeOf(DType dtype);

/// True if `to` is an integer type that holds every value of `from`.
bool holdsAll(DType to, IntegerType from);

/// Source and destination need no alignment and must not overlap. Precondition: holdsAll.
void convertIntegers(const std::byte *source, IntegerType from, std::byte *destination, DType to, int64_t count);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_DATASET_INTEGERS_H
