//===- hash_test.cpp - the fingerprint tells files apart ------------------===//

#include "runtime/base/hash.h"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <random>
#include <set>

namespace meshplan {
namespace {

Hash hashOf(std::span<const uint8_t> bytes) { return hashBytes(std::as_bytes(bytes)); }

std::vector<uint8_t> randomBytes(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(generator());
  return bytes;
}

TEST(Hash, DependsOnTheBytesOnly) {
  std::vector<uint8_t> bytes = randomBytes(1001, 1);
  for (size_t shift = 1; shift < 9; ++shift) {
    std::vector<uint8_t> moved(bytes.size() + shift, 0xaa); // another alignment and other neighbours
    std::memcpy(moved.data() + shift, bytes.data(), bytes.size());
    EXPECT_EQ(hashOf(std::span(moved).subspan(shift)), hashOf(bytes));
  }
}

TEST(Hash, EveryChangedBitIsSeen) {
  std::vector<uint8_t> bytes = randomBytes(257, 2);
  std::set<Hash> seen = {hashOf(bytes)};
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_TRUE(seen.insert(hashOf(bytes)).second) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

TEST(Hash, EveryLengthOfZerosHasItsOwn) {
  std::vector<uint8_t> zeros(300);
  std::set<Hash> seen;
  for (size_t size = 0; size <= zeros.size(); ++size)
    EXPECT_TRUE(seen.insert(hashOf(std::span(zeros).first(size))).second) << size;
}

TEST(Hash, TheOrderOfWordsCounts) {
  std::vector<uint8_t> bytes = randomBytes(64, 3);
  std::set<Hash> seen = {hashOf(bytes)};
  for (size_t i = 0; i < 8; ++i)
    for (size_t j = 0; j < i; ++j) {
      std::vector<uint8_t> swapped = bytes;
      std::swap_ranges(&swapped[8 * i], &swapped[8 * i] + 8, &swapped[8 * j]);
      EXPECT_TRUE(seen.insert(hashOf(swapped)).second) << i << " and " << j;
    }
}

TEST(Hash, ShortTextsDoNotCollide) {
  std::set<Hash> seen;
  for (unsigned number = 0; number < 200'000; ++number) {
    std::string text = std::to_string(number);
    EXPECT_TRUE(seen.insert(hashBytes(std::as_bytes(std::span(text)))).second) << number;
  }
}

TEST(Hash, HalfOfTheBitsChange) {
  // In each half of the hash: users see only the first 8 digits.
  std::vector<uint8_t> bytes = randomBytes(40, 4);
  Hash before = hashOf(bytes);
  for (size_t half : {0, 1}) {
    int changed = 0;
    for (size_t bit = 0; bit < 320; ++bit) {
      bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      Hash after = hashOf(bytes);
      for (size_t i = half * 8; i < half * 8 + 8; ++i)
        changed += __builtin_popcount(static_cast<unsigned>(before[i] ^ after[i]));
      bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
    EXPECT_GT(changed / 320.0, 28) << "of 64";
    EXPECT_LT(changed / 320.0, 36) << "of 64";
  }
}

TEST(Hexadecimal, TwoDigitsForEachByte) {
  EXPECT_EQ(toHexadecimal({}), "");
  const uint8_t bytes[] = {0x00, 0x0f, 0xf0, 0xa5, 0xff};
  EXPECT_EQ(toHexadecimal(std::as_bytes(std::span(bytes))), "000ff0a5ff");
}

} // namespace
} // namespace meshplan
