//===- block_checksums_test.cpp - checksums of bytes, block by block ------===//

#include "runtime/data/block_checksums.h"

#include "runtime/data/safetensors_writer.h"
#include "test/unit/data/helpers.h"

#include <random>
#include <zlib.h>

namespace meshplan {
namespace {

std::vector<std::byte> randomBytes(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte &byte : bytes)
    byte = static_cast<std::byte>(random());
  return bytes;
}

uint32_t crcOfZlib(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

TEST(BlockChecksums, AreThoseOfZlib) {
  std::vector<std::byte> bytes = randomBytes(5000, 1);
  for (size_t size : {0, 1, 7, 8, 63, 64, 65, 255, 256, 4096, 5000}) {
    std::span<const std::byte> part = std::span(bytes).first(size);
    EXPECT_EQ(crc32Of(part), crcOfZlib(part)) << size;
    EXPECT_EQ(crc32Of(part.subspan(size / 3), crc32Of(part.first(size / 3))), crcOfZlib(part)) << size;
  }
  EXPECT_EQ(checksumText(0xab), "000000ab");
}

/// The check value of the CRC catalogues, and the first two examples of RFC 3720, B.4.
TEST(BlockChecksums, Castagnoli) {
  std::string digits = "123456789", zeros(32, '\0'), ones(32, '\xff');
  EXPECT_EQ(crc32cOf(std::as_bytes(std::span(digits))), 0xe3069283u);
  EXPECT_EQ(crc32cOf(std::as_bytes(std::span(zeros))), 0x8a9136aau);
  EXPECT_EQ(crc32cOf(std::as_bytes(std::span(ones))), 0x62a8ab43u);
  EXPECT_EQ(crc32cOf({}), 0u);
}

/// Each byte, or run of up to 40 bytes, goes to one of the writers.
TEST(BlockChecksums, WhoeverWritesWhichBytes) {
  std::mt19937 random(2);
  for (size_t size : {1, 99, 100, 101, 1234})
    for (int writers : {1, 2, 5}) {
      std::vector<std::byte> bytes = randomBytes(size, 3);
      std::vector<BlockSums> sums(writers, BlockSums(size, 100));
      for (size_t begin = 0; begin < size;) {
        size_t count = std::min<size_t>(size - begin, 1 + random() % 40);
        sums[random() % writers].add(begin, std::span(bytes).subspan(begin, count));
        begin += count;
      }
      for (size_t block = 0; block * 100 < size; ++block) {
        size_t count = std::min<size_t>(100, size - block * 100);
        uint32_t all = 0;
        for (BlockSums &each : sums)
          if (auto found = each.sums().find(block); found != each.sums().end())
            all ^= found->second;
        EXPECT_EQ(checksumOfSum(all, count), crcOfZlib(std::span(bytes).subspan(block * 100, count)))
            << size << " bytes, " << writers << " writers, block " << block;
      }
    }
}

TEST(BlockChecksums, RunsMayComeInAnyOrder) {
  std::vector<std::byte> bytes = randomBytes(250, 4);
  BlockSums sums(250, 100);
  for (auto [begin, count] : {std::pair(180, 70), {0, 30}, {90, 90}, {30, 60}})
    sums.add(begin, std::span(bytes).subspan(begin, count));
  for (auto [block, sum] : sums.sums())
    EXPECT_EQ(checksumOfSum(sum, block == 2 ? 50 : 100),
              crcOfZlib(std::span(bytes).subspan(block * 100).first(block == 2 ? 50 : 100)));
  EXPECT_EQ(sums.sums().size(), 3u);
}

/// A file with one tensor of 60 x 10 floats, written by two writers by columns, and its checksums.
class CheckedFile : public testing::Test {
protected:
  CheckedFile() {
    std::vector<TensorSpec> specs{{"w", DType::f32, {60, 10}}};
    std::vector<std::byte> bytes = randomBytes(60 * 10 * 4, 5);
    std::vector<uint32_t> values(3);
    for (Range columns : {Range{0, 3}, Range{3, 7}}) {
      FileSums sums{1000};
      auto writer = SafetensorsWriter::join(path, specs, &sums);
      EXPECT_TRUE(writer.ok());
      std::vector<std::byte> part(60 * columns.size * 4);
      SliceRanges ranges{{{0, 60}}, {columns}};
      EXPECT_TRUE(copySlice(bytes.data(), DType::f32, ranges, specs[0].shape, contiguousStrides(specs[0].shape),
                            part.data(), DType::f32)
                      .ok());
      EXPECT_TRUE(writer->write("w", ranges, part).ok());
      for (auto [block, sum] : sums.tensors.at("w").sums())
        values[block] ^= sum;
    }
    for (int block : {0, 1, 2})
      checksums.values.push_back(checksumOfSum(values[block], block < 2 ? 1000 : 400));
  }

  /// The number of readers of these parts that report damage, and their message.
  int complaints(const std::vector<SliceRanges> &parts, std::string &message, int64_t readers = 1) {
    auto source = TensorSource::open(path);
    EXPECT_TRUE(source.ok() && source->setChecksums("w", checksums).ok());
    int count = 0;
    for (const SliceRanges &ranges : parts)
      for (int64_t reader = 0; reader < readers; ++reader) {
        std::vector<std::byte> bytes(elementCount(sliceShape(ranges)) * 4);
        Status status = source->read(*source->find("w"), ranges, DType::f32, bytes, {reader, readers});
        if (!status.ok())
          message = status.message();
        count += !status.ok();
      }
    return count;
  }

  TemporaryDirectory directory;
  std::string path = directory / "w.safetensors";
  BlockChecksums checksums{1000, {}};
};

TEST_F(CheckedFile, OneReaderOfAllComparesABlock) {
  const std::vector<SliceRanges> whole{{{{0, 60}}, {{0, 10}}}}, rows{{{{0, 20}}, {{0, 10}}}, {{{20, 40}}, {{0, 10}}}},
      columns{{{{0, 60}}, {{0, 5}}}, {{{0, 60}}, {{5, 5}}}};
  std::string message, text = textOf(path);
  for (const auto &parts : {whole, rows, columns})
    for (int64_t readers : {1, 2, 3})
      EXPECT_EQ(complaints(parts, message, readers), 0) << message;
  size_t data = text.size() - 2400;
  for (size_t place : {0, 999, 1000, 1999, 2000, 2399}) {
    std::string damaged = text;
    damaged[data + place] ^= 0x10;
    writeText(path, damaged);
    for (const auto &parts : {whole, rows, columns})
      for (int64_t readers : {1, 2, 3})
        EXPECT_EQ(complaints(parts, message, readers), 1) << place;
    std::string begin = path + ": tensor 'w': damaged: bytes " + std::to_string(place / 1000 * 1000) + " to ";
    EXPECT_TRUE(message.starts_with(begin)) << message;
  }
}

TEST_F(CheckedFile, WhatDoesNotFitIsRefused) {
  auto source = TensorSource::open(path);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source->setChecksums("v", checksums).message(), path + ": no tensor 'v', which has checksums");
  checksums.values.pop_back();
  EXPECT_EQ(source->setChecksums("w", checksums).message(), path + ": tensor 'w' has 2 checksums, 3 required");
  EXPECT_EQ(source->setChecksums("w", {0, {1}}).message(), path + ": tensor 'w' has 1 checksums, 0 required");
}

} // namespace
} // namespace meshplan
