//===- elements.cpp - elements of tensors in the artifact -----------------===//

#include "compiler/target/artifact/elements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace meshplan;
using meshplan::artifact::DType;

/// The elements of a dense attribute: a splat is expanded, booleans take a byte each.
static std::vector<uint8_t> denseBytes(DenseElementsAttr value) {
  // MLIR packs booleans, eight in a byte; LibTorch reads one byte for each.
  std::vector<uint8_t> bytes;
  if (value.getElementType().isInteger(1)) {
    bytes.reserve(value.getNumElements());
    for (bool element : value.getValues<bool>())
      bytes.push_back(element);
    return bytes;
  }
  ArrayRef<char> raw = value.getRawData();
  if (!value.isSplat())
    return std::vector<uint8_t>(raw.begin(), raw.end());
  bytes.reserve(raw.size() * value.getNumElements());
  for (int64_t index = 0; index < value.getNumElements(); ++index)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

FailureOr<std::vector<uint8_t>> meshplan::constantBytes(ElementsAttr elements, Operation *op, StringRef name) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return denseBytes(dense);
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return op->emitOpError() << "'" << name << "' has no bytes in this module";
  ArrayRef<char> raw = blob->getData();
  return std::vector<uint8_t>(raw.begin(), raw.end());
}

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
