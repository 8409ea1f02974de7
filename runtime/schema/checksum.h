//===- checksum.h - the checksum of an artifact -----------------*- C++ -*-===//
//
// An artifact is a FlatBuffer followed by a checksum of all its bytes: XXH3, 64 bits, seed 0, little-endian. The
// compiler appends it. The runtime compares it before it reads anything else, so that any changed bit is noticed, even
// one in the data of a constant, where every byte value is valid. XXH3 processes several GB/s and costs no more than
// reading the file. Every format from 2 on ends this way; format 1 had no checksum and the identifier MPSC.
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

/// The FlatBuffer of an artifact; empty if the file is shorter than a checksum.
inline std::span<const uint8_t> contentOf(std::span<const uint8_t> artifact) {
  return artifact.first(artifact.size() < sizeof(Checksum) ? 0 : artifact.size() - sizeof(Checksum));
}

/// True if the last bytes are the checksum of the bytes before them.
inline bool hasRightChecksum(std::span<const uint8_t> artifact) {
  if (artifact.size() < sizeof(Checksum))
    return false;
  std::span<const uint8_t> content = contentOf(artifact);
  Checksum checksum = checksumOf(content);
  return std::memcmp(artifact.data() + content.size(), checksum.data(), checksum.size()) == 0;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_SCHEMA_CHECKSUM_H
