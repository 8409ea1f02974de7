//===- hash.h - a fingerprint of bytes --------------------------*- C++ -*-===//
//
// A fingerprint that detects accidental differences between files. Not cryptographic. Equal on all little-endian
// machines.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_BASE_HASH_H
#define MESHPLAN_RUNTIME_BASE_HASH_H

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace meshplan {

using Hash = std::array<std::byte, 16>;

Hash hashBytes(std::span<const std::byte> bytes);

/// Two lower-case hexadecimal digits per byte.
std::string toHexadecimal(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_HASH_H
