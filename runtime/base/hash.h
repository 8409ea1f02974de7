//===- hash.h - a fingerprint of bytes ----------------------------*- C++ -*-===//
//
// Tells apart files that differ by accident. Not cryptographic. The same on
// every little-endian machine.
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

/// Two lower-case hexadecimal digits for each byte.
std::string toHexadecimal(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_BASE_HASH_H
