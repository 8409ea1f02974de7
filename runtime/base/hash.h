//===- hash.h - a fingerprint of bytes --------------------------*- C++ -*-===//
//
// A fingerprint (XXH3) that detects accidental differences between files. Not cryptographic. Equal on all machines.
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

/// A uniformly distributed number, determined by the bytes and `seed`.
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed);

/// Two lower-case hexadecimal digits per byte.
std::string toHexadecimal(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_HASH_H
