//===- token_samples_test.cpp - samples cut from a stream of tokens -------===//

#include "runtime/dataset/token_samples.h"

#include "test/unit/dataset/megatron_bytes.h"

namespace meshplan {
namespace {

using testing::ElementsAre;

class TokenSamples : public testing::Test {
protected:
  Expected<SampleSourcePointer> tryOpen(const std::string &name, const std::vector<SampleField> &fields,
                                        const TokenOffsets &offsets) {
    std::optional<TokenFiles> files = findTokenFiles(name);
    EXPECT_TRUE(files) << name;
    return openTokenSamples(*files, fields, offsets);
  }

  SampleSourcePointer open(const std::string &name, const std::vector<SampleField> &fields,
                           const TokenOffsets &offsets = {}) {
    Expected<SampleSourcePointer> source = tryOpen(name, fields, offsets);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source ? *std::move(source) : nullptr;
  }

  std::string error(const std::string &name, const std::vector<SampleField> &fields, const TokenOffsets &offsets = {}) {
    return errorOf(tryOpen(name, fields, offsets));
  }

  /// PREFIX.bin and PREFIX.idx with the tokens 0, 1, ...
  template <typename T> void writeMegatron(std::vector<int32_t> lengths, uint8_t code) {
    int64_t tokens = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
    writeText(prefix + ".idx", MegatronBytes::of(std::move(lengths), code, sizeof(T)).text());
    writeText(prefix + ".bin", bytesOf(counting<T>(tokens)));
  }

