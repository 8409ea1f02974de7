//===- megatron_index_test.cpp - the index of a Megatron data set ---------===//

#include "runtime/dataset/megatron_index.h"

#include "test/unit/dataset/megatron_bytes.h"

namespace meshplan {
namespace {

Expected<MegatronIndex> read(const std::string &text) {
  // A block of exactly that size, so that a sanitizer sees every read past the end.
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return readMegatronIndex("p.idx", bytes);
}

std::string errorOfIndex(const std::string &text) { return errorOf(read(text)); }

TEST(MegatronIndex, BytesByHand) {
  // Two sequences, of 3 and 1 tokens of i32, in one document.
  Expected<MegatronIndex> index = read(std::string("MMIDIDX\0\0"
                                                   "\1\0\0\0\0\0\0\0"
                                                   "\4"
                                                   "\2\0\0\0\0\0\0\0"
                                                   "\2\0\0\0\0\0\0\0"
                                                   "\3\0\0\0\1\0\0\0"
                                                   "\0\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0"
                                                   "\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0",
                                                   74));
  ASSERT_TRUE(index.ok()) << index.status().message();
  EXPECT_EQ(index->type, IntegerType::i32);
  EXPECT_EQ(index->sequences, 2);
  EXPECT_EQ(index->documents, 2);
  EXPECT_EQ(index->tokens, 4);
}

TEST(MegatronIndex, TypesByCode) {
  constexpr std::pair<uint8_t, IntegerType> codes[] = {{1, IntegerType::u8},  {2, IntegerType::i8},
                                                       {3, IntegerType::i16}, {4, IntegerType::i32},
                                                       {5, IntegerType::i64}, {8, IntegerType::u16}};
  for (auto [code, type] : codes) {
    Expected<MegatronIndex> index = read(MegatronBytes::of({2, 0, 5}, code, integerSize(type)).text());
    ASSERT_TRUE(index.ok()) << index.status().message();
    EXPECT_EQ(index->type, type);
    EXPECT_EQ(index->tokens, 7);
  }
  for (int code : {0, 6, 7, 9, 255})
    EXPECT_EQ(errorOfIndex(MegatronBytes{.code = static_cast<uint8_t>(code)}.text()),
              "p.idx: tokens of the type with the code " + std::to_string(code) +
                  ", one of 1, 2, 3, 4, 5 and 8 (integers) required");
}

TEST(MegatronIndex, AnEmptyDataSet) {
  Expected<MegatronIndex> index = read(MegatronBytes().text());
  ASSERT_TRUE(index.ok()) << index.status().message();
  EXPECT_EQ(index->tokens, 0);
}

TEST(MegatronIndex, EveryCutIsRefused) {
  std::string text = MegatronBytes::of({3, 1, 4}, 8, 2).text();
  ASSERT_TRUE(read(text).ok());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(read(text.substr(0, size)).ok()) << size;
  EXPECT_EQ(errorOfIndex(text.substr(0, 33)),
            "p.idx: truncated: a file of 33 bytes is not an index of a Megatron data set");
  EXPECT_EQ(errorOfIndex(text.substr(0, text.size() - 1)),
            "p.idx: 3 sequences and 4 documents do not fit " + std::to_string(text.size() - 1) + " bytes");
  EXPECT_EQ(errorOfIndex(text + "x"),
            "p.idx: 3 sequences and 4 documents do not fit " + std::to_string(text.size() + 1) + " bytes");
}

TEST(MegatronIndex, OtherFiles) {
  EXPECT_EQ(errorOfIndex(std::string(40, 'x')),
            "p.idx: not an index of a Megatron data set, which begins with 'MMIDIDX'");
  EXPECT_EQ(errorOfIndex(MegatronBytes{.version = 2}.text()), "p.idx: version 2 of the index, 1 required");
  MegatronBytes images = MegatronBytes::of({3, 1}, 8, 2);
  images.modes = std::string("\0\1", 2);
  EXPECT_EQ(errorOfIndex(images.text()),
            "p.idx: sequences have modes, as those with images; help: give a data set of text alone");
}

TEST(MegatronIndex, SequencesThatDoNotFollowEachOther) {
  MegatronBytes gap = MegatronBytes::of({3, 1}, 8, 2);
  gap.pointers[1] = 8;
  EXPECT_EQ(errorOfIndex(gap.text()),
            "p.idx: sequence 1 begins at byte 8, 6 required: the sequences before it have 3 tokens of u16");
  MegatronBytes negative = MegatronBytes::of({3, 1}, 8, 2);
  negative.lengths[1] = -1;
  EXPECT_EQ(errorOfIndex(negative.text()), "p.idx: sequence 1 has -1 tokens");
}

TEST(MegatronIndex, CountsThatWrapAround) {
  std::string text = MegatronBytes::of({3, 1}, 8, 2).text();
  for (size_t offset : {18, 26})
    for (uint64_t count : {uint64_t(1) << 63, ~uint64_t(0), uint64_t(1) << 61, (uint64_t(1) << 62) + 2}) {
      std::string wrong = text;
      std::memcpy(&wrong[offset], &count, sizeof count);
      EXPECT_THAT(errorOfIndex(wrong), testing::HasSubstr("do not fit")) << offset << " " << count;
    }
}

} // namespace
} // namespace meshplan
