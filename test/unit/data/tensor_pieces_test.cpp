//===- tensor_pieces_test.cpp - tensors that are made of others -----------===//

#include "test/unit/data/helpers.h"

namespace meshplan {
namespace {

using testing::ElementsAre;

/// Of a tensor [2, 3, 2] the parts [2, 2] and [1, 2] of each element of its first dim; a vector; and another tensor.
const std::string header = R"({
  "e.0.a": {"dtype": "U8", "shape": [2, 2], "data_offsets": [0, 4]},
  "e.0.b": {"dtype": "U8", "shape": [1, 2], "data_offsets": [4, 6]},
  "e.1.a": {"dtype": "U8", "shape": [2, 2], "data_offsets": [6, 10]},
  "e.1.b": {"dtype": "U8", "shape": [1, 2], "data_offsets": [10, 12]},
  "other": {"dtype": "U8", "shape": [2], "data_offsets": [12, 14]}})";

const WeightPieces pieces{{"e.", "e."}, {".a", ".b"}, {2, 1}, 1, 2};
const std::vector<int64_t> shape{2, 3, 2};
const std::vector<std::string> names{"w", "tied"};

class TensorPieces : public testing::Test {
protected:
  TensorSource open(const std::string &text = header) {
    writeText(directory / "w.safetensors", safetensorsText(text, 14));
    Expected<TensorSource> source = TensorSource::open(directory / "w.safetensors");
    EXPECT_TRUE(source.ok()) << source.status().message();
    return *std::move(source);
  }

  std::string errorOf(const TensorSource &source) {
    std::string message = source.require(names, shape).status().message(), path = source.path() + ": ";
    EXPECT_TRUE(message.starts_with(path)) << message;
    return message.substr(path.size());
  }

  TemporaryDirectory directory;
};