  TemporaryDirectory folder;
  const std::string bin = folder / "train.bin", prefix = folder / "text_document";
  const SampleField ids{"input_ids", DType::i64, {4}}, labels{"labels", DType::i64, {4}};
  const TokenOffsets same = {{"labels", TokenOffset::same}}, next = {{"labels", TokenOffset::next}};
};

TEST_F(TokenSamples, OfNanoGpt) {
  writeText(bin, bytesOf(counting<uint16_t>(11, 65520)));
  SampleSourcePointer source = open(bin, {ids});
  EXPECT_EQ(source->samples(), 2) << "three tokens are left";
  EXPECT_THAT(readSample(*source, 0, 0, 4), ElementsAre(65520, 65521, 65522, 65523));
  EXPECT_THAT(readSample(*source, 1, 0, 4), ElementsAre(65524, 65525, 65526, 65527));
  EXPECT_THAT(readSlice<int64_t>(*source, 1, 0, {{{0, 1}, {2, 2}}}), ElementsAre(65524, 65526, 65527));
  EXPECT_THAT(source->description(),
              ElementsAre("train.bin: 22 bytes, 11 tokens of u16, 2 samples of 4: input_ids same"));
  source->announce(1, 0, {{{0, 4}}});
}

TEST_F(TokenSamples, LabelsAsTheModelWantsThem) {
  writeText(bin, bytesOf(counting<uint16_t>(12)));
  SampleSourcePointer unshifted = open(bin, {ids, labels}, same), shifted = open(bin, {ids, labels}, next);
  EXPECT_EQ(unshifted->samples(), 3);
  EXPECT_EQ(shifted->samples(), 2) << "the last label of a third one would be token 12";
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(readSample(*unshifted, i, 0, 4), readSample(*unshifted, i, 1, 4));
    EXPECT_EQ(readSample(*unshifted, i, 0, 4), readSample(*shifted, i, 0, 4));
  }
  EXPECT_THAT(readSample(*shifted, 1, 0, 4), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(readSample(*shifted, 1, 1, 4), ElementsAre(5, 6, 7, 8));
}

TEST_F(TokenSamples, OneMoreTokenMakesOneMoreSample) {
  for (int64_t tokens = 0; tokens < 20; ++tokens) {
    writeText(bin, bytesOf(counting<uint16_t>(tokens)));
    EXPECT_EQ(open(bin, {ids})->samples(), tokens / 4) << tokens;
    EXPECT_EQ(open(bin, {ids, labels}, next)->samples(), tokens == 0 ? 0 : (tokens - 1) / 4) << tokens;
  }
}

TEST_F(TokenSamples, OfMegatronOverTheBordersOfDocuments) {
  writeMegatron<int32_t>({3, 0, 1, 6}, 4);
  SampleSourcePointer source = open(prefix, {ids, labels}, next);
  EXPECT_EQ(source->samples(), 2);
  EXPECT_THAT(readSample(*source, 0, 1, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(readSample(*source, 1, 0, 4), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(
      source->description(),
      ElementsAre(
          "text_document.bin: 40 bytes, 5 documents, 10 tokens of i32, 2 samples of 4: input_ids same, labels next"));
  for (const char *suffix : {".bin", ".idx"})
    EXPECT_EQ(open(prefix + suffix, {ids, labels}, next)->description(), source->description());
}

TEST_F(TokenSamples, OffsetsAboveFourGibibytes) {
  // A sparse file, which occupies no disk space.
  constexpr int64_t tokens = (int64_t(3) << 30) + 5;
  writeText(bin, "");
  std::filesystem::resize_file(bin, 2 * tokens);
  std::fstream file(bin, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(2 * (tokens - 5));
  file << bytesOf(counting<uint16_t>(5, 40000));
  ASSERT_TRUE(file.flush().good());
  SampleSourcePointer source = open(bin, {ids, labels}, next);
  ASSERT_EQ(source->samples(), tokens / 4);
  EXPECT_THAT(readSample(*source, tokens / 4 - 1, 0, 4), ElementsAre(40000, 40001, 40002, 40003));
  EXPECT_THAT(readSample(*source, tokens / 4 - 1, 1, 4), ElementsAre(40001, 40002, 40003, 40004));
  EXPECT_THAT(readSample(*source, tokens / 4 - 2, 1, 4), ElementsAre(0, 0, 0, 40000));
}

TEST_F(TokenSamples, SlicesThatDoNotFit) {
  writeText(bin, bytesOf(counting<uint16_t>(8)));
  SampleSourcePointer source = open(bin, {ids});
  std::vector<std::byte> out(100);
  EXPECT_EQ(source->read(0, 0, {{{2, 3}}}, out).message(), bin + ": elements 2 to 5 of dim 0 of a tensor of shape [4]");
  EXPECT_EQ(source->read(0, 0, {}, out).message(), bin + ": a slice of 0 dims of a tensor of shape [4]");
  source->announce(0, 0, {{{2, 3}}});
}

TEST_F(TokenSamples, WhatIsATokenFile) {
  writeMegatron<int32_t>({3}, 4);
  EXPECT_EQ(findTokenFiles(prefix)->tokens, prefix + ".bin");
  EXPECT_EQ(findTokenFiles(prefix)->index, prefix + ".idx");
  EXPECT_EQ(findTokenFiles("a.bin")->tokens, "a.bin");
  EXPECT_EQ(findTokenFiles("a.bin")->index, "");
  EXPECT_FALSE(findTokenFiles("a.safetensors"));
  EXPECT_FALSE(findTokenFiles("a.idx"));
  EXPECT_FALSE(findTokenFiles(folder.path()));
}

TEST_F(TokenSamples, WhatInputsTakeMustBeCertain) {
  writeText(bin, bytesOf(counting<uint16_t>(12)));
  EXPECT_EQ(error(bin, {ids, labels}),
            bin + ": which tokens input 'labels' takes is not known; help: --tokens labels=same for the tokens that a "
                  "model reads, or for labels that it shifts itself, as those of Hugging Face do, --tokens labels=next "
                  "for labels that are the token after each, or give its tensors in a safetensors file");
  const SampleField idx{"idx", DType::i64, {4}}, targets{"targets", DType::i64, {4}};
  EXPECT_THAT(error(bin, {idx, targets}, {{"targets", TokenOffset::next}}), testing::HasSubstr("input 'idx' takes"));
  EXPECT_THAT(readSample(*open(bin, {idx}), 0, 0, 4), ElementsAre(0, 1, 2, 3));
  SampleSourcePointer both = open(bin, {targets, idx}, {{"targets", TokenOffset::next}, {"idx", TokenOffset::same}});
  EXPECT_THAT(readSample(*both, 0, 0, 4), ElementsAre(1, 2, 3, 4));
}

TEST_F(TokenSamples, InputsThatTokensDoNotFit) {
  writeText(bin, bytesOf(counting<uint16_t>(12)));
  const std::string tail = ", a token file has integers in one dim; help: give its tensors in a safetensors file";
  EXPECT_EQ(error(bin, {{"x", DType::f32, {4}}}), bin + ": input 'x' takes samples of f32 [4]" + tail);
  EXPECT_EQ(error(bin, {{"x", DType::i64, {4, 1}}}), bin + ": input 'x' takes samples of i64 [4, 1]" + tail);
  EXPECT_EQ(error(bin, {{"x", DType::boolean, {4}}}), bin + ": input 'x' takes samples of bool [4]" + tail);
  EXPECT_EQ(error(bin, {{"x", DType::i16, {4}}}),
            bin +
                ": the tokens are u16, input 'x' takes i16, which does not hold all of them; help: compile for a wider "
                "dtype");
  EXPECT_EQ(error(bin, {ids, {"labels", DType::i64, {3}}}, same),
            bin + ": inputs 'input_ids' and 'labels' take 4 and 3 tokens, the same number required");
  EXPECT_EQ(error(bin, {{"x", DType::i64, {0}}}),
            bin + ": input 'x' takes samples without tokens, at least one required");
}

TEST_F(TokenSamples, FilesThatDoNotFit) {
  EXPECT_EQ(error(bin, {ids}), "cannot open '" + bin + "': No such file or directory");
  writeText(bin, "odd");
  EXPECT_EQ(error(bin, {ids}),
            bin + ": 3 bytes are not a whole number of u16 tokens, the content of a .bin without .idx");
  writeMegatron<uint16_t>({3, 5}, 8);
  std::filesystem::resize_file(prefix + ".bin", 14);
  EXPECT_EQ(error(prefix, {ids}), prefix + ".bin: 14 bytes, 16 required: " + prefix +
                                      ".idx has 8 tokens of u16; help: both files must be of the same run of "
                                      "preprocess_data.py");
  std::filesystem::remove(prefix + ".bin");
  EXPECT_EQ(error(prefix, {ids}), "cannot open '" + prefix + ".bin': No such file or directory");
  std::filesystem::resize_file(prefix + ".idx", 20);
  EXPECT_EQ(error(prefix, {ids}),
            prefix + ".idx: truncated: a file of 20 bytes is not an index of a Megatron data set");
}

TEST_F(TokenSamples, FilesOfLlmC) {
  for (auto [magic, version] : {std::pair(20240520, 1), {20240801, 7}}) {
    std::vector<int32_t> header(256);
    header[0] = magic;
    header[1] = version;
    writeText(bin, bytesOf(header) + bytesOf(counting<uint16_t>(12)));
    EXPECT_EQ(error(bin, {ids}), bin +
                                     ": a token file of llm.c, which begins with a header of 1024 bytes; help: tail -c "
                                     "+1025 of a file with 16-bit tokens is one of nanoGPT");
  }
}

TEST(TokenOffsets, Words) {
  Expected<TokenOffsets> offsets = parseTokenOffsets(std::vector<std::string>{"labels=next", "a=b=same"});
  ASSERT_TRUE(offsets.ok());
  EXPECT_EQ(offsets->at("labels"), TokenOffset::next);
  EXPECT_EQ(offsets->at("a=b"), TokenOffset::same);
  for (const char *word : {"labels", "labels=", "=same", "labels=last", ""})
    EXPECT_EQ(errorOf(parseTokenOffsets(std::vector<std::string>{word})),
              std::string("--tokens ") + word + ": INPUT=same or INPUT=next required");
  EXPECT_EQ(errorOf(parseTokenOffsets(std::vector<std::string>{"x=same", "x=next"})),
            "--tokens x=next: there are two for this input");
}

} // namespace
} // namespace meshplan
