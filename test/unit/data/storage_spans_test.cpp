//===- storage_spans_test.cpp ---------------------------------------------===//

#include "runtime/data/storage_spans.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;

TEST(StorageSpans, WhatIsNearIsReadInOnePiece) {
  const std::vector<int64_t> strides = {10, 1};
  EXPECT_THAT(storageSpans({{{2, 3}}, {{0, 10}}}, strides, 1), ElementsAre(Range{20, 30})) << "whole rows";
  EXPECT_THAT(storageSpans({{{0, 4}}, {{2, 4}}}, strides, 6), ElementsAre(Range{2, 34})) << "halves of rows";
  EXPECT_THAT(storageSpans({{{0, 3}}, {{2, 4}}}, strides, 5), ElementsAre(Range{2, 4}, Range{12, 4}, Range{22, 4}));
  EXPECT_THAT(storageSpans({{{0, 2}, {7, 1}}, {{0, 10}}}, strides, 9), ElementsAre(Range{0, 20}, Range{70, 10}));
  EXPECT_THAT(storageSpans({{{0, 2}, {7, 1}}, {{0, 10}}}, strides, 50), ElementsAre(Range{0, 80}));
  EXPECT_THAT(storageSpans({{{0, 4}}, {{0, 2}, {8, 2}}}, strides, 2),
              ElementsAre(Range{0, 2}, Range{8, 4}, Range{18, 4}, Range{28, 4}, Range{38, 2}));
}

TEST(StorageSpans, ADimAtTheFrontDoesNotReadWhatLiesBetween) {
  // Rows 2 and 3 of each of three matrices of 100 x 10.
  EXPECT_THAT(storageSpans({{{0, 3}}, {{2, 2}}, {{0, 10}}}, std::vector<int64_t>{1000, 10, 1}, 100),
              ElementsAre(Range{20, 20}, Range{1020, 20}, Range{2020, 20}));
}

TEST(StorageSpans, PartsThatAreFarFromEachOtherAreReadApart) {
  EXPECT_THAT(storageSpans({{{0, 4}, {500, 2}, {600, 2}}, {{0, 10}}}, std::vector<int64_t>{10, 1}, 100),
              ElementsAre(Range{0, 40}, Range{5000, 20}, Range{6000, 20}));
  EXPECT_THAT(storageSpans({{{0, 2}}, {{0, 5}, {300, 5}}}, std::vector<int64_t>{400, 1}, 100),
              ElementsAre(Range{0, 5}, Range{300, 105}, Range{700, 5}));
}

TEST(StorageSpans, TheOrderOfTheStorageNotOfTheTensor) {
  EXPECT_THAT(storageSpans({{{1, 2}}, {{0, 5}}}, std::vector<int64_t>{1, 8}, 6), ElementsAre(Range{1, 34}));
  EXPECT_THAT(storageSpans({{{1, 2}}, {{3, 1}}}, std::vector<int64_t>{1, 8}, 1), ElementsAre(Range{25, 2}));
}

TEST(StorageSpans, ScalarsEmptySlicesAndExpandedDims) {
  EXPECT_THAT(storageSpans({}, {}, 1), ElementsAre(Range{0, 1}));
  EXPECT_THAT(storageSpans({{{0, 4}}, {{3, 0}}}, std::vector<int64_t>{10, 1}, 1), testing::IsEmpty());
  EXPECT_THAT(storageSpans({{}, {{0, 3}}}, std::vector<int64_t>{10, 1}, 1), testing::IsEmpty());
  EXPECT_THAT(storageSpans({{{0, 4}}, {{1, 3}}}, std::vector<int64_t>{0, 1}, 1), ElementsAre(Range{1, 3}));
}

} // namespace
} // namespace meshplan
