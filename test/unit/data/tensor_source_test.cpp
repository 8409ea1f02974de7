//===- tensor_source_test.cpp - finding and reading tensors ---------------===//

#include "test/unit/data/helpers.h"

#include <utility>

namespace meshplan {
namespace {

const std::string goodHeader = R"({"__metadata__": {"format": "pt"},
  "a": {"dtype": "U8", "shape": [2, 3], "data_offsets": [0, 6]},
  "model.b": {"dtype": "I16", "shape": [1], "data_offsets": [6, 8]},
  "none": {"dtype": "F32", "shape": [0, 7], "data_offsets": [8, 8]}})";

const std::string otherShape = "; help: compile for the shape in the file, or read another file";
const std::string otherType = "; help: convert the tensor, or read another file";

class TensorSourceTest : public testing::Test {
protected:
  std::string write(const std::string &text) {
    writeText(path, text);
    return path;
  }

  TemporaryDirectory directory;
  std::string path = directory / "w.safetensors";
};

TEST_F(TensorSourceTest, FindsTensorsAndReadsSlices) {
  Expected<TensorSource> source = TensorSource::open(write(safetensorsText(goodHeader, 8)));
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_THAT(source->names(), testing::ElementsAre("a", "model.b", "none"));
  EXPECT_EQ(source->find("missing"), nullptr);
  EXPECT_THAT(source->find("a")->shape, testing::ElementsAre(2, 3));
  EXPECT_EQ(source->find("model.b")->dtype, DType::i16);
  EXPECT_THAT(readAs<uint8_t>(*source, "a", {{{0, 2}}, {{1, 2}}}, DType::u8), testing::ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(readAs<int16_t>(*source, "model.b", {{{0, 1}}}, DType::i16), testing::ElementsAre(0x0706));
  EXPECT_TRUE(readWhole(*source, "none").empty());
}

TEST_F(TensorSourceTest, AnnouncesAnySlice) {
  // Valid or not: `read` reports it.
  Expected<TensorSource> source = TensorSource::open(write(safetensorsText(goodHeader, 8)));
  ASSERT_TRUE(source.ok()) << source.status().message();
  for (const SliceRanges &ranges : {SliceRanges{{{0, 2}}, {{1, 2}}}, {{{0, 2}}}, {{{0, 3}}, {{0, 3}}}, {{}, {}}})
    source->announce(*source->find("a"), ranges);
  source->announce(*source->find("none"), {{{0, 0}}, {{0, 7}}});
  EXPECT_THAT(readAs<uint8_t>(*source, "a", {{{0, 2}}, {{1, 2}}}, DType::u8), testing::ElementsAre(1, 2, 4, 5));
}

TEST_F(TensorSourceTest, KnowsTheFilesThatItReads) {
  Expected<TensorSource> one = TensorSource::open(write(safetensorsText(goodHeader, 8)));
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_THAT(one->filePaths(), testing::ElementsAre(path));
  std::string folder = fixture("sharded");
  Expected<TensorSource> sharded = TensorSource::open(folder);
  ASSERT_TRUE(sharded.ok()) << sharded.status().message();
  ASSERT_GE(sharded->filePaths().size(), 3u) << "the index, and two shards at least";
  EXPECT_EQ(sharded->filePaths()[0], folder + "/model.safetensors.index.json");
  for (const std::string &shard : sharded->filePaths())
    EXPECT_TRUE(std::filesystem::is_regular_file(shard)) << shard;
}

TEST_F(TensorSourceTest, ConvertsAsPyTorchDoes) {
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

TEST_F(TensorSourceTest, Require) {
  Expected<TensorSource> source = TensorSource::open(write(safetensorsText(goodHeader, 8)));
  ASSERT_TRUE(source.ok());
  auto require = [&](std::vector<std::string> names, std::vector<int64_t> shape) {
    return source->require(names, shape);
  };
  EXPECT_EQ(*require({"lm_head.weight", "a"}, {2, 3}), source->find("a")) << "any name of a tied weight";
  EXPECT_EQ(require({"a"}, {3, 2}).status().message(),
            path + ": tensor 'a' has shape [2, 3], [3, 2] required" + otherShape);
  EXPECT_EQ(require({"a"}, {2, 3, 1}).status().code(), StatusCode::invalid);
  EXPECT_EQ(require({"model.c"}, {1}).status().message(), path + ": no tensor 'model.c'; nearest names: 'model.b'");
  EXPECT_EQ(require({"model.c"}, {1}).status().code(), StatusCode::notFound);
  EXPECT_EQ(require({"lm_head.weight", "model.b", "a"}, {2, 3}).status().message(),
            path + ": tensor 'model.b' has shape [1], [2, 3] required" + otherShape)
      << "the first that exists counts";
  EXPECT_EQ(*require({"none"}, {0, 7}), source->find("none"));
  EXPECT_EQ(require({"something", "else"}, {1}).status().message(),
            path + ": no tensor 'something' or 'else'; the file has 'a', 'model.b', 'none'");
}

TEST_F(TensorSourceTest, AForeignTypeIsInTheWayOnlyWhereItIsRead) {
  std::string header = R"({"used": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
                           "scaled": {"dtype": "F8_E4M3", "shape": [6], "data_offsets": [2, 8]}})";
  Expected<TensorSource> source = TensorSource::open(write(safetensorsText(header, 8)));
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ(readWhole(*source, "used").size(), 2u);
  std::string message = path + ": tensor 'scaled' has dtype 'F8_E4M3', which cannot be read; help: convert the tensor, "
                               "or read another file";
  std::vector<std::string> names{"scaled"};
  EXPECT_EQ(source->require(names, std::vector<int64_t>{6}).status().message(), message);
  std::byte byte;
  Status read = source->read(*source->find("scaled"), {{{0, 1}}}, DType::u8, std::span(&byte, 1));
  EXPECT_EQ(read.message(), message);
  EXPECT_EQ(read.code(), StatusCode::unsupported);
  source->announce(*source->find("scaled"), {{{0, 6}}});
}

