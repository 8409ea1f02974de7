//===- philox_test.cpp - random words -------------------------------------===//
//
// The words of known counters come from Random123's `kat_vectors`, which the authors of the generator
// publish.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/philox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

using namespace meshplan;
using testing::ElementsAre;

namespace {

TEST(Philox, KnownAnswers) {
  constexpr uint32_t all = 0xffffffff;
  EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox({all, all, all, all}, {all, all}), ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

/// Word `index` of a stream, by its definition.
uint32_t drawnWord(const RandomStream &stream, uint64_t index) {
  uint64_t counter = index / 4;
  return philox({uint32_t(counter), uint32_t(counter >> 32), stream.number, stream.step},
                {uint32_t(stream.seed), uint32_t(stream.seed >> 32)})[index % 4];
}

void expectWords(const RandomStream &stream, uint64_t first, size_t count) {
  std::vector<uint32_t> words(count);
  randomWords(stream, first, words);
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(words[i], drawnWord(stream, first + i)) << "word " << first + i << " of " << count << " from " << first;
}

TEST(RandomWords, RunsBeginAndEndAnywhere) {
  for (uint64_t first : {0, 1, 2, 3, 4, 61, 64})
    for (size_t count : {0, 1, 3, 4, 63, 64, 65, 130})
      expectWords({.seed = 7, .number = 5, .step = 3}, first, count);
}

TEST(RandomWords, CountersAndSeedsAreLong) {
  RandomStream stream{.seed = 0x1234'5678'9abc, .number = 0xffffffff, .step = 0x80000000};
  expectWords(stream, (uint64_t(1) << 34) - 9, 100);
  expectWords(stream, uint64_t(1) << 50, 70);
}

TEST(RandomWords, EveryPartOfTheStreamCounts) {
  auto first = [](RandomStream stream) {
    uint32_t own = 0;
    randomWords(stream, 0, {&own, 1});
    return own;
  };
  RandomStream stream{.seed = 1, .number = 1, .step = 1};
  std::vector<uint32_t> words{first(stream)};
  for (RandomStream other : {RandomStream{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {uint64_t(1) << 32, 1, 1}})
    words.push_back(first(other));
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::unique(words).size(), 0u);
}

} // namespace
