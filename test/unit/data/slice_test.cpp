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
  // It takes no time for each of the rows that have no elements.
  constexpr int64_t rows = int64_t(1) << 60;
  EXPECT_THAT(runsOf({{{0, rows}}, {{2, 0}}}, {rows, 4}), testing::IsEmpty());
  EXPECT_THAT(runsOf({{{0, rows}}, {{0, 0}}}, {rows, 0}, {7, 1}), testing::IsEmpty());
}

TEST(ForEachRun, StridesOfATransposedTensor) {
  EXPECT_THAT(runsOf({{{0, 2}}, {{1, 2}}}, {2, 3}, {1, 2}),
              ElementsAre(CopiedRun{2, 0, 1}, CopiedRun{4, 1, 1}, CopiedRun{3, 2, 1}, CopiedRun{5, 3, 1}));
  // Rows that lie apart, each in one run.
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

TEST(CheckSlice, RangesMustLieInside) {
  std::vector<int64_t> shape = {4, 5};
  EXPECT_TRUE(checkSlice({{{0, 4}}, {{5, 0}}}, shape).ok());
  EXPECT_EQ(checkSlice({{{0, 4}}}, shape).message(), "a slice of 1 dims of a tensor of shape [4, 5]");
  EXPECT_EQ(checkSlice({{{0, 4}}, {{3, 3}}}, shape).message(), "elements 3 to 6 of dim 1 of a tensor of shape [4, 5]");
  EXPECT_FALSE(checkSlice({{{-1, 2}}, {{0, 5}}}, shape).ok());
  EXPECT_FALSE(checkSlice({{{0, INT64_MAX}}, {{0, 5}}}, shape).ok());
}

} // namespace
} // namespace meshplan