TEST_F(TensorSourceTest, RequireSaysWhatTheFileHasInstead) {
  auto error = [&](const std::string &names) {
    std::string header = "{";
    for (char name : names)
      header += (name == names.front() ? "\"" : ", \"") + std::string(1, name) +
                R"(": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]})";
    std::string text = write(safetensorsText(header + "}", 0));
    return TensorSource::open(text)->require(std::vector<std::string>{"something"}, {}).status().message();
  };
  std::string missing = path + ": no tensor 'something'; the file has ";
  EXPECT_EQ(error(""), missing + "no tensor");
  EXPECT_EQ(error("abcd"), missing + "'a', 'b', 'c', 'd'");
  EXPECT_EQ(error("abcdef"), missing + "'a', 'b', 'c', 'd' and 2 more");
}

TEST_F(TensorSourceTest, RequireNamesThePrefixOfAWrapper) {
  auto error = [&](const std::string &first, const std::string &second, const std::string &wanted) {
    std::string header = R"({"FIRST": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
                             "SECOND": {"dtype": "U8", "shape": [1], "data_offsets": [1, 2]}})";
    header.replace(header.find("FIRST"), 5, first);
    header.replace(header.find("SECOND"), 6, second);
    Expected<TensorSource> source = TensorSource::open(write(safetensorsText(header, 2)));
    std::vector<std::string> names{wanted};
    return source->require(names, std::vector<int64_t>{1}).status().message();
  };
  EXPECT_EQ(error("module.fc.weight", "module.pos", "pos"),
            path + ": no tensor 'pos'; help: every name in the file starts with 'module.'");
  EXPECT_EQ(error("other.fc.weight", "module.pos", "pos").find("every name"), std::string::npos);
  EXPECT_EQ(error("module.fc.weight", "module.xpos", "pos").find("every name"), std::string::npos);
}

