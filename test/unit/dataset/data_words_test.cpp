//===- data_words_test.cpp - values of --data -----------------------------===//

#include "runtime/dataset/data_words.h"

#include "test/unit/dataset/helpers.h"

namespace meshplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

DataWords parse(const std::vector<std::string> &words) {
  Expected<DataWords> data = parseDataWords(words);
  EXPECT_TRUE(data.ok()) << data.status().message();
  return data ? *std::move(data) : DataWords();
}

std::string errorOfWords(const std::vector<std::string> &words) { return errorOf(parseDataWords(words)); }

TEST(DataWords, Paths) {
  DataWords data = parse({"a.safetensors", "folder/b"});
  EXPECT_THAT(data.paths, ElementsAre("a.safetensors", "folder/b"));
  EXPECT_THAT(data.weights, IsEmpty());
}

TEST(DataWords, Weights) {
  DataWords data = parse({"a.bin=0.7", "b=x/c=.3", "d=12", "e=000001.", "f=999999.999999", "g=0.000001"});
  EXPECT_THAT(data.paths, ElementsAre("a.bin", "b=x/c", "d", "e", "f", "g"));
  EXPECT_THAT(data.weights, ElementsAre(700'000, 300'000, 12'000'000, 1'000'000, 999'999'999'999, 1));
}

TEST(DataWords, WhatExistsIsAPath) {
  TemporaryDirectory folder;
  std::string plain = folder / "lr=0.1", prefix = folder / "tokens=2";
  writeText(plain, "x");
  writeText(prefix + ".idx", "x");
  DataWords data = parse({plain, prefix});
  EXPECT_THAT(data.paths, ElementsAre(plain, prefix));
  EXPECT_THAT(parse({plain + "=3"}).paths, ElementsAre(plain));
}

TEST(DataWords, TokenFiles) {
  TemporaryDirectory folder;
  writeText(folder / "text.idx", "x");
  auto has = [](std::vector<std::string> words) { return hasTokenFiles(words); };
  EXPECT_TRUE(has({"a.bin"}));
  EXPECT_TRUE(has({"d.safetensors=1", "a.bin=2"}));
  EXPECT_TRUE(has({folder / "text"}));
  EXPECT_FALSE(has({"d.safetensors", "folder"}));
  EXPECT_FALSE(has({}));
}

TEST(DataWords, BadWeights) {
  for (const char *weight : {"", ".", "0", "0.0", "-1", "+1", "1e3", "x", "nan", "inf", "1.2.3", "1000000", "0.1234567",
                             " 1", "0x1", "1,5", "99999999999999999999999"})
    EXPECT_EQ(errorOfWords({std::string("a=") + weight}),
              std::string("--data a=") + weight + ": weight '" + weight +
                  "', a decimal number above 0 and below 1000000 with at most six decimal places required; "
                  "help: PATH=0.3, or PATH alone");
  EXPECT_EQ(errorOfWords({"=1"}), "--data =1: weight '1', a decimal number above 0 and below 1000000 with at most six "
                                  "decimal places required; help: PATH=0.3, or PATH alone");
}

TEST(DataWords, AllOrNone) {
  EXPECT_EQ(errorOfWords({"a=1", "b", "c=2"}),
            "--data: 2 of 3 data sets have a weight; help: PATH=WEIGHT for each of them, or for none");
  EXPECT_EQ(errorOfWords({}), "no data; help: --data PATH");
}

} // namespace
} // namespace meshplan
