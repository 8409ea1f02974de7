//===- slice_test.cpp -----------------------------------------------------===//

#include "runtime/data/slice.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;
using CopiedRun = std::tuple<int64_t, int64_t, int64_t>;

std::vector<CopiedRun> runsOf(const SliceRanges &ranges, const std::vector<int64_t> &shape,
                              const std::vector<int64_t> &strides) {
  std::vector<CopiedRun> runs;
  Status status = forEachRun(ranges, shape, strides, [&](int64_t global, int64_t local, int64_t count) {
    runs.emplace_back(global, local, count);
    return Status();
  });
  EXPECT_TRUE(status.ok());
  return runs;
}

std::vector<CopiedRun> runsOf(const SliceRanges &ranges, const std::vector<int64_t> &shape) {
  return runsOf(ranges, shape, contiguousStrides(shape));
}

/// Row-major indices of a slice's elements in a tensor of `shape`, in the order of the local tensor.
std::vector<int64_t> placesOf(const SliceRanges &ranges, const std::vector<int64_t> &shape) {
  std::vector<int64_t> places = {0};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t place : places)
      for (const Range &range : ranges[dim])
        for (int64_t i = range.offset; i < range.offset + range.size; ++i)
          next.push_back(place * shape[dim] + i);
    places = std::move(next);
  }
  return places;
}

TEST(SlicesOfRun, AreTheElementsOfTheRunInOrder) {
  struct Case {
    std::vector<int64_t> shape;
    SliceRanges ranges;
  };
  const Case cases[] = {{{}, {}},
                        {{7}, {{{2, 4}}}},
                        {{9}, {{{0, 2}, {4, 3}}}},
                        {{4, 3}, {{{0, 4}}, {{0, 3}}}},
                        {{5, 4}, {{{1, 3}}, {{1, 2}}}},
                        {{6, 4}, {{{0, 2}, {4, 1}}, {{0, 1}, {2, 2}}}}, // parts in both dims
                        {{2, 3, 4}, {{{0, 2}}, {{0, 3}}, {{0, 4}}}},
                        {{3, 4, 5}, {{{1, 2}}, {{0, 2}, {3, 1}}, {{0, 2}, {3, 2}}}},
                        {{2, 1, 3, 2}, {{{0, 2}}, {{0, 1}}, {{1, 2}}, {{0, 2}}}},
                        {{3, 4}, {{{0, 0}}, {{0, 4}}}}, // an empty shard
                        {{3, 4}, {{{0, 3}}, {{2, 0}}}}};
  for (const Case &each : cases) {
    std::vector<int64_t> places = placesOf(each.ranges, each.shape);
    auto count = static_cast<int64_t>(places.size());
    for (int64_t begin = 0; begin <= count; ++begin)
      for (int64_t end = begin; end <= count; ++end) {
        std::vector<int64_t> found;
        std::vector<SliceRanges> slices = slicesOfRun(each.ranges, {begin, end - begin});
        EXPECT_LE(slices.size(), 2 * each.shape.size() + 1);
        for (const SliceRanges &slice : slices) {
          EXPECT_TRUE(checkSlice(slice, each.shape).ok());
          for (int64_t place : placesOf(slice, each.shape))
            found.push_back(place);
        }
        EXPECT_EQ(found, std::vector<int64_t>(places.begin() + begin, places.begin() + end))
            << "elements " << begin << " to " << end << " of a slice of " << testing::PrintToString(each.shape);
      }
  }
}

TEST(SlicesOfRun, WholeRowsAreOneSlice) {
  SliceRanges whole = wholeTensor(std::vector<int64_t>{6, 5});
  EXPECT_THAT(slicesOfRun(whole, {0, 30}), ElementsAre(whole));
  EXPECT_THAT(slicesOfRun(whole, {10, 15}), ElementsAre(SliceRanges{{{2, 3}}, {{0, 5}}}));
  // The rest of a row, whole rows, the start of one.
  EXPECT_THAT(slicesOfRun(whole, {3, 14}), ElementsAre(SliceRanges{{{0, 1}}, {{3, 2}}}, SliceRanges{{{1, 2}}, {{0, 5}}},
                                                       SliceRanges{{{3, 1}}, {{0, 2}}}));
  EXPECT_THAT(slicesOfRun(whole, {6, 3}), ElementsAre(SliceRanges{{{1, 1}}, {{1, 3}}}));
  EXPECT_THAT(slicesOfRun(whole, {6, 0}), testing::IsEmpty());
}

TEST(LocalPart, CountsAcrossRanges) {
  const std::vector<Range> ranges = {{2, 3}, {10, 4}};
  EXPECT_THAT(localPart(ranges, 0, 7), ElementsAre(Range{2, 3}, Range{10, 4}));
  EXPECT_THAT(localPart(ranges, 1, 3), ElementsAre(Range{3, 2}, Range{10, 1}));
  EXPECT_THAT(localPart(ranges, 3, 2), ElementsAre(Range{10, 2}));
  EXPECT_THAT(localPart(ranges, 5, 0), testing::IsEmpty());
}

