#include "test/unit/tensor/call_helper.h"

#include "runtime/schema/extent.h"
#include <gmock/gmock.h>
#include <limits>

using namespace meshplan;

namespace {

/// The indices of a dim that each rank has.
using Deal = std::vector<at::Tensor>;

/// Runs of indices, the first ones a little longer; some are empty if there are more ranks than indices.
Deal inRuns(int64_t size, int64_t ranks) {
  std::vector<at::Tensor> parts = at::arange(size).tensor_split(ranks);
  return parts;
}

/// Each rank has a run of each half: a dim with two parts.
Deal byParts(int64_t size, int64_t ranks) {
  Deal first = inRuns(size / 2, ranks), second = inRuns(size - size / 2, ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    first[rank] = at::cat({first[rank], second[rank] + size / 2});
  return first;
}

std::vector<Deal> deals(int64_t size) { return {inRuns(size, 1), inRuns(size, 3), byParts(size, 2), inRuns(size, 8)}; }

/// One call of a rank.
at::Tensor partOf(std::string_view target, NamedTensors tensors, const at::Tensor &positions, int64_t dim, int64_t size,
                  std::vector<Argument> literals = {}) {
  tensors.emplace_back("positions", positions);
  literals.insert(literals.end(), {{"dim", dim}, {"size", size}});
  return callNamed(target, tensors, std::move(literals))[0];
}

at::Tensor sumOfGathered(const at::Tensor &self, const at::Tensor &index, int64_t dim, const Deal &deal) {
  at::Tensor sum;
  for (const at::Tensor &positions : deal) {
    at::Tensor part = partOf("meshplan.gather_part", {{"self", self.index_select(dim, positions)}, {"index", index}},
                             positions, dim, self.size(dim));
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

/// The first indices of the extremes of rows of [n, C].
at::Tensor firstPositions(const at::Tensor &self, const at::Tensor &extreme, const Deal &deal) {
  at::Tensor most;
  for (const at::Tensor &positions : deal) {
    at::Tensor part =
        partOf("meshplan.extreme_position", {{"self", self.index_select(1, positions)}, {"extreme", extreme}},
               positions, 1, self.size(1));
    most = most.defined() ? at::maximum(most, part) : part;
  }
  return self.size(1) - most;
}

using Selected = std::pair<at::Tensor, at::Tensor>;

Selected largestOf(const std::vector<Selected> &parts) {
  Selected most = parts.front();
  for (const auto &[values, indices] : parts)
    most = {at::maximum(most.first, values), at::maximum(most.second, indices)};
  return most;
}

/// Rank after rank, over the last dim; each run is contiguous on one rank.
Selected selectedByRanks(const at::Tensor &self, int64_t k, bool largest, const std::vector<Range> &runs,
                         const Deal &deal) {
  Selected heap;
  for (const Range &run : runs) {
    std::vector<Selected> parts;
    for (const at::Tensor &positions : deal) {
      NamedTensors tensors = {{"self", self.index_select(-1, positions)},
                              {"positions", positions},
                              {"values", heap.first},
                              {"indices", heap.second}};
      auto results = callNamed("meshplan.topk_part", tensors,
                               {{"k", k},
                                {"dim", self.dim() - 1},
                                {"largest", largest},
                                {"begin", run.offset},
                                {"end", run.offset + run.size},
                                {"size", self.size(-1)}},
                               2);
      parts.emplace_back(results[0], results[1]);
    }
    heap = largestOf(parts);
  }
  return heap;
}

std::vector<Range> runsOf(const Deal &deal) {
  std::vector<Range> runs;
  for (const at::Tensor &positions : deal)
    if (positions.numel() > 0)
      runs.push_back({positions[0].item<int64_t>(), positions.numel()});
  return runs;
}

} // namespace

TEST(PartsTest, WhatIsGatheredOfPartsAddsUpToTheWhole) {
  at::Tensor self = at::randn({3, 11, 2}), index = at::randint(11, {3, 4, 2}, at::kLong);
  for (const Deal &deal : deals(11))
    EXPECT_TRUE(at::equal(sumOfGathered(self, index, 1, deal), self.gather(1, index)));
  for (const Deal &deal : deals(3))
    EXPECT_TRUE(at::equal(sumOfGathered(self, index.fmod(3), 0, deal), self.gather(0, index.fmod(3))));
}

TEST(PartsTest, AnIndexBehindTheWholeDimIsAnErrorOnEveryRank) {
  NamedTensors tensors = {{"self", at::randn({2, 4})}, {"index", at::full({2, 1}, 12)}, {"positions", at::arange(4)}};
  EXPECT_THAT(failureOf("meshplan.gather_part", tensors, {{"dim", 1}, {"size", 12}}),
              testing::HasSubstr("index 12 at [0, 0] is out of range [0, 12)"));
  tensors.emplace_back("src", at::randn({2, 1}));
  EXPECT_THAT(failureOf("meshplan.scatter_part", tensors, {{"dim", 1}, {"size", 12}}),
              testing::HasSubstr("index 12 at [0, 0] is out of range [0, 12)"));
}

TEST(PartsTest, WhatIsWrittenToPartsIsWhatIsWrittenToTheWhole) {
  at::Tensor self = at::randn({3, 11}), index = at::tensor({4, 10, 4, 0, 2, 1}).view({3, 2}), src = at::randn({3, 2});
  auto written = [&](const Deal &deal, const at::Tensor &source, bool adds) {
    std::vector<at::Tensor> parts, all;
    for (const at::Tensor &positions : deal) {
      all.push_back(positions);
      parts.push_back(partOf("meshplan.scatter_part",
                             {{"self", self.index_select(1, positions)}, {"index", index}, {"src", source}}, positions,
                             1, 11, {{"adds", adds}, {"value", 0.5}}));
    }
    return at::cat(parts, 1).index_select(1, at::cat(all).argsort());
  };
  for (const Deal &deal : deals(11)) {
    EXPECT_TRUE(at::equal(written(deal, src, false), self.scatter(1, index, src)));
    EXPECT_TRUE(at::equal(written(deal, {}, false), self.scatter(1, index, 0.5)));
    EXPECT_TRUE(at::equal(written(deal, src, true), self.scatter_add(1, index, src)));
  }
}

TEST(PartsTest, TheSumAtPositionsOfPartsIsThatOfTheWhole) {
  at::Tensor source = at::randint(9, {3, 5}).to(at::kFloat), index = at::randint(11, {3, 5}, at::kLong);
  at::Tensor whole = at::zeros({3, 11}).scatter_add(1, index, source);
  for (const Deal &deal : deals(11))
    for (const at::Tensor &positions : deal) {
      NamedTensors tensors = {{"source", source}, {"index", index}, {"positions", positions}};
      at::Tensor part = callNamed("meshplan.scatter_sum_part", tensors,
                                  {{"dim", 1}, {"size", std::vector<int64_t>{3, positions.numel()}}})[0];
      EXPECT_TRUE(at::equal(part, whole.index_select(1, positions)));
    }
}

TEST(PartsTest, TheFirstOfEqualExtremesWins) {
  for (at::ScalarType type : {at::kFloat, at::kBFloat16, at::kLong}) {
    at::Tensor self = at::randint(3, {20, 13}).to(type);
    for (const Deal &deal : deals(13)) {
      EXPECT_TRUE(at::equal(firstPositions(self, self.amax(1, true), deal), self.argmax(1, true)));
      EXPECT_TRUE(at::equal(firstPositions(self, self.amin(1, true), deal), self.argmin(1, true)));
    }
  }
}

TEST(PartsTest, WhatIsNoNumberIsAnExtreme) {
  at::Tensor self = at::randint(3, {20, 13}).to(at::kFloat);
  self.masked_fill_(self.eq(1), std::numeric_limits<float>::quiet_NaN());
  for (const Deal &deal : deals(13))
    EXPECT_TRUE(at::equal(firstPositions(self, self.amax(1, true), deal), self.argmax(1, true)));
}

/// PyTorch's own indices, for rows in which most of the selected values occur many times.
TEST(PartsTest, SelectionByRanksHasThePositionsOfTheWholeRow) {
  for (at::ScalarType type : {at::kFloat, at::kBFloat16, at::kLong, at::kDouble})
    for (int64_t k : {1, 2, 5})
      for (bool largest : {true, false}) {
        at::Tensor self = at::randint(4, {30, 64 * k + 7}).to(type);
        auto [values, indices] = self.topk(k, -1, largest);
        for (int64_t ranks : {1, 2, 3, 7}) {
          Deal deal = inRuns(self.size(-1), ranks);
          auto [found, positions] = selectedByRanks(self, k, largest, runsOf(deal), deal);
          EXPECT_TRUE(at::equal(found, values) && at::equal(positions, indices)) << k << ", " << ranks;
        }
      }
}

/// With fewer elements than are selected, the heap is not full yet.
TEST(PartsTest, SelectionGoesOnFromFewElements) {
  at::Tensor self = at::randint(5, {10, 330}).to(at::kFloat);
  self.masked_fill_(self.eq(3), std::numeric_limits<float>::quiet_NaN());
  Deal deal = {at::arange(2), at::arange(2, 4), at::arange(4, 330)};
  for (bool largest : {true, false}) {
    auto [values, indices] = self.topk(5, -1, largest);
    auto [found, positions] = selectedByRanks(self, 5, largest, runsOf(deal), deal);
    EXPECT_TRUE(at::equal(positions, indices));
    EXPECT_TRUE(at::equal(found.nan_to_num(9), values.nan_to_num(9)));
  }
}

/// A rank with two runs is called once for each.
TEST(PartsTest, SelectionOfADimInParts) {
  at::Tensor self = at::randint(4, {30, 200}).to(at::kFloat);
  Deal deal = byParts(200, 2);
  auto [values, indices] = self.topk(3);
  auto [found, positions] = selectedByRanks(self, 3, true, {{0, 50}, {50, 50}, {100, 50}, {150, 50}}, deal);
  EXPECT_TRUE(at::equal(found, values) && at::equal(positions, indices));
}

namespace {

/// The call of a rank; `byDim` has the number of each dim's index, -1 without one.
at::Tensor indexed(std::string_view target, std::string name, const at::Tensor &tensor, const at::Tensor &positions,
                   const std::vector<at::Tensor> &indices, std::vector<int> byDim, std::vector<Argument> literals) {
  std::vector<at::Tensor> tensors{tensor, positions};
  tensors.insert(tensors.end(), indices.begin(), indices.end());
  ValueListArgument list;
  for (int number : byDim)
    list.values.push_back(number < 0 ? -1 : number + 2);
  literals.insert(literals.end(), {value(std::move(name), 0), value("positions", 1), {"indices", list}});
  return callOperator(target, tensors, std::move(literals))[0];
}

} // namespace

TEST(PartsTest, SeveralIndicesOfWhichOneIsOfADividedDim) {
  at::Tensor self = at::randn({5, 3, 9}, at::kDouble), rows = at::tensor({0, 4, 2, 0}).view({4, 1});
  at::Tensor classes = at::tensor({8, 0, 3}), gradient = at::randn({4, 3, 3}, at::kDouble);
  c10::List<std::optional<at::Tensor>> both{{rows, std::nullopt, classes}};
  at::Tensor expected = at::index(self, both);
  at::Tensor sums = at::index_put(at::zeros_like(self), both, gradient, /*accumulate=*/true);
  for (const Deal &deal : deals(9)) {
    at::Tensor sum = at::zeros({4, 3, 3}, at::kDouble);
    for (const at::Tensor &positions : deal) {
      at::Tensor part = self.index_select(2, positions);
      sum += indexed("meshplan.index_part", "self", part, positions, {rows, classes}, {0, -1, 1},
                     {{"dim", int64_t(2)}, {"size", int64_t(9)}, {"first_index_dim", int64_t(0)}});
      at::Tensor own = indexed("meshplan.index_sum_part", "source", gradient, positions, {rows, classes}, {0, -1, 1},
                               {{"dim", int64_t(2)}, {"size", part.sizes().vec()}, {"first_index_dim", int64_t(0)}});
      EXPECT_TRUE(at::allclose(own, sums.index_select(2, positions), 1e-12, 1e-12));
    }
    EXPECT_TRUE(at::equal(sum, expected));
  }
}

/// Sums the addends of `self`, sharded over its last dim.
static at::Tensor sumOfAddends(const at::Tensor &self, std::vector<Argument> arguments, int64_t count) {
  arguments.push_back(value("self", 0));
  arguments.push_back({"count", count});
  at::Tensor sum;
  for (const at::Tensor &piece : self.tensor_split(3, -1)) {
    at::Tensor addend = callOperator("meshplan.mean_addend", {piece}, arguments)[0];
    sum = sum.defined() ? sum + addend : addend;
  }
  return sum;
}

TEST(MeanTest, AddendsAddUpToTheMean) {
  at::Tensor self = at::randn({2, 5, 7}, at::kDouble);
  EXPECT_LT(difference(sumOfAddends(self, {{"dim", std::vector<int64_t>{-1}}, {"keepdim", true}}, 7),
                       self.mean(at::IntArrayRef({-1}), /*keepdim=*/true)),
            1e-14);
  EXPECT_LT(
      difference(sumOfAddends(self, {{"dim", std::vector<int64_t>{0, 2}}}, 14), self.mean(at::IntArrayRef({0, 2}))),
      1e-14);
  EXPECT_LT(difference(sumOfAddends(self, {}, 70), self.mean()), 1e-14);
}

TEST(MeanTest, ShardsWithoutElements) {
  at::Tensor self = at::randn({3, 2}, at::kDouble);
  EXPECT_LT(difference(sumOfAddends(self, {{"dim", std::vector<int64_t>{1}}}, 2), self.mean(at::IntArrayRef({1}))),
            1e-14);
}

TEST(MeanTest, HalfTypesAddInFloat) {
  at::Tensor self = at::full({1, 6000}, 1.0, at::kBFloat16);
  at::Tensor mean = sumOfAddends(self, {{"dim", std::vector<int64_t>{1}}}, 6000);
  EXPECT_EQ(mean.scalar_type(), at::kBFloat16);
  EXPECT_LT(difference(mean, at::ones({1})), 0.01);
}

TEST(MeanTest, OtherElementTypesOnRequest) {
  at::Tensor integers = at::randint(-50, 50, {4, 9}, at::kLong);
  at::Tensor mean = sumOfAddends(integers, {{"dim", std::vector<int64_t>{1}}, {"dtype", DType::f64}}, 9);
  EXPECT_EQ(mean.scalar_type(), at::kDouble);
  EXPECT_LT(difference(mean, integers.mean(at::IntArrayRef({1}), false, at::kDouble)), 1e-14);
  at::Tensor halves = at::randn({4, 9}).to(at::kBFloat16);
  mean = sumOfAddends(halves, {{"dim", std::vector<int64_t>{1}}, {"dtype", DType::f32}}, 9);
  EXPECT_EQ(mean.scalar_type(), at::kFloat);
  EXPECT_LT(difference(mean, halves.to(at::kDouble).mean(1)), 1e-6);
}

TEST(MeanTest, NoDimsAreAllDims) {
  at::Tensor self = at::randn({3, 6}, at::kDouble);
  for (bool keepdim : {false, true}) {
    at::Tensor all = sumOfAddends(self, {{"dim", std::vector<int64_t>{}}, {"keepdim", keepdim}}, 18);
    EXPECT_EQ(all.dim(), keepdim ? 2 : 0);
    EXPECT_LT(difference(all.reshape({}), self.mean()), 1e-14);
  }
}

TEST(MeanTest, IntegersHaveNoMeanOfTheirOwn) {
  std::vector<Argument> arguments = {value("self", 0), {"count", int64_t(2)}};
  auto call = prepareCall("meshplan.mean_addend", arguments, {1});
  ASSERT_TRUE(call.ok());
  for (auto [type, name] : {std::pair(at::kLong, "Long"), std::pair(at::kBool, "Bool")}) {
    std::vector<Tensor> values = {wrap(at::ones({2}, type)), Tensor()};
    EXPECT_EQ((*call)->run(values).message(), std::string("the mean of ") + name + " is not a number of that type");
  }
}