TEST_F(TensorSourceTest, ReadErrors) {
  Expected<TensorSource> source = TensorSource::open(write(safetensorsText(goodHeader, 8)));
  ASSERT_TRUE(source.ok());
  const StoredTensor &tensor = *source->find("a");
  std::vector<std::byte> out(6);
  EXPECT_EQ(source->read(tensor, wholeTensor(tensor.shape), DType::f32, out).message(),
            path + ": tensor 'a' has dtype u8, f32 required" + otherType);
  EXPECT_EQ(source->read(tensor, {{{0, 2}}, {{2, 2}}}, DType::u8, out).message(),
            path + ": tensor 'a': elements 2 to 4 of dim 1 of a tensor of shape [2, 3]");
  EXPECT_EQ(source->read(tensor, {{{0, 1}}, {{0, 3}}}, DType::u8, out).message(),
            path + ": tensor 'a': a buffer of 6 bytes, 3 required");
}

TEST_F(TensorSourceTest, OnlyFloatsAreConverted) {
  const DType all[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64,
                       DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};
  std::string header;
  int64_t end = 0;
  for (DType dtype : all) {
    int64_t begin = std::exchange(end, end + 2 * dtypeSize(dtype));
    header += (header.empty() ? "{\"" : ", \"") + std::string(dtypeName(dtype)) + R"(": {"shape": [2], "dtype": ")" +
              std::string(safetensorsName(dtype)) + R"(", "data_offsets": [)" + std::to_string(begin) + ", " +
              std::to_string(end) + "]}";
  }
  Expected<TensorSource> source = TensorSource::open(write(safetensorsText(header + "}", end)));
  ASSERT_TRUE(source.ok()) << source.status().message();
  for (DType from : all)
    for (DType to : all) {
      std::string name(dtypeName(from));
      std::vector<std::byte> out(2 * dtypeSize(to));
      Status status = source->read(*source->find(name), {{{0, 2}}}, to, out);
      bool right = from == to || (isFloat(from) && isFloat(to));
      EXPECT_EQ(status.message(), right ? ""
                                        : path + ": tensor '" + name + "' has dtype " + name + ", " +
                                              std::string(dtypeName(to)) + " required" + otherType);
    }
}

TEST_F(TensorSourceTest, ASliceIsTheSliceOfTheConverted) {
  Expected<TensorSource> source = TensorSource::open(fixture("model.safetensors"));
  ASSERT_TRUE(source.ok()) << source.status().message();
  std::vector<int64_t> shape = source->find("embed.weight")->shape; // [10, 6]
  for (DType to : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    std::vector<std::byte> whole = readBytes(*source, "embed.weight", wholeTensor(shape), to), expected;
    for (int64_t row : {1, 2, 3, 7, 8})
      for (int64_t column : {0, 4, 5})
        for (int64_t byte = 0; byte < dtypeSize(to); ++byte)
          expected.push_back(whole[(row * 6 + column) * dtypeSize(to) + byte]);
    EXPECT_EQ(readBytes(*source, "embed.weight", {{{1, 3}, {7, 2}}, {{0, 1}, {4, 2}}}, to), expected);
  }
}

TEST_F(TensorSourceTest, StaysReadableWhereItIsMovedTo) {
  Expected<TensorSource> opened = TensorSource::open(write(safetensorsText(goodHeader, 8)));
  ASSERT_TRUE(opened.ok());
  TensorSource source = *std::move(opened);
  std::filesystem::remove(path);
  EXPECT_EQ(source.path(), path);
  EXPECT_THAT(readAs<uint8_t>(source, "a", {{{1, 1}}, {{0, 3}}}, DType::u8), testing::ElementsAre(3, 4, 5));
}

TEST_F(TensorSourceTest, MissingAndTruncatedFiles) {
  EXPECT_EQ(openError(path), "cannot open '" + path + "': No such file or directory");
  EXPECT_EQ(openError(write("")), path + ": truncated: a file of 0 bytes is not a safetensors file");
  EXPECT_EQ(openError(write("not a safetensors file")),
            path + ": truncated, or not a safetensors file: a header of 7021991845529153390 bytes in a file of 22");
  std::string text = safetensorsText(goodHeader, 8);
  EXPECT_EQ(openError(write(text.substr(0, text.size() - 1))),
            path + ": truncated: tensor 'model.b' ends at byte 8 of the data, the file has 7");
  EXPECT_EQ(openError(write(text + "x")), path + ": 1 bytes after the last tensor");
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(TensorSource::open(write(text.substr(0, size))).ok()) << size;
}

} // namespace
} // namespace meshplan
