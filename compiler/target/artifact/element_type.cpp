//===- element_type.cpp - element types as dtypes of the artifact ---------===//

#include "compiler/target/artifact/element_type.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using meshplan::artifact::DType;

std::optional<DType> meshplan::toDType(Type type) {
  if (type.isF32())
    return DType::f32;
  if (type.isF64())
    return DType::f64;
  if (type.isF16())
    return DType::f16;
  if (type.isBF16())
    return DType::bf16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  if (integer.isUnsigned())
    return integer.getWidth() == 8 ? std::optional(DType::u8) : std::nullopt;
  switch (integer.getWidth()) {
  case 64:
    return DType::i64;
  case 32:
    return DType::i32;
  case 16:
    return DType::i16;
  case 8:
    return DType::i8;
  case 1:
    return DType::boolean;
  default:
    return std::nullopt;
  }
}
