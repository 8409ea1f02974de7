//===- strides_test.cpp - where the elements of a tensor lie --------------===//
//
// tools/testing/check_strides.py compares many more with PyTorch.
//
//===----------------------------------------------------------------------===//

#include "compiler/sharding/strides.h"
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

TEST(Strides, NewTensorsAreRowMajor) {
  EXPECT_EQ(contiguousStrides({2, 3, 4}), Strides({12, 4, 1}));
  EXPECT_EQ(contiguousStrides({}), Strides());
  EXPECT_EQ(contiguousStrides({2, 0, 4}), Strides({4, 4, 1}));
}

TEST(Strides, DimsOfOneElementDoNotMatter) {
  EXPECT_TRUE((StridedShape{{2, 1, 4}, {4, 77, 1}}.isContiguous()));
  EXPECT_FALSE((StridedShape{{2, 3}, {1, 2}}.isContiguous()));
  EXPECT_TRUE((StridedShape{{0, 3}, {1, 2}}.isContiguous()));
}

TEST(Strides, DenseHasNeitherGapsNorRepeats) {
  EXPECT_TRUE((StridedShape{{2, 3}, {1, 2}}.isDense()));
  EXPECT_FALSE((StridedShape{{2, 3}, {6, 1}}.isDense()));
  EXPECT_FALSE((StridedShape{{2, 3}, {0, 1}}.isDense()));
}

TEST(Strides, ViewsSplitAndMergeDimsThatLieTogether) {
  EXPECT_EQ(viewStrides({{4, 6}, {6, 1}}, {2, 2, 3, 2}), Strides({12, 6, 2, 1}));
  // [2, 4, 6, 8] that lies as [2, 6, 4, 8]: the last dim can be split, heads and rows cannot be merged.
  EXPECT_EQ(viewStrides({{2, 4, 6, 8}, {192, 8, 32, 1}}, {2, 4, 6, 2, 4}), Strides({192, 8, 32, 4, 1}));
  EXPECT_EQ(viewStrides({{2, 4, 6, 8}, {192, 8, 32, 1}}, {8, 6, 8}), std::nullopt);
  EXPECT_EQ(viewStrides({{2, 6, 4, 8}, {192, 32, 8, 1}}, {2, 6, 32}), Strides({192, 32, 1}));
}

TEST(Strides, RepeatedElementsMergeWithRepeatedOnes) {
  EXPECT_EQ(viewStrides({{2, 3, 4}, {0, 0, 1}}, {6, 4}), Strides({0, 1}));
  EXPECT_EQ(viewStrides({{2, 3, 4}, {0, 4, 1}}, {6, 4}), std::nullopt);
}

TEST(Strides, ScalarsAndEmptyTensors) {
  EXPECT_EQ(viewStrides({{}, {}}, {1, 1}), Strides({1, 1}));
  EXPECT_EQ(viewStrides({{0, 4}, {1, 9}}, {2, 0}), Strides({1, 1}));
}

TEST(Strides, ElementwiseResultsKeepTheOrderOfTheirOperands) {
  EXPECT_EQ(elementwiseStrides({2, 3}, StridedShape{{2, 3}, {1, 2}}), Strides({1, 2}));
  // A row-major operand beside a turned one: the first decides.
  const Strides shape = {2, 3}, columns = {3}, rowMajor = {3, 1}, turned = {1, 2}, one = {1};
  EXPECT_EQ(elementwiseStrides(shape, {{shape, rowMajor}, {shape, turned}}), rowMajor);
  EXPECT_EQ(elementwiseStrides(shape, {{shape, turned}, {shape, rowMajor}}), turned);
  // What broadcasts says nothing.
  EXPECT_EQ(elementwiseStrides(shape, {{columns, one}, {shape, turned}}), turned);
}

TEST(Strides, CopiesOfRepeatedElementsAreNew) {
  EXPECT_EQ(copyStrides({{2, 3}, {1, 2}}), Strides({1, 2}));
  EXPECT_EQ(copyStrides({{2, 3}, {0, 1}}), Strides({3, 1}));
}

TEST(Strides, FeaturesOfImagesMayBeInnermost) {
  EXPECT_TRUE((StridedShape{{2, 3, 4, 5}, {60, 1, 15, 3}}.isChannelsLast()));
  EXPECT_FALSE((StridedShape{{2, 3, 4, 5}, {60, 20, 5, 1}}.isChannelsLast()));
  EXPECT_EQ(channelsLastStrides({2, 3, 4, 5}), Strides({60, 1, 15, 3}));
}

} // namespace
