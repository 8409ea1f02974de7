//===- safetensors_samples_test.cpp - tensors whose rows are samples ------===//

#include "runtime/dataset/safetensors_samples.h"

#include "test/unit/dataset/helpers.h"

namespace meshplan {
namespace {

using testing::ElementsAre;

class SafetensorsSamples : public testing::Test {
protected:
  SampleSourcePointer open(const std::vector<SampleField> &fields) {
    Expected<SampleSourcePointer> source = openSafetensorsSamples(path, fields);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source ? *std::move(source) : nullptr;
  }

  std::string error(const std::vector<SampleField> &fields) { return errorOf(openSafetensorsSamples(path, fields)); }

  TemporaryDirectory folder;
  const std::string path = folder / "d.safetensors";
  const SampleField ids{"input_ids", DType::i64, {4}}, labels{"labels", DType::i64, {4}};
};

TEST_F(SafetensorsSamples, RowsAreSamples) {
  writeSafetensors(path, {tokenRows("labels", 3, 4, 100), tokenRows("input_ids", 3, 4), tokenRows("unused", 7, 1)});
  SampleSourcePointer source = open({ids, labels});
  EXPECT_EQ(source->samples(), 3);
  EXPECT_THAT(readSample(*source, 1, 0, 4), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(readSample(*source, 2, 1, 4), ElementsAre(108, 109, 110, 111));
  source->announce(2, 1, {{{0, 4}}});
}

TEST_F(SafetensorsSamples, SlicesOfASample) {
  writeSafetensors(path, {{"x", "F32", "[2, 3, 4]", bytesOf(counting<float>(24))}});
  SampleSourcePointer source = open({{"x", DType::f32, {3, 4}}});
  EXPECT_THAT(readSlice<float>(*source, 1, 0, {{{1, 2}}, {{0, 1}, {2, 2}}}), ElementsAre(16, 18, 19, 20, 22, 23));
  EXPECT_THAT(readSlice<float>(*source, 0, 0, {{}, {{0, 4}}}), testing::IsEmpty());
}

TEST_F(SafetensorsSamples, SamplesWithoutDims) {
  writeSafetensors(path, {{"y", "I64", "[3]", bytesOf<int64_t>({7, 8, 9})}});
  SampleSourcePointer source = open({{"y", DType::i64, {}}});
  EXPECT_THAT(readSlice<int64_t>(*source, 2, 0, {}), ElementsAre(9));
}

TEST_F(SafetensorsSamples, NumbersAreConverted) {
  writeSafetensors(path, {{"x", "F32", "[2, 2]", bytesOf<float>({1, 0.5, -2, 3})},
                          {"y", "I32", "[2, 3]", bytesOf<int32_t>({1, -100, 3, 4, INT32_MAX, INT32_MIN})},
                          {"z", "BOOL", "[2]", std::string("\1\0", 2)}});
  SampleSourcePointer source = open({{"x", DType::f64, {2}}, {"y", DType::i64, {3}}, {"z", DType::boolean, {}}});
  EXPECT_THAT(readSlice<double>(*source, 1, 0, {{{0, 2}}}), ElementsAre(-2.0, 3.0));
  EXPECT_THAT(readSample(*source, 0, 1, 3), ElementsAre(1, -100, 3));
  EXPECT_THAT(readSlice<int64_t>(*source, 1, 1, {{{1, 2}}}), ElementsAre(INT32_MAX, INT32_MIN));
  EXPECT_THAT(readSlice<uint8_t>(*source, 0, 2, {}), ElementsAre(1));
}

TEST_F(SafetensorsSamples, Description) {
  writeSafetensors(path, {{"input_ids", "I32", "[2, 4]", bytesOf(counting<int32_t>(8))}, tokenRows("labels", 2, 4)});
  EXPECT_THAT(open({ids, labels})->description(),
              ElementsAre("d.safetensors: " + std::to_string(std::filesystem::file_size(path)) +
                          " bytes, 2 samples of input_ids i32 [4], labels i64 [4]"));
}

TEST_F(SafetensorsSamples, AMissingTensor) {
  writeSafetensors(path, {tokenRows("label", 2, 4), tokenRows("input_ids", 2, 4)});
  EXPECT_EQ(error({ids, labels}), path + ": no tensor 'labels'; nearest names: 'label'");
  EXPECT_EQ(openSafetensorsSamples(path, std::vector{labels}).status().code(), StatusCode::notFound);
}

TEST_F(SafetensorsSamples, AnotherDType) {
  auto expect = [&](const char *stored, size_t size, DType required, const std::string &text) {
    writeSafetensors(path, {{"x", stored, "[2]", std::string(2 * size, '\0')}});
    EXPECT_EQ(error({{"x", required, {}}}),
              path + ": tensor 'x' has dtype " + text +
                  " required; help: convert the tensor: floats become other floats, integers only wider ones");
  };
  expect("F32", 4, DType::i64, "f32, i64");
  expect("I64", 8, DType::i32, "i64, i32");
  expect("I64", 8, DType::f32, "i64, f32");
  expect("U8", 1, DType::i8, "u8, i8");
  expect("BOOL", 1, DType::i64, "bool, i64");
  expect("U16", 2, DType::i64, "'U16', i64");
}

TEST_F(SafetensorsSamples, AnotherShape) {
  const std::string tail =
      ", samples in the first dim, each of shape [4], required; help: compile for the shape in the "
      "file, or create the data again";
  writeSafetensors(path, {tokenRows("input_ids", 2, 5)});
  EXPECT_EQ(error({ids}), path + ": tensor 'input_ids' has shape [2, 5]" + tail);
  writeSafetensors(path, {{"input_ids", "I64", "[4]", bytesOf(counting<int64_t>(4))}});
  EXPECT_EQ(error({ids}), path + ": tensor 'input_ids' has shape [4]" + tail);
  writeSafetensors(path, {{"input_ids", "I64", "[]", bytesOf(counting<int64_t>(1))}});
  EXPECT_EQ(error({ids}), path + ": tensor 'input_ids' has shape []" + tail);
}

TEST_F(SafetensorsSamples, AnotherNumberOfSamples) {
  writeSafetensors(path, {tokenRows("input_ids", 2, 4), tokenRows("labels", 3, 4)});
  EXPECT_EQ(error({ids, labels}), path + ": tensor 'labels' has 3 samples, 'input_ids' has 2; help: both need one row "
                                         "for each sample");
}

TEST_F(SafetensorsSamples, FilesThatCannotBeRead) {
  EXPECT_EQ(error({ids}), "cannot open '" + path + "': No such file or directory");
  writeText(path, "text");
  EXPECT_EQ(error({ids}), path + ": truncated: a file of 4 bytes is not a safetensors file");
  writeSafetensors(path, {tokenRows("input_ids", 2, 4)});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_EQ(error({ids}), path + ": truncated: tensor 'input_ids' ends at byte 64 of the data, the file has 63");
}

TEST_F(SafetensorsSamples, AFolderInTheOrderOfNames) {
  writeSafetensors(folder / "b.safetensors", {tokenRows("input_ids", 1, 4, 20)});
  writeSafetensors(folder / "a.safetensors", {tokenRows("input_ids", 2, 4, 10)});
  writeSafetensors(folder / "c.safetensors", {{"input_ids", "I32", "[1, 4]", bytesOf<int32_t>({5, 6, 7, 8})}});
  writeText(folder / "notes.txt", "text");
  Expected<SampleSourcePointer> source = openSafetensorsFolder(folder.path(), std::vector{ids});
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ((*source)->samples(), 4);
  EXPECT_THAT(readSample(**source, 0, 0, 4), ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(readSample(**source, 1, 0, 4), ElementsAre(14, 15, 16, 17));
  EXPECT_THAT(readSample(**source, 2, 0, 4), ElementsAre(20, 21, 22, 23));
  EXPECT_THAT(readSample(**source, 3, 0, 4), ElementsAre(5, 6, 7, 8));
}

TEST_F(SafetensorsSamples, FoldersThatCannotBeRead) {
  auto folderError = [&](const std::string &name) { return errorOf(openSafetensorsFolder(name, std::vector{ids})); };
  EXPECT_EQ(folderError(folder.path()), folder.path() + ": no *.safetensors in this folder");
  EXPECT_EQ(folderError(folder / "none"),
            "cannot read the folder '" + folder / "none" + "': No such file or directory");
  writeSafetensors(folder / "a.safetensors", {tokenRows("input_ids", 2, 4)});
  writeSafetensors(folder / "b.safetensors", {tokenRows("labels", 2, 4)});
  EXPECT_EQ(folderError(folder.path()), folder / "b.safetensors" + ": no tensor 'input_ids'; the file has 'labels'");
}

} // namespace
} // namespace meshplan
