//===- archive_source_test.cpp - weights inside of torch.export archives --===//

#include "test/unit/data/helpers.h"
#include "test/unit/data/zip_text.h"

#include <thread>

namespace meshplan {
namespace {

using testing::ElementsAre;

TEST(Archive, HoldsWhatSafetensorsHolds) {
  Expected<TensorSource> plain = TensorSource::open(fixture("model.safetensors"));
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  for (const char *name : {"model.pt2", "deflated.pt2"}) {
    Expected<TensorSource> archive = TensorSource::open(fixture(name));
    ASSERT_TRUE(archive.ok()) << archive.status().message();
    EXPECT_EQ(archive->names(), plain->names());
    for (const std::string &weight : plain->names()) {
      EXPECT_EQ(archive->find(weight)->shape, plain->find(weight)->shape);
      EXPECT_EQ(readWhole(*archive, weight), readWhole(*plain, weight)) << name << " " << weight;
    }
  }
}

TEST(Archive, SlicesOfATransposedParameter) {
  Expected<TensorSource> plain = TensorSource::open(fixture("model.safetensors"));
  Expected<TensorSource> archive = TensorSource::open(fixture("model.pt2"));
  ASSERT_TRUE(plain.ok() && archive.ok());
  EXPECT_NE(archive->find("turned")->strides, contiguousStrides(archive->find("turned")->shape));
  for (const SliceRanges &slice : {SliceRanges{{{1, 2}}, {{2, 3}}}, SliceRanges{{{0, 1}, {3, 1}}, {{0, 6}}}})
    EXPECT_EQ(readBytes(*archive, "turned", slice, DType::f32), readBytes(*plain, "turned", slice, DType::f32));
}

TEST(Archive, StoredWeightsAreMappedAndTiedOnesShared) {
  Expected<TensorSource> archive = TensorSource::open(fixture("model.pt2"));
  ASSERT_TRUE(archive.ok());
  EXPECT_EQ(archive->find("embed.weight")->payload, archive->find("head.weight")->payload);
}

TEST(Archive, RanksMayReadADeflatedWeightAtTheSameTime) {
  Expected<TensorSource> archive = TensorSource::open(fixture("deflated.pt2"));
  ASSERT_TRUE(archive.ok());
  std::vector<std::vector<std::byte>> results(4);
  std::vector<std::thread> threads;
  for (auto &result : results)
    threads.emplace_back([&] { result = readWhole(*archive, "embed.weight"); });
  for (std::thread &thread : threads)
    thread.join();
  for (const auto &result : results)
    EXPECT_EQ(result, results[0]);
}

/// A stored weight is read in place; one of its readers checks it as a whole against the checksum of its entry.
TEST(Archive, AChangedByteOfAStoredWeightIsDamage) {
  TemporaryDirectory directory;
  std::string path = directory / "w.pt2", text = textOf(fixture("model.pt2"));
  Expected<TensorSource> archive = TensorSource::open(fixture("model.pt2"));
  ASSERT_TRUE(archive.ok());
  const StoredTensor &tensor = *archive->find("embed.weight");
  std::span<const std::byte> payload = tensor.payload->mapped();
  size_t place = text.find(std::string(reinterpret_cast<const char *>(payload.data()), payload.size()));
  ASSERT_NE(place, std::string::npos);
  text[place + payload.size() - 1] ^= 1;
  writeText(path, text);
  Expected<TensorSource> damaged = TensorSource::open(path);
  ASSERT_TRUE(damaged.ok()) << damaged.status().message();
  std::string recorded = checksumText(crc32Of(payload));
  int complaints = 0;
  for (int64_t row = 0; row < tensor.shape[0]; ++row) {
    SliceRanges ranges{{{row, 1}}, {{0, tensor.shape[1]}}};
    std::vector<std::byte> bytes(tensor.shape[1] * dtypeSize(tensor.dtype));
    Status status = damaged->read(*damaged->find("embed.weight"), ranges, tensor.dtype, bytes);
    complaints += !status.ok();
    bool isTold = status.message().starts_with(path + ": tensor 'embed.weight': damaged: bytes 0 to ") &&
                  status.message().ends_with(", written were bytes with " + recorded);
    EXPECT_TRUE(status.ok() || isTold) << status.message();
  }
  EXPECT_EQ(complaints, 1);
}

TEST(Archive, TruncatedAnywhereIsRefused) {
  TemporaryDirectory directory;
  std::string path = directory / "w.pt2", text = textOf(fixture("model.pt2"));
  for (size_t size = 4; size < text.size(); size += 61) {
    writeText(path, text.substr(0, size));
    EXPECT_EQ(openError(path), path + ": damaged or truncated zip file: its directory is missing or wrong");
  }
}

/// The error for the fixture with `from` in its (stored) weights table replaced by a text of the same length.
std::string errorWith(const std::string &from, const std::string &to) {
  TemporaryDirectory directory;
  std::string text = textOf(fixture("model.pt2"));
  size_t table = text.find("\"embed.weight\": {\"path_name\"");
  EXPECT_NE(table, std::string::npos);
  size_t place = text.find(from, table);
  EXPECT_NE(place, std::string::npos) << from;
  EXPECT_EQ(from.size(), to.size());
  text.replace(place, from.size(), to);
  // The checksum of the table is in the directory, where the test searches for its value.
  std::string path = directory / "w.pt2";
  writeText(path, text);
  std::string message = openError(path);
  EXPECT_TRUE(message.starts_with(path + ": ")) << message;
  return message.substr(path.size() + 2);
}

TEST(Archive, AChangedTableIsNoticed) {
  EXPECT_EQ(
      errorWith("\"dtype\": 7", "\"dtype\": 9"),
      "damaged or truncated zip file: entry 'model/data/weights/model_weights_config.json': its checksum is wrong");
}

/// One stored tensor of an archive, as its table of weights describes it.
struct Weight {
  std::string name = "w";
  int dtype = 1; // u8
  std::string sizes = "2, 3", strides = "3, 1", offset = "0";
  std::string path = "weight_0", more; // more: further fields, with a comma in front
};

/// [{"as_int": 2}, {"as_int": 3}] for "2, 3".
std::string symInts(const std::string &numbers) {
  std::string text = "[";
  for (size_t begin = 0; begin < numbers.size();) {
    size_t end = std::min(numbers.find(", ", begin), numbers.size());
    text += (begin > 0 ? ", " : "") + (R"({"as_int": )" + numbers.substr(begin, end - begin)) + "}";
    begin = end + 2;
  }
  return text + "]";
}

std::string tableOf(const std::vector<Weight> &weights) {
  std::string text;
  for (const Weight &w : weights)
    text += (text.empty() ? "\"" : ", \"") + w.name + R"(": {"path_name": ")" + w.path + R"(", "is_param": true)" +
            w.more + R"(, "tensor_meta": {"dtype": )" + std::to_string(w.dtype) + R"(, "sizes": )" + symInts(w.sizes) +
            R"(, "strides": )" + symInts(w.strides) + R"(, "storage_offset": {"as_int": )" + w.offset + "}}}";
  return R"({"config": {)" + text + "}}";
}

/// An archive written by hand: any table, and payloads of bytes 0, 1, 2, ...
class WrittenArchive : public testing::Test {
protected:
  const std::string &write(const std::string &table, int64_t payloadSize = 6) {
    ZipText zip;
    zip.add("model/data/weights/model_weights_config.json", table);
    std::string payload;
    for (int64_t i = 0; i < payloadSize; ++i)
      payload += static_cast<char>(i);
    zip.add("model/data/weights/weight_0", payload);
    for (const auto &[name, content] : others)
      zip.add(name, content);
    writeText(path, zip.text());
    return path;
  }