TEST(ForEachRun, RunsAreAsLongAsPossible) {
  EXPECT_THAT(runsOf(wholeTensor(std::vector<int64_t>{4, 5, 6}), {4, 5, 6}), ElementsAre(CopiedRun{0, 0, 120}));
  EXPECT_THAT(runsOf({{{1, 2}}, {{0, 5}}, {{0, 6}}}, {4, 5, 6}), ElementsAre(CopiedRun{30, 0, 60}));
  EXPECT_THAT(runsOf({{{0, 2}}, {{3, 2}}, {{0, 6}}}, {2, 5, 6}),
              ElementsAre(CopiedRun{18, 0, 12}, CopiedRun{48, 12, 12}));
  EXPECT_THAT(runsOf({{{0, 2}}, {{1, 3}}}, {2, 5}), ElementsAre(CopiedRun{1, 0, 3}, CopiedRun{6, 3, 3}));
  EXPECT_THAT(runsOf({{{0, 2}, {3, 1}}, {{0, 5}}}, {4, 5}), ElementsAre(CopiedRun{0, 0, 10}, CopiedRun{15, 10, 5}));
}

TEST(ForEachRun, ScalarsAndEmptyDims) {
  EXPECT_THAT(runsOf({}, {}), ElementsAre(CopiedRun{0, 0, 1}));
  EXPECT_THAT(runsOf({{{0, 0}}, {{0, 3}}}, {0, 3}), testing::IsEmpty());
  EXPECT_THAT(runsOf({{{0, 2}}, {{4, 0}}}, {2, 4}), testing::IsEmpty());
  // It must not take time for each of the empty rows.
  constexpr int64_t rows = int64_t(1) << 60;
  EXPECT_THAT(runsOf({{{0, rows}}, {{2, 0}}}, {rows, 4}), testing::IsEmpty());
  EXPECT_THAT(runsOf({{{0, rows}}, {{0, 0}}}, {rows, 0}, {7, 1}), testing::IsEmpty());
}

TEST(ForEachRun, StridesOfATransposedTensor) {
  EXPECT_THAT(runsOf({{{0, 2}}, {{1, 2}}}, {2, 3}, {1, 2}),
              ElementsAre(CopiedRun{2, 0, 1}, CopiedRun{4, 1, 1}, CopiedRun{3, 2, 1}, CopiedRun{5, 3, 1}));
  // Rows with gaps between them, each in one run.
  EXPECT_THAT(runsOf(wholeTensor(std::vector<int64_t>{2, 3}), {2, 3}, {10, 1}),
              ElementsAre(CopiedRun{0, 0, 3}, CopiedRun{10, 3, 3}));
}

TEST(ForEachRun, VisitsExactlyTheElementsOfTheSlice) {
  const std::vector<int64_t> shape = {4, 3, 5};
  const SliceRanges slices[] = {{{{1, 2}}, {{0, 3}}, {{2, 3}}},
                                {{{0, 1}, {2, 2}}, {{1, 1}}, {{0, 5}}},
                                {{{0, 4}}, {{0, 1}, {2, 1}}, {{0, 2}, {4, 1}}}};
  for (const SliceRanges &ranges : slices) {
    std::vector<int64_t> expected, actual(elementCount(sliceShape(ranges)), -1);
    for (const Range &a : ranges[0])
      for (int64_t i = a.offset; i < a.offset + a.size; ++i)
        for (const Range &b : ranges[1])
          for (int64_t j = b.offset; j < b.offset + b.size; ++j)
            for (const Range &c : ranges[2])
              for (int64_t k = c.offset; k < c.offset + c.size; ++k)
                expected.push_back((i * 3 + j) * 5 + k);
    for (auto [global, local, count] : runsOf(ranges, shape))
      for (int64_t i = 0; i < count; ++i)
        actual[local + i] = global + i;
    EXPECT_EQ(actual, expected);
  }
}

TEST(ForEachRun, StopsAtTheFirstFailure) {
  int calls = 0;
  std::vector<int64_t> shape = {3, 2};
  Status status = forEachRun({{{0, 3}}, {{0, 1}}}, shape, contiguousStrides(shape), [&](int64_t, int64_t, int64_t) {
    return ++calls == 2 ? Status(StatusCode::io, "disk full") : Status();
  });
  EXPECT_EQ(status.message(), "disk full");
  EXPECT_EQ(calls, 2);
}

TEST(ForEachRun, RangesThatTouchAreRunsOfTheirOwn) {
  EXPECT_THAT(runsOf({{{0, 1}, {1, 2}}, {{0, 4}}}, {4, 4}), ElementsAre(CopiedRun{0, 0, 4}, CopiedRun{4, 4, 8}));
  EXPECT_THAT(runsOf({{{2, 1}, {0, 1}}, {{0, 4}}}, {4, 4}), ElementsAre(CopiedRun{8, 0, 4}, CopiedRun{0, 4, 4}))
      << "in the order of the list, which is that of the local tensor";
  EXPECT_THAT(runsOf({{{1, 0}, {3, 1}}}, {4}), ElementsAre(CopiedRun{3, 0, 1})) << "an empty one is not a run";
}

