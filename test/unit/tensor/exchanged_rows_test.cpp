//===- exchanged_rows_test.cpp - rows before and after an exchange --------===//
//
// Compared with loops over ranks and experts.
//
//===----------------------------------------------------------------------===//

#include "test/unit/tensor/call_helper.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// The experts of one rank, among those of the group, which begin at `begin`.
struct OwnExperts {
  int64_t begin, first, count;
};

std::vector<Argument> integersOf(OwnExperts experts) {
  return {{"begin", experts.begin}, {"first", experts.first}, {"experts", experts.count}};
}

at::Tensor inOrder(const char *target, const char *name, const at::Tensor &rows, const at::Tensor &counts,
                   OwnExperts experts) {
  return callNamed(target, {{name, rows}, {"counts", counts}}, integersOf(experts))[0];
}

at::Tensor byExpert(const at::Tensor &arrivals, const at::Tensor &counts, OwnExperts experts) {
  return inOrder("meshplan.order_by_expert", "arrivals", arrivals, counts, experts);
}

at::Tensor byRank(const at::Tensor &rows, const at::Tensor &counts, OwnExperts experts) {
  return inOrder("meshplan.order_by_rank", "rows", rows, counts, experts);
}

at::Tensor countsOf(const at::Tensor &counts, OwnExperts experts) {
  return callNamed("meshplan.counts_of_experts", {{"counts", counts}}, integersOf(experts))[0];
}

at::Tensor rankTable(std::vector<int64_t> numbers, int64_t ranks) {
  return at::tensor(numbers, at::kLong).view({ranks, -1});
}

/// Counts [ranks, experts] that differ in what is empty.
struct CountTable {
  const char *name;
  at::Tensor counts;
};

std::vector<CountTable> countTables() {
  return {{"the example of the header", rankTable({2, 1, 0, 1, 1, 3}, 2)},
          {"an expert without rows", rankTable({2, 0, 1, 4, 0, 0, 1, 0, 5}, 3)},
          {"a rank without rows", rankTable({3, 1, 2, 0, 0, 0, 1, 1, 1}, 3)},
          {"all rows for one expert", rankTable({0, 4, 0, 0, 0, 7, 0, 0}, 2)},
          {"no rows", rankTable({0, 0, 0, 0, 0, 0}, 2)},
          {"one rank", rankTable({3, 0, 2, 1}, 1)},
          {"one expert", rankTable({3, 0, 2, 1}, 4)},
          {"not contiguous", rankTable({2, 1, 0, 1, 1, 3}, 2).t()}};
}

/// All experts of the group, and parts of them, also an empty one.
std::vector<OwnExperts> expertsAmong(int64_t count) {
  std::vector<OwnExperts> all{{0, 0, count}, {5, 5, count}, {5, 5 + count, 0}};
  for (int64_t first = 0; first < count; ++first)
    all.push_back({5, 5 + first, 1});
  if (count > 2)
    all.push_back({5, 6, 2});
  return all;
}

/// Which row of the order by rank each row of the order by expert is.
std::vector<int64_t> positionsByLoops(const at::Tensor &counts, OwnExperts experts) {
  std::vector<std::vector<int64_t>> ofExpert(experts.count);
  int64_t next = 0;
  for (int64_t rank = 0; rank < counts.size(0); ++rank)
    for (int64_t expert = 0; expert < experts.count; ++expert)
      for (int64_t i = counts[rank][experts.first - experts.begin + expert].item<int64_t>(); i > 0; --i)
        ofExpert[expert].push_back(next++);
  std::vector<int64_t> positions;
  for (const std::vector<int64_t> &rows : ofExpert)
    positions.insert(positions.end(), rows.begin(), rows.end());
  return positions;
}

/// Rows of numbers that are all different in the dtype.
at::Tensor rowsOf(int64_t count, std::vector<int64_t> features, at::ScalarType type) {
  features.insert(features.begin(), count);
  return at::arange(c10::multiply_integers(features), at::kLong).remainder(251).view(features).to(type);
}

const at::ScalarType typesOfRows[] = {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kLong};

} // namespace

TEST(ExchangedRowsTest, ArrivalsAreOrderedByExpertAndBack) {
  for (const auto &[name, counts] : countTables())
    for (OwnExperts experts : expertsAmong(counts.size(1))) {
      std::vector<int64_t> positions = positionsByLoops(counts, experts);
      at::Tensor index = at::tensor(positions, at::kLong);
      for (at::ScalarType type : typesOfRows)
        for (const std::vector<int64_t> &features : {std::vector<int64_t>{}, {3}, {2, 2}}) {
          at::Tensor arrivals = rowsOf(index.size(0), features, type);
          at::Tensor ordered = byExpert(arrivals, counts, experts);
          EXPECT_TRUE(at::equal(ordered, arrivals.index_select(0, index))) << name << " " << type;
          EXPECT_EQ(ordered.scalar_type(), type);
          at::Tensor back = byRank(ordered, counts, experts);
          EXPECT_TRUE(at::equal(back, arrivals)) << name << " " << type;
          EXPECT_TRUE(back.is_contiguous() && ordered.is_contiguous());
        }
    }
}

TEST(ExchangedRowsTest, TheExampleOfTheHeader) {
  at::Tensor counts = rankTable({2, 1, 0, 1, 1, 3}, 2), arrivals = at::tensor({10, 11, 20, 12, 21});
  EXPECT_TRUE(at::equal(byExpert(arrivals, counts, {0, 0, 2}), at::tensor({10, 11, 12, 20, 21})));
  EXPECT_TRUE(at::equal(byRank(at::tensor({10, 11, 12, 20, 21}), counts, {0, 0, 2}), arrivals));
}

