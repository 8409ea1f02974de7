//===- layer_numbers_test.cpp - the numbers in paths of modules -----------===//

#include "compiler/draft/layer_numbers.h"
#include "gtest/gtest.h"

using namespace meshplan;

TEST(LayerNumbers, AllLayersAreAStar) {
  LayerNumbers layers({"h.0.up", "h.1.up", "h.0.down"});
  EXPECT_EQ(layers.patternOf({"h.0.up", "h.1.up"}), "h.*.up");
  EXPECT_EQ(layers.patternOf({"h.0.up"}), "h.0.up");
  EXPECT_EQ(layers.patternOf({"h.0.down"}), "h.*.down");
}

TEST(LayerNumbers, SomeAreAList) {
  LayerNumbers layers({"0", "1", "2", "3", "5", "7"});
  EXPECT_EQ(layers.patternOf({"0", "1", "2", "5"}), "{0..2, 5}");
  EXPECT_EQ(layers.patternOf({"0", "1"}), "{0, 1}");
}

TEST(LayerNumbers, EachNumberHasItsOwnList) {
  LayerNumbers layers({"s.0.conv.0", "s.0.conv.1", "s.1.conv.0", "s.1.conv.1"});
  EXPECT_EQ(layers.patternOf({"s.0.conv.1", "s.1.conv.1"}), "s.*.conv.1");
  EXPECT_EQ(layers.patternOf({"s.1.conv.0", "s.1.conv.1"}), "s.1.conv.*");
  EXPECT_EQ(layers.patternOf({"s.0.conv.0", "s.1.conv.1"}), std::nullopt); // lists would match all four
}

TEST(LayerNumbers, ANumberAloneStays) {
  LayerNumbers layers({"classifier.1", "norm"});
  EXPECT_EQ(layers.patternOf({"classifier.1"}), "classifier.1");
  EXPECT_EQ(layers.patternOf({"norm"}), "norm");
}

TEST(LayerNumbers, RunsOfThreeAreRanges) {
  LayerNumbers layers({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "12"});
  EXPECT_EQ(layers.patternOf({"0", "1", "3", "4", "5", "8", "9", "10"}), "{0, 1, 3..5, 8..10}");
  EXPECT_EQ(layers.patternOf({"10", "9", "8"}), "{8..10}") << "in the order of numbers, not of texts";
  EXPECT_EQ(layers.patternOf({"12"}), "12");
  EXPECT_EQ(layers.patternOf({"10", "12"}), "{10, 12}");
}

TEST(LayerNumbers, OnlyPathsOfTheSameNamesCount) {
  LayerNumbers layers({"h.0.up", "h.1.up", "h.2.up", "g.0.up", "h.3.down", "h.0.up.0"});
  EXPECT_EQ(layers.patternOf({"h.0.up", "h.1.up", "h.2.up"}), "h.*.up") << "h.3 has none";
  EXPECT_EQ(layers.patternOf({"h.0.up", "h.1.up"}), "h.{0, 1}.up");
  EXPECT_EQ(layers.patternOf({"g.0.up"}), "g.0.up") << "it stands alone";
}

TEST(LayerNumbers, AnOuterStarMayNeedAnInnerList) {
  LayerNumbers layers({"s.0.c.0", "s.0.c.1", "s.0.c.2", "s.1.c.0", "s.1.c.1", "s.1.c.2"});
  EXPECT_EQ(layers.patternOf({"s.0.c.0", "s.0.c.2", "s.1.c.0", "s.1.c.2"}), "s.*.c.{0, 2}");
  EXPECT_EQ(layers.patternOf({"s.0.c.0", "s.0.c.1", "s.0.c.2", "s.1.c.0", "s.1.c.1", "s.1.c.2"}), "s.*.c.*");
  EXPECT_EQ(layers.patternOf({"s.0.c.0", "s.0.c.1", "s.1.c.1", "s.1.c.2"}), std::nullopt);
}

TEST(LayerNumbers, NumbersAreTexts) {
  // A list would print "1", and "01" is a different module.
  LayerNumbers layers({"h.01.up", "h.02.up", "h.3.down"});
  EXPECT_EQ(layers.patternOf({"h.01.up"}), std::nullopt);
  EXPECT_EQ(layers.patternOf({"h.3.down"}), "h.3.down");
  EXPECT_EQ(LayerNumbers({"h.99999999999999999999", "h.0"}).patternOf({"h.0"}), std::nullopt);
}

TEST(LayerNumbers, AStarMatchesNamesToo) {
  LayerNumbers layers({"h.0.up", "h.1.up", "h.extra.up", "h.0.down", "h.1.down", "h.extra.up.0"});
  EXPECT_EQ(layers.patternOf({"h.0.up", "h.1.up"}), "h.{0, 1}.up");
  EXPECT_EQ(layers.patternOf({"h.0.down", "h.1.down"}), "h.*.down");
  LayerNumbers nested({"s.0.c.0", "s.0.c.1", "s.1.c.0", "s.1.c.1", "s.0.c.norm"});
  EXPECT_EQ(nested.patternOf({"s.0.c.0", "s.0.c.1", "s.1.c.0", "s.1.c.1"}), "s.*.c.{0, 1}")
      << "the outer one may be a star as long as the inner one lists numbers";
}
