//===- hash.h - a fingerprint of bytes ----------------------------*- C++ -*-===//
//
// XXH3, which tells apart files that differ by accident. Not cryptographic. The
// same on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_HASH_H
#define MESHPLAN_RUNTIME_BASE_HASH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace meshplan {

using Hash = std::array<std::byte, 16>;

Hash hashBytes(std::span<const std::byte> bytes);

/// A number that follows from bytes and `seed`, evenly distributed.
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed);

/// Two lower-case hexadecimal digits for each byte.
std::string toHexadecimal(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_HASH_H
