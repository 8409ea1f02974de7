//===- safetensors_writer_test.cpp ----------------------------------------===//

#include "runtime/data/safetensors_writer.h"

#include "test/unit/data/helpers.h"

#include <numeric>
#include <thread>

namespace meshplan {
namespace {

const std::vector<TensorSpec> specs = {{"bytes", DType::u8, {5}},
                                       {"matrix", DType::f32, {6, 10}},
                                       {"scalar", DType::f64, {}},
                                       {"nothing", DType::i64, {0, 4}}};

/// The part of the matrix 0, 1, 2, ... in the ranges.
std::vector<float> matrixPart(const Range &rows, const Range &columns) {
  std::vector<float> part;
  for (int64_t row = rows.offset; row < rows.offset + rows.size; ++row)
    for (int64_t column = columns.offset; column < columns.offset + columns.size; ++column)
      part.push_back(static_cast<float>(row * 10 + column));
  return part;
}

/// Four threads write a matrix on a 2 x 2 mesh; the first also writes replicated tensors.
void writeAll(const SafetensorsWriter &writer) {
  std::vector<std::thread> ranks;
  for (int64_t rank = 0; rank < 4; ++rank)
    ranks.emplace_back([&, rank] {
      Range rows = shardRange(6, 1, 2, rank / 2), columns = shardRange(10, 1, 2, rank % 2);
      std::vector<float> part = matrixPart(rows, columns);
      EXPECT_TRUE(writer.write("matrix", {{rows}, {columns}}, std::as_bytes(std::span(part))).ok());
    });
  const uint8_t bytes[] = {0, 1, 2, 3, 4};
  const double scalar[] = {7.5};
  EXPECT_TRUE(writer.write("bytes", {{{0, 5}}}, std::as_bytes(std::span(bytes))).ok());
  EXPECT_TRUE(writer.write("scalar", {}, std::as_bytes(std::span(scalar))).ok());
  EXPECT_TRUE(writer.write("nothing", {{{0, 0}}, {{0, 4}}}, {}).ok());
  for (std::thread &rank : ranks)
    rank.join();
}

TEST(SafetensorsWriter, OtherLibrariesReadIt) {
  TemporaryDirectory directory;
  std::string path = directory / "o.safetensors";
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  writeAll(*writer);
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(std::system((CHECK_WRITTEN " " + path).c_str()), 0);
}

TEST(SafetensorsWriter, TheReaderReadsIt) {
  TemporaryDirectory directory;
  std::string path = directory / "o.safetensors";
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  writeAll(*writer);
  ASSERT_TRUE(writer->commit().ok());
  Expected<TensorSource> source = TensorSource::open(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(readAs<float>(*source, "matrix", {{{0, 6}}, {{0, 10}}}, DType::f32), matrixPart({0, 6}, {0, 10}));
  EXPECT_THAT(readAs<uint8_t>(*source, "bytes", {{{1, 3}}}, DType::u8), testing::ElementsAre(1, 2, 3));
}

TEST(SafetensorsWriter, AnAttachedWriterWritesTheSameFile) {
  TemporaryDirectory directory;
  std::string path = directory / "o.safetensors";
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  Expected<SafetensorsWriter> attached = SafetensorsWriter::attach(path, writer->temporaryPath(), specs);
  ASSERT_TRUE(attached.ok()) << attached.status().message();
  writeAll(*attached);
  ASSERT_TRUE(attached->flush().ok());
  ASSERT_TRUE(writer->commit().ok());
  EXPECT_EQ(std::system((CHECK_WRITTEN " " + path).c_str()), 0);
}

TEST(SafetensorsWriter, OnlyWhatIsAskedFor) {
  TemporaryDirectory directory;
  std::string path = directory / "o.safetensors";
  std::vector<TensorSpec> list = {{"a", DType::u8, {3, 5}}};
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(path, list);
  ASSERT_TRUE(writer.ok());
  auto write = [&](std::vector<uint8_t> bytes, const SliceRanges &ranges, const SliceRanges &only) {
    EXPECT_TRUE(writer->write("a", ranges, std::as_bytes(std::span(bytes)), &only).ok());
  };
  // Two ranks share column 2; the second has two slices of its rows.
  write({1, 2, 3, 4, 5, 6, 7, 8, 9}, {{{0, 3}}, {{0, 3}}}, {{{0, 3}}, {{0, 3}}});
  write({20, 21, 22}, {{{0, 1}}, {{2, 2}, {4, 1}}}, {{{0, 3}}, {{3, 2}}});
  write({30, 31, 32, 33, 34, 35}, {{{1, 2}}, {{2, 3}}}, {{{0, 3}}, {{3, 2}}});
  ASSERT_TRUE(writer->commit().ok());
  auto source = TensorSource::open(path);
  ASSERT_TRUE(source.ok());
  EXPECT_THAT(readAs<uint8_t>(*source, "a", {{{0, 3}}, {{0, 5}}}, DType::u8),
              testing::ElementsAre(1, 2, 3, 21, 22, 4, 5, 6, 31, 32, 7, 8, 9, 34, 35));
}

TEST(SafetensorsWriter, WithoutCommitNothingStays) {
  TemporaryDirectory directory;
  {
    Expected<SafetensorsWriter> writer = SafetensorsWriter::create(directory / "o.safetensors", specs);
    ASSERT_TRUE(writer.ok());
    writeAll(*writer);
  }
  EXPECT_THAT(directory.names(), testing::IsEmpty());
}

TEST(SafetensorsWriter, WritersThatKnowNothingOfEachOtherJoin) {
  TemporaryDirectory directory;
  std::string path = directory / "o.safetensors";
  for (int64_t half = 0; half < 2; ++half) {
    Expected<SafetensorsWriter> writer = SafetensorsWriter::join(path, specs);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    Range rows{half * 3, 3}, columns{0, 10};
    std::vector<float> part = matrixPart(rows, columns);
    EXPECT_TRUE(writer->write("matrix", {{rows}, {columns}}, std::as_bytes(std::span(part))).ok());
    EXPECT_TRUE(writer->flush().ok());
  }
  Expected<TensorSource> source = TensorSource::open(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  std::vector<float> whole(60);
  Status read = source->read(*source->find("matrix"), {{{0, 6}}, {{0, 10}}}, DType::f32,
                             std::as_writable_bytes(std::span(whole)));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(whole, matrixPart({0, 6}, {0, 10}));
}

TEST(SafetensorsWriter, Errors) {
  TemporaryDirectory directory;
  std::string path = directory / "o.safetensors", elsewhere = directory / "missing/o.safetensors";
  auto createError = [](const std::string &where, std::vector<TensorSpec> list) {
    return SafetensorsWriter::create(where, list).status().message();
  };
  EXPECT_EQ(createError(elsewhere, specs), "cannot write '" + elsewhere + "': No such file or directory");
  EXPECT_EQ(createError(path, {{"a", DType::u8, {1}}, {"a", DType::u8, {2}}}), path + ": tensor 'a' twice");
  EXPECT_EQ(createError(path, {{"a", DType::f32, {INT64_MAX}}}), path + ": tensor 'a' is too large");
  EXPECT_EQ(createError(path, {{"a", DType::u8, {INT64_MAX}}, {"b", DType::u8, {1}}}),
            path + ": tensor 'b' is too large");
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(path, specs);
  ASSERT_TRUE(writer.ok());
  std::vector<std::byte> bytes(5);
  EXPECT_EQ(writer->write("other", {}, bytes).message(), "tensor 'other' is not in the list of this file");
  EXPECT_EQ(writer->write("bytes", {{{1, 5}}}, bytes).message(),
            "tensor 'bytes': elements 1 to 6 of dim 0 of a tensor of shape [5]");
  EXPECT_EQ(writer->write("bytes", {{{0, 4}}}, bytes).message(), "tensor 'bytes': 5 bytes, 4 required");
}

} // namespace
} // namespace meshplan
