//===- constant_bytes.cpp - the bytes of a constant -----------------------===//

#include "compiler/target/artifact/constant_bytes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace meshplan {

/// The elements of a dense attribute: a splat is expanded, booleans take a byte each.
static std::vector<uint8_t> denseBytes(DenseElementsAttr value) {
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

FailureOr<std::vector<uint8_t>> constantBytes(ElementsAttr elements, Operation *op, StringRef name) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return denseBytes(dense);
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return op->emitOpError() << "'" << name << "' has no bytes in this module";
  ArrayRef<char> raw = blob->getData();
  return std::vector<uint8_t>(raw.begin(), raw.end());
}

} // namespace meshplan
