//===- storage_spans_test.cpp ---------------------------------------------===//

#include "runtime/data/storage_spans.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;

std::vector<Range> spansOf(const SliceRanges &ranges, std::vector<int64_t> shape, int64_t gap, size_t most = 100) {
  return storageSpans(ranges, shape, contiguousStrides(shape), gap, most);
}

TEST(StorageSpans, WhatIsNearIsReadInOnePiece) {
  EXPECT_THAT(spansOf({{{2, 3}}, {{0, 10}}}, {10, 10}, 1), ElementsAre(Range{20, 30})) << "whole rows";
  EXPECT_THAT(spansOf({{{0, 4}}, {{2, 4}}}, {10, 10}, 6), ElementsAre(Range{2, 34})) << "parts of rows";
  EXPECT_THAT(spansOf({{{0, 3}}, {{2, 4}}}, {10, 10}, 5), ElementsAre(Range{2, 4}, Range{12, 4}, Range{22, 4}));
  EXPECT_THAT(spansOf({{{0, 2}, {7, 1}}, {{0, 10}}}, {10, 10}, 9), ElementsAre(Range{0, 20}, Range{70, 10}));
  EXPECT_THAT(spansOf({{{0, 2}, {7, 1}}, {{0, 10}}}, {10, 10}, 50), ElementsAre(Range{0, 80}));
  EXPECT_THAT(spansOf({{{0, 4}}, {{0, 2}, {8, 2}}}, {10, 10}, 2),
              ElementsAre(Range{0, 2}, Range{8, 4}, Range{18, 4}, Range{28, 4}, Range{38, 2}));
}

TEST(StorageSpans, ADimAtTheFrontDoesNotReadWhatLiesBetween) {
  // Rows 2 and 3 of each of three matrices of 100 x 10.
  EXPECT_THAT(spansOf({{{0, 3}}, {{2, 2}}, {{0, 10}}}, {3, 100, 10}, 100),
              ElementsAre(Range{20, 20}, Range{1020, 20}, Range{2020, 20}));
}

TEST(StorageSpans, PartsThatAreFarFromEachOtherAreReadApart) {
  EXPECT_THAT(spansOf({{{0, 4}, {500, 2}, {600, 2}}, {{0, 10}}}, {1000, 10}, 100),
              ElementsAre(Range{0, 40}, Range{5000, 20}, Range{6000, 20}));
  EXPECT_THAT(spansOf({{{0, 2}}, {{0, 5}, {300, 5}}}, {2, 400}, 100),
              ElementsAre(Range{0, 5}, Range{300, 105}, Range{700, 5}));
}

TEST(StorageSpans, ATransposedTensorIsReadWhereItLies) {
  const std::vector<int64_t> shape = {8, 5}, strides = {1, 8};
  EXPECT_THAT(storageSpans({{{1, 2}}, {{0, 5}}}, shape, strides, 7, 100), ElementsAre(Range{1, 34}));
  EXPECT_THAT(storageSpans({{{1, 2}}, {{3, 1}}}, shape, strides, 0, 100), ElementsAre(Range{25, 2}));
}

TEST(StorageSpans, TooManyAreOneFromTheFirstToTheLast) {
  EXPECT_THAT(spansOf({{{1, 3}}, {{2, 4}}}, {10, 10}, 5, 3), testing::SizeIs(3));
  EXPECT_THAT(spansOf({{{1, 5}}, {{2, 4}}}, {10, 10}, 5, 3), ElementsAre(Range{12, 44}));
  EXPECT_THAT(storageSpans({{{1, 2}}, {{0, 5}}}, std::vector<int64_t>{8, 5}, std::vector<int64_t>{1, 8}, 6, 3),
              ElementsAre(Range{1, 34}));
}

TEST(StorageSpans, ScalarsEmptySlicesAndExpandedDims) {
  EXPECT_THAT(spansOf({}, {}, 1), ElementsAre(Range{0, 1}));
  EXPECT_THAT(spansOf({{{0, 4}}, {{3, 0}}}, {4, 10}, 1), testing::IsEmpty());
  EXPECT_THAT(spansOf({{}, {{0, 3}}}, {4, 10}, 1), testing::IsEmpty());
  EXPECT_THAT(spansOf({{{0, 0}, {2, 1}}, {{0, 3}}}, {4, 3}, 0), ElementsAre(Range{6, 3})) << "an empty range";
  EXPECT_THAT(storageSpans({{{0, 4}}, {{1, 3}}}, std::vector<int64_t>{4, 10}, std::vector<int64_t>{0, 1}, 1, 100),
              ElementsAre(Range{1, 3}));
}

} // namespace
} // namespace meshplan
