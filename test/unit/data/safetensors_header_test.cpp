//===- safetensors_header_test.cpp - requirements on a header -------------===//

#include "runtime/data/safetensors_header.h"

#include "test/unit/data/helpers.h"

#include <random>

namespace meshplan {
namespace {

using testing::ElementsAre;

Expected<std::vector<StoredTensor>> parse(const std::string &text) {
  return readSafetensors("w", std::as_bytes(std::span(text)));
}

/// The message about a file with this header and 8 bytes of data; empty if it is valid.
std::string errorOf(const std::string &header, size_t dataSize = 8) {
  Status status = parse(safetensorsText(header, dataSize)).status();
  EXPECT_TRUE(status.ok() || status.message().starts_with("w: ")) << status.message();
  return status.ok() ? "" : status.message().substr(3);
}

/// "NAME": {...} of a header.
std::string entry(const std::string &name, const std::string &dtype, const std::string &shape,
                  const std::string &offsets) {
  return '"' + name + R"(": {"dtype": ")" + dtype + R"(", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}";
}

TEST(SafetensorsHeader, ComplexTensorsArePairsOfReals) {
  Expected<std::vector<StoredTensor>> tensors =
      parse(safetensorsText("{" + entry("z", "C64", "[3]", "[0, 24]") + "}", 24));
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  EXPECT_EQ(tensors->front().dtype, DType::f32);
  EXPECT_THAT(tensors->front().shape, ElementsAre(3, 2));
  EXPECT_THAT(tensors->front().strides, ElementsAre(2, 1));
}

TEST(SafetensorsHeader, TensorsInTheOrderOfTheirBytes) {
  std::string text =
      safetensorsText("{" + entry("z", "U8", "[2]", "[0, 2]") + "," + entry("a", "I16", "[1, 1]", "[6, 8]") + "," +
                          entry("m", "F32", "[]", "[2, 6]") + "}",
                      8);
  Expected<std::vector<StoredTensor>> tensors = parse(text);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors->size(), 3u);
  EXPECT_EQ((*tensors)[0].name, "z");
  EXPECT_EQ((*tensors)[1].name, "m");
  EXPECT_EQ((*tensors)[1].dtype, DType::f32);
  EXPECT_TRUE((*tensors)[1].shape.empty());
  EXPECT_EQ((*tensors)[2].name, "a");
  EXPECT_THAT((*tensors)[2].shape, ElementsAre(1, 1));
  for (const StoredTensor &tensor : *tensors) {
    EXPECT_EQ(tensor.offset, 0);
    EXPECT_EQ(tensor.strides, contiguousStrides(tensor.shape));
  }
  std::span<const std::byte> last = *(*tensors)[2].payload->bytes();
  EXPECT_EQ(reinterpret_cast<const char *>(last.data()), text.data() + text.size() - 2) << "bytes are used in place";
  EXPECT_EQ(last.size(), 2u);
}

TEST(SafetensorsHeader, EveryDType) {
  const std::pair<const char *, DType> dtypes[] = {
      {"F64", DType::f64}, {"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16}, {"I64", DType::i64},
      {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},   {"U8", DType::u8},     {"BOOL", DType::boolean}};
  const int64_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
  for (size_t i = 0; i < std::size(dtypes); ++i) {
    std::string offsets = "[0, " + std::to_string(3 * sizes[i]) + "]";
    auto tensors = parse(safetensorsText("{" + entry("a", dtypes[i].first, "[3]", offsets) + "}", 3 * sizes[i]));
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    EXPECT_EQ((*tensors)[0].dtype, dtypes[i].second);
  }
  for (const char *dtype : {"F8_E5M2", "U16", "U64", "f32", ""}) {
    auto tensors = parse(safetensorsText("{" + entry("a", dtype, "[1]", "[0, 8]") + "}", 8));
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    EXPECT_EQ((*tensors)[0].foreignType, "'" + std::string(dtype) + "'");
  }
}

TEST(SafetensorsHeader, EmptyTensorsAndMetadata) {
  EXPECT_EQ(errorOf("{}", 0), "");
  EXPECT_EQ(errorOf(R"({"__metadata__": {"format": "pt", "shape": "none"}})", 0), "");
  // Empty tensors between, before or after the others.
  EXPECT_EQ(errorOf("{" + entry("a", "F32", "[2]", "[0, 8]") + "," + entry("b", "F32", "[0, 7]", "[0, 0]") + "," +
                    entry("c", "I64", "[3, 0]", "[8, 8]") + "}"),
            "");
  EXPECT_EQ(errorOf("{" + entry("a", "U8", "[8]", "[0, 8]") + "," + entry("b", "F32", "[0]", "[4, 4]") + "}"),
            "tensor 'b' begins at byte 4 of the data, 8 expected");
}

TEST(SafetensorsHeader, NoJsonObject) {
  for (const char *header : {"", " ", "[1, 2]", "3", "{\"a\": ", "{\"a\": 1,}", "\"x\"", "null"})
    EXPECT_EQ(errorOf(header), "the header is not a JSON object") << header;
}

TEST(SafetensorsHeader, IncompleteEntries) {
  for (const char *value :
       {"3", "[]", "{}", R"({"dtype": "F32"})", R"({"dtype": "F32", "shape": [2]})",
        R"({"shape": [2], "data_offsets": [0, 8]})", R"({"dtype": 3, "shape": [2], "data_offsets": [0, 8]})"})
    EXPECT_EQ(errorOf(std::string(R"({"a": )") + value + "}"), "tensor 'a': no dtype, shape or data_offsets") << value;
}

TEST(SafetensorsHeader, NumbersThatAreNone) {
  const std::string wrong = "tensor 'a': invalid shape or data_offsets";
  for (const char *shape : {"[-1]", "[1.5]", "3", "{}", "null", "[\"x\"]", "[18446744073709551615]", "[[2]]"})
    EXPECT_EQ(errorOf("{" + entry("a", "F32", shape, "[0, 8]") + "}"), wrong) << shape;
  for (const char *offsets :
       {"[8, 0]", "[0]", "[]", "[0, 4, 8]", "[-8, 0]", "[0, 8.0]", "8", "[0, 9223372036854775808]"})
    EXPECT_EQ(errorOf("{" + entry("a", "F32", "[2]", offsets) + "}"), wrong) << offsets;
}

TEST(SafetensorsHeader, SizesThatDoNotFit) {
  EXPECT_EQ(errorOf("{" + entry("a", "F32", "[3]", "[0, 8]") + "}"), "tensor 'a': shape [3] of f32 in 8 bytes");
  EXPECT_EQ(errorOf("{" + entry("a", "F64", "[]", "[0, 4]") + "}"), "tensor 'a': shape [] of f64 in 4 bytes");
  EXPECT_EQ(errorOf("{" + entry("a", "F32", "[4611686018427387904, 4]", "[0, 0]") + "}"),
            "tensor 'a': shape [4611686018427387904, 4] of f32 in 0 bytes");
  EXPECT_EQ(errorOf("{" + entry("a", "U8", "[0, 4611686018427387904, 4]", "[0, 0]") + "}"),
            "tensor 'a': shape [0, 4611686018427387904, 4] of u8 in 0 bytes");
}

TEST(SafetensorsHeader, GapsOverlapsAndEnds) {
  auto two = [](const char *first, const char *second) {
    return errorOf("{" + entry("a", "U8", "[4]", first) + "," + entry("b", "U8", "[4]", second) + "}");
  };
  EXPECT_EQ(two("[0, 4]", "[4, 8]"), "");
  EXPECT_EQ(two("[4, 8]", "[0, 4]"), "");
  EXPECT_EQ(two("[0, 4]", "[3, 7]"), "tensor 'b' begins at byte 3 of the data, 4 expected");
  EXPECT_EQ(two("[0, 4]", "[0, 4]"), "tensor 'b' begins at byte 0 of the data, 4 expected");
  EXPECT_EQ(two("[1, 5]", "[5, 9]"), "tensor 'a' begins at byte 1 of the data, 0 expected");
  EXPECT_EQ(two("[0, 4]", "[5, 9]"), "tensor 'b' begins at byte 5 of the data, 4 expected");
  EXPECT_EQ(errorOf("{" + entry("a", "U8", "[4]", "[0, 4]") + "}"), "4 bytes after the last tensor");
  EXPECT_EQ(errorOf("{" + entry("a", "U8", "[9]", "[0, 9]") + "}"),
            "truncated: tensor 'a' ends at byte 9 of the data, the file has 8");
  EXPECT_EQ(errorOf("{" + entry("a", "U8", "[9223372036854775807]", "[0, 9223372036854775807]") + "}"),
            "truncated: tensor 'a' ends at byte 9223372036854775807 of the data, the file has 8");
}

TEST(SafetensorsHeader, ANameTwiceNeverHidesBytes) {
  EXPECT_EQ(errorOf("{" + entry("a", "U8", "[4]", "[0, 4]") + "," + entry("a", "U8", "[4]", "[4, 8]") + "}"),
            "tensor 'a' begins at byte 4 of the data, 0 expected");
}

TEST(SafetensorsHeader, TheLengthOfTheHeader) {
  EXPECT_EQ(parse("").status().message(), "w: truncated: a file of 0 bytes is not a safetensors file");
  EXPECT_EQ(parse("1234567").status().message(), "w: truncated: a file of 7 bytes is not a safetensors file");
  for (uint64_t size : {uint64_t(3), uint64_t(1) << 40, UINT64_MAX - 7, UINT64_MAX}) {
    std::string text(reinterpret_cast<const char *>(&size), sizeof(size));
    EXPECT_EQ(parse(text + "{}").status().message(), "w: truncated, or not a safetensors file: a header of " +
                                                         std::to_string(size) + " bytes in a file of 10");
  }
}

TEST(SafetensorsHeader, ALargeHeaderIsReadWhole) {
  std::string header = "{";
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i)
    header += entry("model.layers." + std::to_string(i), "U8", "[1]",
                    "[" + std::to_string(i) + ", " + std::to_string(i + 1) + "]") +
              (i + 1 < count ? "," : "}");
  auto tensors = parse(safetensorsText(header, count));
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  ASSERT_EQ(tensors->size(), size_t(count));
  EXPECT_EQ(tensors->back().name, "model.layers.19999");
}

TEST(SafetensorsHeader, DeepNestingIsNoDanger) {
  EXPECT_EQ(errorOf("{\"a\": " + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
            "tensor 'a': no dtype, shape or data_offsets");
}

TEST(SafetensorsHeader, DamagedBytesAreRefusedOrLieInside) {
  const std::string original =
      safetensorsText("{" + entry("a", "U8", "[2, 3]", "[0, 6]") + "," + entry("b", "I16", "[1]", "[6, 8]") + "}", 8);
  std::mt19937 generator(1);
  for (int round = 0; round < 4'000; ++round) {
    std::string text = original;
    for (unsigned flips = 1 + generator() % 3; flips > 0; --flips)
      text[generator() % text.size()] = static_cast<char>(generator());
    Expected<std::vector<StoredTensor>> tensors = parse(text);
    size_t bytes = 0;
    if (tensors)
      for (const StoredTensor &tensor : *tensors) {
        std::span<const std::byte> payload = *tensor.payload->bytes();
        EXPECT_LE(reinterpret_cast<const char *>(payload.data() + payload.size()), text.data() + text.size());
        if (tensor.foreignType.empty()) {
          EXPECT_EQ(static_cast<int64_t>(payload.size()), byteCount(tensor.shape, tensor.dtype));
        }
        bytes += payload.size();
      }
    EXPECT_LE(bytes, text.size());
  }
}

TEST(ByteCount, OverflowsAndNegativeDimsAreNoSizes) {
  auto bytes = [](std::vector<int64_t> shape, DType dtype) { return byteCount(shape, dtype); };
  EXPECT_EQ(bytes({}, DType::f64), 8);
  EXPECT_EQ(bytes({3, 5}, DType::bf16), 30);
  EXPECT_EQ(bytes({3, 0, 5}, DType::f32), 0);
  EXPECT_EQ(bytes({INT64_MAX}, DType::u8), INT64_MAX);
  EXPECT_EQ(bytes({INT64_MAX}, DType::f16), std::nullopt);
  EXPECT_EQ(bytes({int64_t(1) << 32, int64_t(1) << 31}, DType::boolean), std::nullopt);
  EXPECT_EQ(bytes({INT64_MAX, 0}, DType::u8), 0);
  EXPECT_EQ(bytes({0, int64_t(1) << 32, int64_t(1) << 31}, DType::u8), std::nullopt) << "nor would strides fit";
  EXPECT_EQ(bytes({4, -1}, DType::f32), std::nullopt);
  EXPECT_EQ(bytes({0, -1}, DType::f32), std::nullopt);
}

} // namespace
} // namespace meshplan
