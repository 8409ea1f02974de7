//===- hash.cpp - a fingerprint of bytes ----------------------------------===//

#include "runtime/base/hash.h"

#include "runtime/base/format.h"

#define XXH_INLINE_ALL
#include <bit>
#include <xxhash.h>

namespace meshplan {

Hash hashBytes(std::span<const std::byte> bytes) {
  // The canonical form has one order of bytes on all machines.
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::bit_cast<Hash>(canonical.digest);
}

uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string toHexadecimal(std::span<const std::byte> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes.begin(), bytes.end(), ""));
}

} // namespace meshplan
