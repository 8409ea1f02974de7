//===- hash.cpp - a fingerprint of bytes ----------------------------------===//

#include "runtime/base/hash.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace meshplan {

namespace {

/// The finalizer of MurmurHash3: every input bit changes about half of the output bits.
uint64_t mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

} // namespace

Hash hashBytes(std::span<const std::byte> bytes) {
  uint64_t lanes[2] = {0x9e3779b97f4a7c15ULL, bytes.size()};
  for (size_t offset = 0; offset < bytes.size(); offset += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, std::min(sizeof(word), bytes.size() - offset));
    lanes[0] = mix(lanes[0] ^ word);
    lanes[1] = (lanes[1] ^ word) * 0x100000001b3ULL + (lanes[1] >> 29);
  }
  lanes[1] = mix(lanes[1]);
  Hash hash;
  std::memcpy(hash.data(), lanes, sizeof(lanes));
  return hash;
}

std::string toHexadecimal(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::byte byte : bytes) {
    text += digits[static_cast<unsigned>(byte) >> 4];
    text += digits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

} // namespace meshplan