TEST_F(TensorPieces, AreReadAsOneTensor) {
  TensorSource source = open();
  source.assemble(names, pieces, shape);
  EXPECT_THAT(source.names(), ElementsAre("other", "w")) << "the pieces are not tensors of their own any more";
  ASSERT_TRUE(source.require(names, shape).ok());
  EXPECT_THAT(readAs<uint8_t>(source, "w", wholeTensor(shape), DType::u8),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST_F(TensorPieces, OfASliceHaveItsOrder) {
  TensorSource source = open();
  source.assemble(names, pieces, shape);
  EXPECT_THAT(readAs<uint8_t>(source, "w", {{{1, 1}}, {{0, 3}}, {{0, 2}}}, DType::u8), ElementsAre(6, 7, 8, 9, 10, 11));
  // Columns, and parts of both pieces: not one run of the result.
  EXPECT_THAT(readAs<uint8_t>(source, "w", {{{0, 2}}, {{1, 2}}, {{1, 1}}}, DType::u8), ElementsAre(3, 5, 9, 11));
  // Ranges of a rank that has a part of each part.
  EXPECT_THAT(readAs<uint8_t>(source, "w", {{{0, 2}}, {{0, 1}, {2, 1}}, {{0, 2}}}, DType::u8),
              ElementsAre(0, 1, 4, 5, 6, 7, 10, 11));
  EXPECT_THAT(readAs<uint8_t>(source, "w", {{}, {{0, 3}}, {{0, 2}}}, DType::u8), ElementsAre());
  source.announce(*source.find("w"), {{{0, 2}}, {{1, 2}}, {{1, 1}}});
  source.announce(*source.find("w"), {{{0, 3}}});
}

TEST_F(TensorPieces, ThatASliceDoesNotMeetAreNotRead) {
  TensorSource source = open();
  ASSERT_TRUE(source.setChecksums("e.1.a", {1 << 20, {7}}).ok()) << "a wrong one";
  source.assemble(names, pieces, shape);
  EXPECT_THAT(readAs<uint8_t>(source, "w", {{{0, 1}}, {{0, 3}}, {{0, 2}}}, DType::u8), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(readAs<uint8_t>(source, "w", {{{0, 2}}, {{2, 1}}, {{0, 2}}}, DType::u8), ElementsAre(4, 5, 10, 11));
  std::vector<std::byte> out(12);
  EXPECT_EQ(source.read(*source.find("w"), wholeTensor(shape), DType::u8, out).code(), StatusCode::corrupted);
}

TEST_F(TensorPieces, AreConvertedAsOthers) {
  TensorSource source = open();
  source.assemble(names, pieces, shape);
  std::vector<std::byte> out(24);
  EXPECT_EQ(source.read(*source.find("w"), wholeTensor(shape), DType::i16, out).message(),
            source.path() +
                ": tensor 'e.0.a' has dtype u8, i16 required; help: convert the tensor, or read another file");
  out.resize(11);
  EXPECT_EQ(source.read(*source.find("w"), wholeTensor(shape), DType::u8, out).message(),
            source.path() + ": tensor 'w': a buffer of 11 bytes, 12 required");
  EXPECT_FALSE(source.read(*source.find("w"), {{{0, 3}}, {{0, 3}}, {{0, 2}}}, DType::u8, out).ok());
}

TEST_F(TensorPieces, OfATensorThatTheFileHasAreNotUsed) {
  std::string text = header;
  TensorSource source = open(text.replace(text.find("other"), 5, "tied"));
  source.assemble(names, pieces, shape);
  EXPECT_THAT(source.names(), ElementsAre("e.0.a", "e.0.b", "e.1.a", "e.1.b", "tied"));
  EXPECT_EQ(errorOf(source),
            "tensor 'tied' has shape [2], [2, 3, 2] required; help: compile for the shape in the file, "
            "or read another file");
}

TEST_F(TensorPieces, ThatAreMissing) {
  std::string text = header;
  TensorSource source = open(text.replace(text.find("e.1.b"), 5, "e.1.c"));
  source.assemble(names, pieces, shape);
  EXPECT_EQ(source.find("w"), nullptr);
  EXPECT_EQ(errorOf(source),
            "no tensor 'e.1.b', which the plan names as a part of 'w'; nearest names: 'e.0.b', 'e.1.a', "
            "'e.1.c'");
}

/// The plan has not named these.
TEST_F(TensorPieces, ThatAreParametersOfModules) {
  TensorSource source = open();
  const std::vector<std::string> stacked = {"e.c"};
  source.assemble(stacked, {{"e."}, {".c"}, {3}, 1, 2}, shape);
  EXPECT_EQ(
      source.require(stacked, shape).status().message().substr(source.path().size() + 2),
      "no tensor 'e.0.c', which is a part of 'e.c', since 'expert' divides the modules of a list (2 of its 2 parts "
      "are missing, to 'e.1.c'); nearest names: 'e.0.a', 'e.0.b', 'e.1.a'; help: read a file with the tensors of "
      "the modules, or say in 'weight_names' of the plan what it calls them");
  const std::vector<std::string> other = {"e.a"};
  source.assemble(other, {{"e."}, {".a"}, {3}, 1, 2}, shape);
  EXPECT_EQ(source.require(other, shape).status().message().substr(source.path().size() + 2),
            "tensor 'e.0.a' has shape [2, 2], [3, 2] required as a part of 'e.a'; help: compile for the shape in the "
            "file, or read another file");
}

TEST_F(TensorPieces, OfAnotherShapeOrType) {
  TensorSource source = open();
  source.assemble(names, {{"e.", "e."}, {".a", ".b"}, {1, 2}, 1, 2}, shape);
  EXPECT_EQ(errorOf(source), "tensor 'e.0.a' has shape [2, 2], [1, 2] required as a part of 'w'; help: change "
                             "'weight_names' of the plan, or read another file");
  std::string text = header;
  TensorSource foreign = open(text.replace(text.find("U8"), 2, "F8_E4M3"));
  foreign.assemble(names, pieces, shape);
  EXPECT_EQ(errorOf(foreign),
            "tensor 'e.0.a' has dtype 'F8_E4M3', which cannot be read; help: convert the tensor, or read "
            "another file");
}

TEST_F(TensorPieces, AreMadeOfATensor) {
  // [2, 3, 2], which is divided, and then one tensor of its parts under another name.
  writeText(directory / "w.safetensors",
            safetensorsText(R"({"w": {"dtype": "U8", "shape": [2, 3, 2], "data_offsets": [0, 12]}})", 12));
  TensorSource source = *TensorSource::open(directory / "w.safetensors");
  source.divide("v", piecesOf(pieces, shape));
  EXPECT_THAT(source.names(), ElementsAre("w"));
  source.divide("w", piecesOf(pieces, shape));
  EXPECT_THAT(source.names(), ElementsAre("e.0.a", "e.0.b", "e.1.a", "e.1.b"));
  EXPECT_THAT(readAs<uint8_t>(source, "e.0.b", {{{0, 1}}, {{0, 2}}}, DType::u8), ElementsAre(4, 5));
  EXPECT_THAT(readAs<uint8_t>(source, "e.1.a", {{{0, 2}}, {{1, 1}}}, DType::u8), ElementsAre(7, 9));
  source.announce(*source.find("e.1.a"), {{{0, 2}}, {{1, 1}}});
  std::vector<std::byte> out(1);
  EXPECT_FALSE(source.read(*source.find("e.1.a"), {{{2, 1}}, {{0, 1}}}, DType::u8, out).ok());
  source.assemble("again", piecesOf(pieces, shape), shape);
  EXPECT_THAT(source.names(), ElementsAre("again"));
  EXPECT_THAT(readAs<uint8_t>(source, "again", {{{0, 2}}, {{1, 2}}, {{1, 1}}}, DType::u8), ElementsAre(3, 5, 9, 11));
}

/// A part has the checksums of the whole tensor, of which it compares the blocks that it reads.
TEST_F(TensorPieces, OfATensorWithChecksums) {
  writeText(directory / "w.safetensors",
            safetensorsText(R"({"w": {"dtype": "U8", "shape": [2, 3, 2], "data_offsets": [0, 12]}})", 12));
  TensorSource source = *TensorSource::open(directory / "w.safetensors");
  std::vector<std::byte> first(6);
  ASSERT_TRUE(source.read(*source.find("w"), {{{0, 1}}, {{0, 3}}, {{0, 2}}}, DType::u8, first).ok());
  ASSERT_TRUE(source.setChecksums("w", {6, {crc32Of(first), 7}}).ok()) << "the second one is wrong";
  source.divide("w", piecesOf({{"e."}, {""}, {3}, 1, 2}, shape));
  EXPECT_THAT(readAs<uint8_t>(source, "e.0", {{{0, 3}}, {{0, 2}}}, DType::u8), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(source.read(*source.find("e.1"), {{{0, 3}}, {{0, 2}}}, DType::u8, first).code(), StatusCode::corrupted);
}

} // namespace
} // namespace meshplan