  TensorSource open(const std::vector<Weight> &weights, int64_t payloadSize = 6) {
    Expected<TensorSource> source = TensorSource::open(write(tableOf(weights), payloadSize));
    EXPECT_TRUE(source.ok()) << source.status().message();
    return *std::move(source);
  }

  std::string error(const std::string &table, int64_t payloadSize = 6) {
    std::string message = openError(write(table, payloadSize));
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    return message.substr(path.size() + 2);
  }
  std::string error(const Weight &weight, int64_t payloadSize = 6) { return error(tableOf({weight}), payloadSize); }

  static std::vector<uint8_t> bytesOf(const TensorSource &source, const std::string &name) {
    return readAs<uint8_t>(source, name, wholeTensor(source.find(name)->shape), DType::u8);
  }

  TemporaryDirectory directory;
  const std::string path = directory / "w.pt2";
  std::vector<std::pair<std::string, std::string>> others;
};

TEST_F(WrittenArchive, StridesAndOffsetsOfViews) {
  TensorSource source = open({{.name = "whole"},
                              {.name = "turned", .sizes = "3, 2", .strides = "1, 3"},
                              {.name = "column", .sizes = "2", .strides = "3", .offset = "2"},
                              {.name = "expanded", .sizes = "2, 2", .strides = "0, 1", .offset = "4"},
                              {.name = "scalar", .sizes = "", .strides = "", .offset = "5"},
                              {.name = "nothing", .sizes = "0, 7", .strides = "7, 1", .offset = "6"}});
  EXPECT_THAT(bytesOf(source, "whole"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(bytesOf(source, "turned"), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(bytesOf(source, "column"), ElementsAre(2, 5));
  EXPECT_THAT(bytesOf(source, "expanded"), ElementsAre(4, 5, 4, 5));
  EXPECT_THAT(bytesOf(source, "scalar"), ElementsAre(5));
  EXPECT_TRUE(bytesOf(source, "nothing").empty());
  EXPECT_THAT(readAs<uint8_t>(source, "turned", {{{1, 2}}, {{1, 1}}}, DType::u8), ElementsAre(4, 5));
  // Offsets count elements, not bytes.
  TensorSource wide = open({{.name = "w", .dtype = 3, .sizes = "2", .strides = "1", .offset = "1"}});
  EXPECT_THAT(readAs<uint16_t>(wide, "w", {{{0, 2}}}, DType::i16), ElementsAre(0x0302, 0x0504));
}

TEST_F(WrittenArchive, ComplexTensorsArePairsOfReals) {
  TensorSource source = open({{.dtype = 10, .sizes = "2", .strides = "3", .offset = "1"}}, 40);
  EXPECT_THAT(source.find("w")->shape, ElementsAre(2, 2));
  EXPECT_THAT(source.find("w")->strides, ElementsAre(6, 1));
  EXPECT_EQ(source.find("w")->offset, 2);
  EXPECT_EQ(error(Weight{.dtype = 10, .sizes = "2", .strides = "4611686018427387904"}, 40),
            "tensor 'w': invalid sizes, strides or storage_offset");
}

TEST_F(WrittenArchive, EveryDTypeOfTorch) {
  const std::map<int, DType> dtypes = {{1, DType::u8},   {2, DType::i8},   {3, DType::i16},  {4, DType::i32},
                                       {5, DType::i64},  {6, DType::f16},  {7, DType::f32},  {8, DType::f64},
                                       {9, DType::f16},  {10, DType::f32}, {11, DType::f64}, {12, DType::boolean},
                                       {13, DType::bf16}};
  for (int number = -1; number <= 30; ++number) {
    Weight weight{.dtype = number, .sizes = "1", .strides = "1"};
    auto found = dtypes.find(number);
    if (found == dtypes.end())
      EXPECT_EQ(error(weight, 16), "tensor 'w': dtype " + std::to_string(number) + " of torch");
    else
      EXPECT_EQ(open({weight}, 16).find("w")->dtype, found->second);
  }
}

TEST_F(WrittenArchive, WhatReachesOutOfThePayload) {
  auto message = [](const char *shape, const char *dtype, int size) {
    return std::string("tensor 'w': shape ") + shape + " of " + dtype + " in " + std::to_string(size) +
           " bytes (exported on the meta device?)";
  };
  EXPECT_EQ(error(Weight{}, 5), message("[2, 3]", "u8", 5));
  EXPECT_EQ(error(Weight{}, 0), message("[2, 3]", "u8", 0));
  EXPECT_EQ(error(Weight{.offset = "1"}), message("[2, 3]", "u8", 6));
  EXPECT_EQ(error(Weight{.strides = "4, 1"}), message("[2, 3]", "u8", 6));
  EXPECT_EQ(error(Weight{.dtype = 3, .sizes = "3", .strides = "1"}, 5), message("[3]", "i16", 5));
  EXPECT_EQ(error(Weight{.sizes = "", .strides = "", .offset = "6"}), message("[]", "u8", 6));
  // Overflowing numbers must not appear small.
  EXPECT_EQ(error(Weight{.strides = "9223372036854775807, 1"}), message("[2, 3]", "u8", 6));
  EXPECT_EQ(error(Weight{.sizes = "3, 3", .strides = "9223372036854775807, 1"}), message("[3, 3]", "u8", 6));
  EXPECT_EQ(error(Weight{.offset = "9223372036854775806"}), message("[2, 3]", "u8", 6));
  // Also without elements.
  EXPECT_EQ(error(Weight{.sizes = "0, 3", .offset = "7"}), message("[0, 3]", "u8", 6));
  EXPECT_EQ(error(Weight{.dtype = 5, .sizes = "0", .strides = "1", .offset = "9223372036854775806"}),
            message("[0]", "i64", 6));
}

TEST_F(WrittenArchive, NumbersThatMakeNoSense) {
  const std::string wrong = "tensor 'w': invalid sizes, strides or storage_offset";
  for (const Weight &weight :
       {Weight{.sizes = "2"}, Weight{.strides = "1"}, Weight{.sizes = "-2, 3"}, Weight{.strides = "-3, 1"},
        Weight{.offset = "-1"}, Weight{.offset = "9223372036854775807"}, Weight{.offset = "1.5"},
        Weight{.sizes = "2, \"s0\""}, Weight{.sizes = "4611686018427387904, 4"}, Weight{.strides = "null, 1"}})
    EXPECT_EQ(error(weight), wrong) << tableOf({weight});
  const std::string begin = R"({"config": {"w": {"path_name": "weight_0", "tensor_meta": {"dtype": 1, )";
  for (const char *meta : {R"("sizes": [2], "strides": [1], "storage_offset": {"as_int": 0})",
                           R"("sizes": [{"as_expr": 2}], "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0})",
                           R"("sizes": [], "strides": [], "storage_offset": 0)", R"("sizes": [], "strides": [])",
                           R"("strides": [], "storage_offset": {"as_int": 0})"})
    EXPECT_EQ(error(begin + meta + "}}}}"), wrong) << meta;
}

TEST_F(WrittenArchive, IncompleteTables) {
  const std::string table = "data/weights/model_weights_config.json has no config";
  for (const char *text : {"", "{", "[]", "{}", R"({"config": []})", "3"})
    EXPECT_EQ(error(text), table) << text;
  for (const char *entry : {"3", "{}", R"({"path_name": 3})", R"({"tensor_meta": {}})"})
    EXPECT_EQ(error(std::string(R"({"config": {"w": )") + entry + "}}"), "tensor 'w': no path_name") << entry;
  for (const char *meta : {"3", "{}", "null", R"({"dtype": "F32"})", R"({"dtype": 7.5})"})
    EXPECT_EQ(error(std::string(R"({"config": {"w": {"path_name": "weight_0", "tensor_meta": )") + meta + "}}}"),
              "tensor 'w': no tensor_meta")
        << meta;
  EXPECT_EQ(error(Weight{.path = "weight_7"}), "tensor 'w': the archive has no data/weights/weight_7");
  EXPECT_EQ(error(Weight{.more = R"(, "use_pickle": true)"}),
            "tensor 'w': the tensor is pickled; help: give the weights as safetensors");
  EXPECT_EQ(bytesOf(open({Weight{.more = R"(, "use_pickle": false)"}}), "w").size(), 6u);
}

TEST_F(WrittenArchive, DeepNestingIsNoDanger) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_EQ(error(R"({"config": )" + deep + "}"), "data/weights/model_weights_config.json has no config");
  const std::string begin = R"({"config": {"w": {"path_name": "weight_0", )";
  EXPECT_EQ(error(R"({"config": {"w": {"path_name": )" + deep + "}}}"), "tensor 'w': no path_name");
  EXPECT_EQ(error(begin + R"("tensor_meta": )" + deep + "}}}"), "tensor 'w': no tensor_meta");
  EXPECT_EQ(error(begin + R"("use_pickle": )" + deep + R"(, "tensor_meta": {"dtype": 1, "sizes": )" + deep + "}}}}"),
            "tensor 'w': invalid sizes, strides or storage_offset");
}

TEST_F(WrittenArchive, WithoutWeights) {
  ZipText zip;
  zip.add("model/models/model.json", "{}");
  zip.add("top_level_file", "x");
  writeText(path, zip.text());
  EXPECT_EQ(openError(path), path + ": no data/weights/*_weights_config.json in the archive; help: save the weights as "
                                    "safetensors, or give the .pt2");
  EXPECT_TRUE(open({}).names().empty()) << "a model without parameters";
}

TEST_F(WrittenArchive, ByteOrder) {
  others = {{"model/byteorder", "little"}};
  EXPECT_EQ(open({Weight{}}).names().size(), 1u);
  others = {{"model/byteorder", "big"}};
  EXPECT_EQ(error(Weight{}), "byte order big");
  EXPECT_EQ(TensorSource::open(path).status().code(), StatusCode::unsupported);
}

TEST_F(WrittenArchive, APackedWeightThatCannotBeUnpacked) {
  ZipText zip;
  zip.add("model/data/weights/model_weights_config.json", tableOf({Weight{}}));
  zip.add("model/data/weights/weight_0", "is not", /*method=*/8);
  writeText(path, zip.text());
  Expected<TensorSource> source = TensorSource::open(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  std::vector<std::byte> out(6);
  EXPECT_EQ(source->read(*source->find("w"), {{{0, 2}}, {{0, 3}}}, DType::u8, out).message(),
            path + ": tensor 'w': damaged or truncated zip file: entry 'model/data/weights/weight_0': it cannot be "
                   "unpacked");
}

// Sizes are checked before anything is unpacked: these entries hold six bytes.
TEST_F(WrittenArchive, EntriesThatUnpackToGigabytes) {
  constexpr uint64_t gigabyte = uint64_t(1) << 30;
  const std::string folder = "model/data/weights/", table = folder + "model_weights_config.json";
  auto messageOf = [&](const std::string &large, uint64_t size, const Weight &weight) {
    ZipText zip;
    for (auto &[name, content] : {std::pair(table, tableOf({weight})), {"model/byteorder", "little"}})
      name == large ? zip.add(name, "packed", 8, false, size) : zip.add(name, content);
    zip.add(folder + "weight_0", "packed", 8, false, large.ends_with("weight_0") ? size : 6);
    writeText(path, zip.text(true));
    return openError(path);
  };
  auto expected = [&](const std::string &entry, uint64_t size, uint64_t most) {
    return path + ": " + (entry.ends_with("weight_0") ? "tensor 'w': " : "") + "entry '" + entry + "' unpacks to " +
           std::to_string(size) + " bytes, at most " + std::to_string(most) + " expected; help: save the archive again";
  };
  for (const std::string &entry : {folder + "weight_0", std::string("model/byteorder"), table})
    EXPECT_EQ(messageOf(entry, gigabyte + 1, {}), expected(entry, 1073741825, 1073741824));
  // A view of one element at a large offset: the limit is four times the bytes that it reaches.
  EXPECT_EQ(messageOf(folder + "weight_0", 5 * gigabyte, {.sizes = "1, 1", .offset = "1073741824"}),
            expected(folder + "weight_0", 5368709120, 4294967300));
}

TEST_F(WrittenArchive, SeveralTablesAndOneName) {
  others = {{"model/data/weights/other_weights_config.json", tableOf({{.name = "v", .sizes = "2", .strides = "1"}})},
            {"model/data/weights/weights_config.json.txt", "not a table"}};
  TensorSource source = open({Weight{}});
  EXPECT_THAT(source.names(), ElementsAre("v", "w"));
  EXPECT_EQ(source.find("v")->payload, source.find("w")->payload) << "one payload for one entry";
}

} // namespace
} // namespace meshplan
