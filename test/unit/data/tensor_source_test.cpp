//===- safetensors_test.cpp - reading safetensors -------------------------===//

#include "test/unit/data/helpers.h"

namespace meshplan {
namespace {

/// A file with this header and `dataSize` bytes 0, 1, 2, ...
std::string fileText(const std::string &header, size_t dataSize) {
  uint64_t size = header.size();
  std::string text(reinterpret_cast<const char *>(&size), sizeof(size));
  text += header;
  for (size_t i = 0; i < dataSize; ++i)
    text += static_cast<char>(i);
  return text;
}

const std::string goodHeader = R"({"__metadata__": {"format": "pt"},
  "a": {"dtype": "U8", "shape": [2, 3], "data_offsets": [0, 6]},
  "model.b": {"dtype": "I16", "shape": [1], "data_offsets": [6, 8]},
  "none": {"dtype": "F32", "shape": [0, 7], "data_offsets": [8, 8]}})";

class Safetensors : public testing::Test {
protected:
  std::string write(const std::string &text) {
    writeText(path, text);
    return path;
  }

  /// Opens a file with this header and 8 bytes of data.
  std::string errorOf(const std::string &header) { return openError(write(fileText(header, 8))); }

  TemporaryDirectory directory;
  std::string path = directory / "w.safetensors";
};

