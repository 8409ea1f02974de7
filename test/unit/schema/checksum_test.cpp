//===- checksum_test.cpp - the last bytes of an artifact ------------------===//

#include "test/unit/schema/artifact_bytes.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <string_view>

namespace meshplan {
namespace {

std::vector<uint8_t> bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

uint64_t numberOf(const Checksum &checksum) {
  uint64_t number = 0;
  for (size_t i = checksum.size(); i-- > 0;)
    number = number << 8 | checksum[i];
  return number;
}

TEST(ArtifactChecksum, IsXxh3) {
  // Known values of XXH3 with 64 bits and seed 0.
  EXPECT_EQ(numberOf(checksumOf({})), 0x2d06800538d394c2u);
  EXPECT_EQ(numberOf(checksumOf(bytesOf("a"))), 0xe6c632b61e964e1fu);
  EXPECT_EQ(numberOf(checksumOf(bytesOf("abc"))), 0x78af5f94892f3950u);
}

TEST(ArtifactChecksum, EveryChangedBitIsNoticed) {
  // Around the lengths at which XXH3 changes its method.
  for (size_t size : {0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 1025}) {
    std::vector<uint8_t> content;
    for (size_t i = 0; i < size; ++i)
      content.push_back(static_cast<uint8_t>(i * 37));
    std::vector<uint8_t> artifact = withChecksum(content);
    EXPECT_TRUE(hasRightChecksum(artifact)) << size;
    EXPECT_TRUE(std::ranges::equal(contentOf(artifact), content));
    for (size_t bit = 0; bit < artifact.size() * 8; ++bit) {
      artifact[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      EXPECT_FALSE(hasRightChecksum(artifact)) << "bit " << bit << " of " << artifact.size() << " bytes";
      artifact[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
  }
}

TEST(ArtifactChecksum, BytesThatAreMissingOrAdded) {
  std::vector<uint8_t> artifact = withChecksum(bytesOf("a schedule of two ranks"));
  for (size_t size = 0; size < artifact.size(); ++size)
    EXPECT_FALSE(hasRightChecksum(std::span(artifact).first(size))) << size;
  artifact.push_back(0);
  EXPECT_FALSE(hasRightChecksum(artifact));
}

TEST(ArtifactChecksum, AFileShorterThanAChecksumHasNoContent) {
  std::vector<uint8_t> bytes = bytesOf("1234567");
  EXPECT_TRUE(contentOf(bytes).empty());
  EXPECT_TRUE(contentOf({}).empty());
  bytes.push_back('8');
  EXPECT_TRUE(contentOf(bytes).empty());
  bytes.push_back('9');
  EXPECT_EQ(contentOf(bytes).size(), 1u);
}

} // namespace
} // namespace meshplan