TEST(ExchangedRowsTest, RowsThatAreNotContiguous) {
  at::Tensor counts = rankTable({2, 1, 0, 1, 1, 3}, 2), rows = rowsOf(5, {4}, at::kFloat);
  at::Tensor columns = rows.t().contiguous().t(), part = at::cat({rows, rows}, 1).narrow(1, 4, 4);
  for (const at::Tensor &other : {columns, part}) {
    EXPECT_TRUE(at::equal(byExpert(other, counts, {0, 0, 2}), byExpert(rows, counts, {0, 0, 2})));
    at::Tensor back = byRank(other, counts, {0, 0, 2});
    EXPECT_TRUE(at::equal(back, byRank(rows, counts, {0, 0, 2})));
    EXPECT_TRUE(back.is_contiguous()) << "an exchange sends it";
  }
}

/// Every row is written: none keeps what its memory had before.
TEST(ExchangedRowsTest, NaNMovesAsOtherNumbersDo) {
  at::Tensor counts = rankTable({1, 2, 2, 0}, 2), rows = at::zeros({5, 2});
  rows[1].fill_(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(byExpert(rows, counts, {0, 0, 2}).isnan().sum().item<int64_t>(), 2);
  EXPECT_EQ(byRank(rows, counts, {0, 0, 2}).isnan().sum().item<int64_t>(), 2);
}

TEST(ExchangedRowsTest, CountsOfOwnExpertsAreSumsOverRanks) {
  for (const auto &[name, counts] : countTables())
    for (OwnExperts experts : expertsAmong(counts.size(1))) {
      at::Tensor made = countsOf(counts, experts);
      ASSERT_EQ(made.sizes(), at::IntArrayRef({experts.count})) << name;
      EXPECT_EQ(made.scalar_type(), at::kLong);
      for (int64_t expert = 0; expert < experts.count; ++expert) {
        int64_t sum = 0;
        for (int64_t rank = 0; rank < counts.size(0); ++rank)
          sum += counts[rank][experts.first - experts.begin + expert].item<int64_t>();
        EXPECT_EQ(made[expert].item<int64_t>(), sum) << name;
      }
    }
}

TEST(ExchangedRowsTest, CountsToGatherAreOneRow) {
  at::Tensor counts = at::tensor({2, 0, 5}, at::kLong);
  at::Tensor made = callNamed("meshplan.counts_to_gather", {{"counts", counts}, {"like", at::zeros({7})}})[0];
  EXPECT_TRUE(at::equal(made, counts.view({1, 3})));
  EXPECT_FALSE(made.is_alias_of(counts)) << "the counts may be freed before";
  at::Tensor host = callNamed("meshplan.counts_on_host", {{"self", made}})[0];
  EXPECT_TRUE(at::equal(host, made));
  EXPECT_TRUE(host.is_cpu());
  EXPECT_FALSE(host.is_alias_of(made));
}

TEST(ExchangedRowsTest, CountsThatDoNotFit) {
  auto failure = [](const at::Tensor &counts, OwnExperts experts = {0, 0, 2}, int64_t rows = 5) {
    std::string byExpert = failureOf("meshplan.order_by_expert",
                                     {{"arrivals", at::zeros({rows, 4})}, {"counts", counts}}, integersOf(experts));
    EXPECT_EQ(
        failureOf("meshplan.order_by_rank", {{"rows", at::zeros({rows, 4})}, {"counts", counts}}, integersOf(experts)),
        byExpert);
    return byExpert;
  };
  using testing::HasSubstr;
  at::Tensor right = rankTable({2, 1, 0, 1, 1, 3}, 2);
  EXPECT_THAT(failure(right, {0, 0, 2}, 6), HasSubstr("counts are 5 rows in total, there are 6"));
  EXPECT_THAT(failure(right, {0, 0, 2}, 4), HasSubstr("rank 1 has 1 rows for expert 1, but 0 are left of 4"));
  EXPECT_THAT(failure(right, {6, 7, 2}, 2), HasSubstr("rank 1 has 3 rows for expert 8, but 0 are left of 2"));
  EXPECT_THAT(failure(rankTable({2, 1, -1, 3}, 2)), HasSubstr("rank 1 has -1 rows for expert 0, but 3 are left of 5"));
  const char *outside = "experts 2 to 4 are not among the 3 from 0";
  EXPECT_THAT(failure(right, {0, 2, 2}), HasSubstr(outside));
  EXPECT_THAT(failure(right, {4, 3, 2}), HasSubstr("experts 3 to 5 are not among the 3 from 4"));
  EXPECT_THAT(failure(right, {0, 0, -1}), HasSubstr("experts 0 to -1 are not among the 3 from 0"));
  EXPECT_THAT(failureOf("meshplan.counts_of_experts", {{"counts", right}}, integersOf({0, 2, 2})), HasSubstr(outside));
  const char *form = "counts must be i64 [ranks, experts] in host memory, they are ";
  EXPECT_THAT(failure(right.to(at::kInt)), HasSubstr(std::string(form) + "Int [2, 3] on cpu"));
  EXPECT_THAT(failure(right.flatten()), HasSubstr(std::string(form) + "Long [6] on cpu"));
  EXPECT_THAT(failureOf("meshplan.counts_of_experts", {{"counts", right.flatten()}}, integersOf({0, 0, 2})),
              HasSubstr(form));
  at::Tensor number = at::zeros({});
  EXPECT_THAT(failureOf("meshplan.order_by_expert", {{"arrivals", number}, {"counts", right}}, integersOf({0, 0, 2})),
              HasSubstr("arrivals must have a dim of rows"));
  EXPECT_THAT(failureOf("meshplan.order_by_rank", {{"rows", number}, {"counts", right}}, integersOf({0, 0, 2})),
              HasSubstr("rows must have a dim of rows"));
}