TEST_F(Safetensors, FindsTensorsAndReadsSlices) {
  Expected<TensorSource> source = TensorSource::open(write(fileText(goodHeader, 8)));
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_THAT(source->names(), testing::ElementsAre("a", "model.b", "none"));
  EXPECT_EQ(source->find("missing"), nullptr);
  EXPECT_THAT(source->find("a")->shape, testing::ElementsAre(2, 3));
  EXPECT_EQ(source->find("model.b")->dtype, DType::i16);
  EXPECT_THAT(readAs<uint8_t>(*source, "a", {{{0, 2}}, {{1, 2}}}, DType::u8), testing::ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(readAs<int16_t>(*source, "model.b", {{{0, 1}}}, DType::i16), testing::ElementsAre(0x0706));
  EXPECT_TRUE(readWhole(*source, "none").empty());
}

TEST_F(Safetensors, ConvertsAsPyTorchDoes) {
  Expected<TensorSource> source = TensorSource::open(fixture("casts.safetensors"));
  ASSERT_TRUE(source.ok()) << source.status().message();
  for (DType from : {DType::f64, DType::f32, DType::f16, DType::bf16})
    for (DType to : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      std::string name(dtypeName(from));
      EXPECT_EQ(readBytes(*source, name, {{{0, 3000}}}, to),
                readWhole(*source, name + "_to_" + std::string(dtypeName(to))))
          << name << " to " << dtypeName(to);
    }
}

TEST_F(Safetensors, ADirectoryWithAnIndexHoldsTheSame) {
  Expected<TensorSource> one = TensorSource::open(fixture("model.safetensors"));
  Expected<TensorSource> sharded = TensorSource::open(fixture("sharded"));
  ASSERT_TRUE(one.ok() && sharded.ok()) << sharded.status().message();
  EXPECT_EQ(one->names(), sharded->names());
  for (const std::string &name : one->names())
    EXPECT_EQ(readWhole(*one, name), readWhole(*sharded, name)) << name;
}

TEST_F(Safetensors, ADirectoryWithOneFile) {
  writeText(directory / "model.safetensors", fileText(goodHeader, 8));
  Expected<TensorSource> source = TensorSource::open(directory.path());
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_NE(source->find("a"), nullptr);
}

TEST_F(Safetensors, DirectoryErrors) {
  EXPECT_EQ(openError(directory.path()),
            directory.path() + ": neither model.safetensors.index.json nor model.safetensors in this directory");
  std::string index = directory / "model.safetensors.index.json";
  writeText(index, "[]");
  EXPECT_EQ(openError(directory.path()), index + ": no weight_map");
  writeText(index, R"({"weight_map": {"a": 3}})");
  EXPECT_EQ(openError(directory.path()), index + ": tensor 'a' has no file name");
  writeText(index, R"({"weight_map": {"a": "1.safetensors"}})");
  EXPECT_EQ(openError(directory.path()),
            "cannot open '" + (directory / "1.safetensors") + "': No such file or directory");
  writeText(directory / "1.safetensors", fileText(goodHeader, 8));
  writeText(index, R"({"weight_map": {"a": "1.safetensors", "c": "1.safetensors"}})");
  EXPECT_EQ(openError(directory.path()), index + ": tensor 'c' is not in 1.safetensors");
}

TEST_F(Safetensors, Require) {
  Expected<TensorSource> source = TensorSource::open(write(fileText(goodHeader, 8)));
  ASSERT_TRUE(source.ok());
  auto require = [&](std::vector<std::string> names, std::vector<int64_t> shape) {
    return source->require(names, shape);
  };
  EXPECT_EQ(*require({"lm_head.weight", "a"}, {2, 3}), source->find("a")) << "any name of a tied weight";
  EXPECT_EQ(require({"a"}, {3, 2}).status().message(), path + ": tensor 'a' has shape [2, 3], [3, 2] required");
  EXPECT_EQ(require({"a"}, {2, 3, 1}).status().code(), StatusCode::invalid);
  EXPECT_EQ(require({"model.c"}, {1}).status().message(), path + ": no tensor 'model.c'; nearest names: 'model.b'");
  EXPECT_EQ(require({"model.c"}, {1}).status().code(), StatusCode::notFound);
  EXPECT_EQ(require({"something", "else"}, {1}).status().message(), path + ": no tensor 'something' or 'else'");
}

TEST_F(Safetensors, ReadErrors) {
  Expected<TensorSource> source = TensorSource::open(write(fileText(goodHeader, 8)));
  ASSERT_TRUE(source.ok());
  const StoredTensor &tensor = *source->find("a");
  std::vector<std::byte> out(6);
  EXPECT_EQ(source->read(tensor, wholeTensor(tensor.shape), DType::f32, out).message(),
            path + ": tensor 'a' has dtype u8, f32 required");
  EXPECT_EQ(source->read(tensor, {{{0, 2}}, {{2, 2}}}, DType::u8, out).message(),
            path + ": tensor 'a': elements 2 to 4 of dim 1 of a tensor of shape [2, 3]");
  EXPECT_EQ(source->read(tensor, {{{0, 1}}, {{0, 3}}}, DType::u8, out).message(),
            path + ": tensor 'a': a buffer of 6 bytes, 3 required");
}

TEST_F(Safetensors, MissingAndTruncatedFiles) {
  EXPECT_EQ(openError(path), "cannot open '" + path + "': No such file or directory");
  EXPECT_EQ(openError(write("")), path + ": truncated: 0 bytes are no safetensors file");
  EXPECT_EQ(openError(write("not a safetensors file")),
            path + ": truncated, or not a safetensors file: a header of 7021991845529153390 bytes in a file of 22");
  std::string text = fileText(goodHeader, 8);
  EXPECT_EQ(openError(write(text.substr(0, text.size() - 1))),
            path + ": truncated: tensor 'model.b' ends at byte 8 of the data, the file has 7");
  EXPECT_EQ(openError(write(text + "x")), path + ": 1 bytes after the last tensor");
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(TensorSource::open(write(text.substr(0, size))).ok()) << size;
}

TEST_F(Safetensors, WrongHeaders) {
  EXPECT_EQ(errorOf("[1, 2]"), path + ": the header is not a JSON object");
  EXPECT_EQ(errorOf("{\"a\": "), path + ": the header is not a JSON object");
  EXPECT_EQ(errorOf(R"({"a": {"dtype": "F32"}})"), path + ": tensor 'a': no dtype, shape or data_offsets");
  EXPECT_EQ(errorOf(R"({"a": {"dtype": "F8_E5M2", "shape": [8], "data_offsets": [0, 8]}})"),
            path + ": tensor 'a': dtype F8_E5M2");
  for (const char *shape : {"[-1]", "[1.5]", "3", "[\"x\"]", "[18446744073709551615]"})
    EXPECT_EQ(errorOf(std::string(R"({"a": {"dtype": "F32", "data_offsets": [0, 8], "shape": )") + shape + "}}"),
              path + ": tensor 'a': shape or data_offsets make no sense");
  EXPECT_EQ(errorOf(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}})"),
            path + ": tensor 'a': shape or data_offsets make no sense");
  EXPECT_EQ(errorOf(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})"),
            path + ": tensor 'a': shape [3] of f32 in 8 bytes");
  EXPECT_EQ(errorOf(R"({"a": {"dtype": "F32", "shape": [4611686018427387904, 4], "data_offsets": [0, 0]}})"),
            path + ": tensor 'a': shape [4611686018427387904, 4] of f32 in 0 bytes");
}

TEST_F(Safetensors, GapsAndOverlaps) {
  auto header = [](const char *first, const char *second) {
    return std::string(R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": )") + first +
           R"(}, "b": {"dtype": "U8", "shape": [4], "data_offsets": )" + second + "}}";
  };
  EXPECT_TRUE(TensorSource::open(write(fileText(header("[0, 4]", "[4, 8]"), 8))).ok());
  EXPECT_EQ(errorOf(header("[0, 4]", "[3, 7]")), path + ": tensor 'b' begins at byte 3 of the data, 4 expected");
  EXPECT_EQ(errorOf(header("[1, 5]", "[5, 9]")), path + ": tensor 'a' begins at byte 1 of the data, 0 expected");
}

} // namespace
} // namespace meshplan