TEST(ForEachRun, DimsOfOneMeltWhateverTheirStride) {
  EXPECT_THAT(runsOf(wholeTensor(std::vector<int64_t>{3, 1, 4}), {3, 1, 4}), ElementsAre(CopiedRun{0, 0, 12}));
  // The stride of a dim of size 1 is arbitrary; the runs may be shorter, but the elements are the same.
  EXPECT_THAT(runsOf(wholeTensor(std::vector<int64_t>{2, 1, 4}), {2, 1, 4}, {4, 99, 1}),
              ElementsAre(CopiedRun{0, 0, 4}, CopiedRun{4, 4, 4}));
}

TEST(Slices, ShapesCountsAndStrides) {
  EXPECT_THAT(sliceShape({}), testing::IsEmpty());
  EXPECT_THAT(sliceShape({{{0, 2}, {5, 3}}, {}, {{7, 0}}}), ElementsAre(5, 0, 0));
  EXPECT_EQ(elementCount(std::vector<int64_t>{}), 1);
  EXPECT_EQ(elementCount(std::vector<int64_t>{3, 0, 5}), 0);
  EXPECT_EQ(elementCount(std::vector<int64_t>{1 << 20, 1 << 20}), int64_t(1) << 40);
  EXPECT_THAT(contiguousStrides(std::vector<int64_t>{}), testing::IsEmpty());
  EXPECT_THAT(contiguousStrides(std::vector<int64_t>{4, 3, 5}), ElementsAre(15, 5, 1));
  EXPECT_THAT(contiguousStrides(std::vector<int64_t>{4, 0, 5}), ElementsAre(0, 5, 1));
}

TEST(Slices, PositionsOfElements) {
  EXPECT_THAT(positionOf(0, {}), testing::IsEmpty());
  EXPECT_THAT(positionOf(17, std::vector<int64_t>{2, 3, 4}), ElementsAre(1, 1, 1));
  EXPECT_THAT(positionOf(3, std::vector<int64_t>{4, 1}), ElementsAre(3, 0));
}

TEST(CheckSlice, RangesMustLieInside) {
  std::vector<int64_t> shape = {4, 5};
  EXPECT_TRUE(checkSlice({{{0, 4}}, {{5, 0}}}, shape).ok());
  EXPECT_EQ(checkSlice({{{0, 4}}}, shape).message(), "a slice of 1 dims of a tensor of shape [4, 5]");
  EXPECT_EQ(checkSlice({{{0, 4}}, {{3, 3}}}, shape).message(), "elements 3 to 6 of dim 1 of a tensor of shape [4, 5]");
  EXPECT_FALSE(checkSlice({{{-1, 2}}, {{0, 5}}}, shape).ok());
  EXPECT_FALSE(checkSlice({{{0, INT64_MAX}}, {{0, 5}}}, shape).ok());
  EXPECT_TRUE(checkSlice({{{4, 0}}, {{0, 0}}}, shape).ok()) << "nothing, at the end";
  EXPECT_FALSE(checkSlice({{{5, 0}}, {{0, 5}}}, shape).ok()) << "nothing, after it";
  EXPECT_FALSE(checkSlice({{{2, -1}}, {{0, 5}}}, shape).ok());
  EXPECT_FALSE(checkSlice({{{0, 4}}, {{0, 5}}, {}}, shape).ok());
  EXPECT_FALSE(checkSlice({{{0, 1}, {4, 1}}, {{0, 5}}}, shape).ok()) << "each of several ranges";
}

TEST(CopySlice, TakesRowsOfATransposedTensorAndRoundsThem) {
  // [[0, 2, 4], [1, 3, 5]], stored by columns.
  const float stored[] = {0, 1, 2, 3, 4.00390625f, 5};
  const std::vector<int64_t> shape = {2, 3}, strides = {1, 2};
  const SliceRanges last = {{{0, 2}}, {{2, 1}, {0, 1}}};
  float same[4];
  EXPECT_TRUE(copySlice(reinterpret_cast<const std::byte *>(stored), DType::f32, last, shape, strides,
                        reinterpret_cast<std::byte *>(same), DType::f32)
                  .ok());
  EXPECT_THAT(same, ElementsAre(4.00390625f, 0, 5, 1));
  uint16_t rounded[4];
  EXPECT_TRUE(copySlice(reinterpret_cast<const std::byte *>(stored), DType::f32, last, shape, strides,
                        reinterpret_cast<std::byte *>(rounded), DType::bf16)
                  .ok());
  EXPECT_THAT(rounded, ElementsAre(0x4080, 0, 0x40a0, 0x3f80)) << "the upper halves of 4, 0, 5 and 1";
}

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
