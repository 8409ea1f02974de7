//===- weights_fingerprint.cpp - fingerprint of weights -------------------===//

#include "runtime/checkpoint/weights_fingerprint.h"

#include "runtime/base/hash.h"
#include "runtime/base/names.h"

#include <algorithm>

using namespace meshplan;

std::string meshplan::fingerprintOf(const TensorSource &weights) {
  constexpr size_t sample = 4096;
  std::string text;
  for (const std::string &name : weights.names()) {
    const StoredTensor &tensor = *weights.find(name);
    text += name + " " + std::string(dtypeName(tensor.dtype)) + shapeText(tensor.shape) + shapeText(tensor.strides);
    std::span<const std::byte> bytes = tensor.payload->mapped();
    size_t size = std::min(sample, bytes.size());
    for (std::span<const std::byte> part : {bytes.first(size), bytes.last(size)})
      text.append(reinterpret_cast<const char *>(part.data()), part.size());
  }
  return toHexadecimal(hashBytes(std::as_bytes(std::span(text))));
}
