//===- checksum.h - the last bytes of an artifact ----------------*- C++ -*-===//
//
// An artifact is a FlatBuffer and behind it the checksum of all its bytes: XXH3
// with 64 bits and seed 0, little-endian. The compiler appends it and the
// runtime compares it before it reads anything else, so that a bit that changed
// on the way is noticed wherever it is, also in a constant, which any bytes
// would fit. XXH3 takes several GB/s, no more than reading the file. Every format
// from 2 on ends in this way. Format 1 had no checksum and the identifier MPSC.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_CHECKSUM_H
#define MESHPLAN_RUNTIME_SCHEMA_CHECKSUM_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace meshplan {

using Checksum = std::array<uint8_t, sizeof(uint64_t)>;

inline Checksum checksumOf(std::span<const uint8_t> content) {
  uint64_t hash = XXH3_64bits(content.data(), content.size());
  Checksum checksum;
  for (size_t i = 0; i < checksum.size(); ++i)
    checksum[i] = static_cast<uint8_t>(hash >> (8 * i));
  return checksum;
}

/// The FlatBuffer of an artifact; empty when the file is shorter than a checksum.
inline std::span<const uint8_t> contentOf(std::span<const uint8_t> artifact) {
  return artifact.first(artifact.size() < sizeof(Checksum) ? 0 : artifact.size() - sizeof(Checksum));
}

/// True if the last bytes are the checksum of those before them.
inline bool hasRightChecksum(std::span<const uint8_t> artifact) {
  if (artifact.size() < sizeof(Checksum))
    return false;
  std::span<const uint8_t> content = contentOf(artifact);
  Checksum checksum = checksumOf(content);
  return std::memcmp(artifact.data() + content.size(), checksum.data(), checksum.size()) == 0;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_CHECKSUM_H
