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
