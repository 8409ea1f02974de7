//===- directory_source_test.cpp - safetensors in several files -----------===//

#include "test/unit/data/helpers.h"

namespace meshplan {
namespace {

using testing::ElementsAre;

/// A file with the tensors of these names, each of two bytes; the first tensor has 0 and 1, the next 2 and 3, ...
std::string shardText(std::vector<std::string> names) {
  std::string header;
  for (size_t i = 0; i < names.size(); ++i)
    header += (header.empty() ? "" : ", ") + ('"' + names[i]) +
              R"(": {"dtype": "U8", "shape": [2], "data_offsets": [)" + std::to_string(2 * i) + ", " +
              std::to_string(2 * i + 2) + "]}";
  return safetensorsText("{" + header + "}", 2 * names.size());
}

class DirectorySource : public testing::Test {
protected:
  void writeIndex(const std::string &weightMap) {
    writeText(index, R"({"metadata": {"total_size": 6}, "weight_map": )" + weightMap + "}");
  }

  TensorSource open() {
    Expected<TensorSource> source = TensorSource::open(directory.path());
    EXPECT_TRUE(source.ok()) << source.status().message();
    return *std::move(source);
  }

  std::vector<uint8_t> valuesOf(const TensorSource &source, const std::string &name) {
    return readAs<uint8_t>(source, name, {{{0, 2}}}, DType::u8);
  }

  std::string error() { return openError(directory.path()); }

  TemporaryDirectory directory;
  const std::string index = directory / "model.safetensors.index.json", single = directory / "model.safetensors";
};

TEST_F(DirectorySource, HoldsWhatOneFileHolds) {
  Expected<TensorSource> one = TensorSource::open(fixture("model.safetensors"));
  Expected<TensorSource> sharded = TensorSource::open(fixture("sharded"));
  ASSERT_TRUE(one.ok() && sharded.ok()) << sharded.status().message();
  EXPECT_EQ(one->names(), sharded->names());
  for (const std::string &name : one->names())
    EXPECT_EQ(readWhole(*one, name), readWhole(*sharded, name)) << name;
}

TEST_F(DirectorySource, TheIndexSaysWhereEachTensorIs) {
  writeText(directory / "1.safetensors", shardText({"a", "b"}));
  writeText(directory / "2.safetensors", shardText({"b", "c"}));
  writeIndex(R"({"a": "1.safetensors", "b": "2.safetensors", "c": "2.safetensors"})");
  TensorSource source = open();
  EXPECT_THAT(source.names(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(valuesOf(source, "a"), ElementsAre(0, 1));
  EXPECT_THAT(valuesOf(source, "b"), ElementsAre(0, 1)) << "the b of the second file";
  EXPECT_THAT(valuesOf(source, "c"), ElementsAre(2, 3));
  writeIndex(R"({"a": "1.safetensors", "b": "1.safetensors", "c": "2.safetensors"})");
  EXPECT_THAT(valuesOf(open(), "b"), ElementsAre(2, 3)) << "the b of the first file";
}

TEST_F(DirectorySource, WhatTheIndexDoesNotNameIsNotThere) {
  writeText(directory / "1.safetensors", shardText({"a", "b"}));
  writeText(directory / "2.safetensors", "not even a safetensors file");
  writeIndex(R"({"b": "1.safetensors"})");
  EXPECT_THAT(open().names(), ElementsAre("b"));
  writeIndex("{}");
  EXPECT_THAT(open().names(), testing::IsEmpty());
}

TEST_F(DirectorySource, AnIndexIsASourceItself) {
  writeText(directory / "1.safetensors", shardText({"a"}));
  writeIndex(R"({"a": "1.safetensors"})");
  std::filesystem::rename(index, directory / "other.safetensors.index.json");
  Expected<TensorSource> source = TensorSource::open(directory / "other.safetensors.index.json");
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_THAT(valuesOf(*source, "a"), ElementsAre(0, 1));
}

TEST_F(DirectorySource, ShardsMayLieInAFolder) {
  std::filesystem::create_directory(directory / "shards");
  writeText(directory / "shards/1.safetensors", shardText({"a"}));
  writeIndex(R"({"a": "shards/1.safetensors"})");
  EXPECT_THAT(valuesOf(open(), "a"), ElementsAre(0, 1));
}

TEST_F(DirectorySource, AFileWithoutIndex) {
  writeText(single, shardText({"a", "b"}));
  TensorSource source = open();
  EXPECT_EQ(source.path(), directory.path());
  EXPECT_THAT(source.names(), ElementsAre("a", "b"));
  EXPECT_THAT(valuesOf(source, "b"), ElementsAre(2, 3));
}

TEST_F(DirectorySource, TheIndexCountsWhereBothAreThere) {
  writeText(single, shardText({"a", "b"}));
  writeText(directory / "1.safetensors", shardText({"c"}));
  writeIndex(R"({"c": "1.safetensors"})");
  EXPECT_THAT(open().names(), ElementsAre("c"));
}

TEST_F(DirectorySource, NothingToRead) {
  EXPECT_EQ(error(),
            directory.path() + ": neither model.safetensors.index.json nor model.safetensors in this directory");
  writeText(directory / "pytorch_model.bin", "x");
  EXPECT_EQ(TensorSource::open(directory.path()).status().code(), StatusCode::notFound);
  writeText(directory / "adapter_model.safetensors", "x");
  EXPECT_EQ(error(), directory.path() +
                         ": neither model.safetensors.index.json nor model.safetensors in this directory, but LoRA "
                         "adapters alone; help: name them with --adapters, and their model with --weights");
}

TEST_F(DirectorySource, WrongIndex) {
  for (const char *text : {"", "[]", "{", "{}", R"({"weight_map": []})", R"({"weight_map": null})", "3"}) {
    writeText(index, text);
    EXPECT_EQ(error(), index + ": no weight_map") << text;
  }
  for (const char *file : {"3", "null", "[\"1.safetensors\"]"}) {
    writeIndex(std::string(R"({"a": )") + file + "}");
    EXPECT_EQ(error(), index + ": tensor 'a' has no file name");
  }
}

TEST_F(DirectorySource, WrongShards) {
  const std::string shard = directory / "1.safetensors";
  writeIndex(R"({"a": "1.safetensors"})");
  EXPECT_EQ(error(), "cannot open '" + shard + "': No such file or directory");
  writeText(shard, "text");
  EXPECT_EQ(error(), shard + ": truncated: a file of 4 bytes is not a safetensors file");
  writeText(shard, shardText({"a"}) + "x");
  EXPECT_EQ(error(), shard + ": 1 bytes after the last tensor");
  writeText(shard, shardText({"b"}));
  EXPECT_EQ(error(), index + ": tensor 'a' is not in 1.safetensors");
  EXPECT_EQ(TensorSource::open(directory.path()).status().code(), StatusCode::corrupted);
}

TEST_F(DirectorySource, AWrongSingleFile) {
  writeText(single, "text");
  EXPECT_EQ(error(), single + ": truncated: a file of 4 bytes is not a safetensors file");
}

} // namespace
} // namespace meshplan
