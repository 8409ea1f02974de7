//===- index_fault_test.cpp - messages about an index out of range --------===//

#include "runtime/exec/steps/index_fault.h"

#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::EndsWith;

namespace {

/// Rows of a table of six; two ranks have four of the ids each.
class IndexFaultTest : public testing::Test {
protected:
  /// The failure of reading the table with `indices`, which are computed from the ids.
  std::string failure(int indices, std::vector<TestDim> dims) {
    int weight = builder.parameter({"w"}, {{6}, {3}});
    dims.push_back({3});
    int rows = builder.value(std::move(dims));
    builder.compute("aten.embedding.default", {tensorArg("weight", weight), tensorArg("indices", indices)}, {rows});
    builder.output("rows", rows);
    return runSchedule(builder, {{"ids", given}, {"w", at::zeros({6, 3}, at::kDouble)}}).status().message();
  }

  ScheduleBuilder builder{{{"dp", 2}}};
  at::Tensor given = at::tensor({0, 1, 2, 3, 4, 6, 5, 0}, at::kLong).view({4, 2});
  int64_t one = 1;
  int ids = builder.input("ids", {{4, {"dp"}}, {2}}, DType::i64);
};

TEST_F(IndexFaultTest, ThePlaceInTheWholeBatch) {
  EXPECT_EQ(failure(ids, {{4, {"dp"}}, {2}}), "rank 1: aten.embedding.default(weight [6, 3] f64, indices [2, 2] i64): "
                                              "index 6 at [2, 1] of input 'ids' is out of range [0, 6)");
}

TEST_F(IndexFaultTest, ThroughViewsAndMicrobatches) {
  int part = builder.value({{2, {"dp"}}, {2}}, DType::i64), column = builder.value({{2, {"dp"}}}, DType::i64);
  int index = builder.constant("index", {}, DType::i64, std::as_bytes(std::span<const int64_t>(&one, 1)));
  builder.compute("meshplan.take_microbatch",
                  {tensorArg("index", index), tensorArg("self", ids), integerArg("dim", literal(0)),
                   integerArg("count", literal(2))},
                  {part});
  builder.compute("aten.select.int",
                  {tensorArg("self", part), integerArg("dim", literal(1)), integerArg("index", literal(0))}, {column});
  given = at::tensor({0, 1, 7, 3, 4, 5, 5, 0}, at::kLong).view({4, 2});
  EXPECT_THAT(failure(column, {{2, {"dp"}}}), EndsWith("index 7 at [1, 0] of input 'ids' is out of range [0, 6)"));
}

/// If the same number occurs elsewhere, too, the read one is only known if ids are read unchanged.
TEST_F(IndexFaultTest, ANumberThatIsThereTwice) {
  given = at::tensor({0, 7, 2, 3, 4, 7, 7, 0}, at::kLong).view({4, 2});
  EXPECT_THAT(failure(ids, {{4, {"dp"}}, {2}}),
              testing::AnyOf(EndsWith("index 7 at [0, 1] of input 'ids' is out of range [0, 6)"),
                             EndsWith("index 7 at [2, 1] of input 'ids' is out of range [0, 6)")));
}

TEST_F(IndexFaultTest, ANumberThatIsThereTwiceInAView) {
  int column = builder.value({{4, {"dp"}}}, DType::i64);
  builder.compute("aten.select.int",
                  {tensorArg("self", ids), integerArg("dim", literal(1)), integerArg("index", literal(0))}, {column});
  given = at::tensor({0, 1, 2, 3, 4, 7, 7, 0}, at::kLong).view({4, 2});
  EXPECT_THAT(failure(column, {{4, {"dp"}}}),
              EndsWith("rank 1: aten.embedding.default(weight [6, 3] f64, indices [2] i64): index 7 at [1] of the [2] "
                       "i64 that this rank reads, which is of input 'ids', is out of range [0, 6)"));
}

/// Both ranks read all ids; the rank without the wrong one in its own shard reports the position where it reads it.
TEST_F(IndexFaultTest, ThroughCollectives) {
  int all = builder.value({{4}, {2}}, DType::i64);
  builder.collective(Kind::all_gather, {"dp"}, ids, all, 0);
  std::string message = failure(all, {{4}, {2}});
  EXPECT_THAT(message,
              testing::AnyOf(EndsWith("index 6 at [2, 1] of input 'ids' is out of range [0, 6)"),
                             EndsWith("index 6 at [2, 1] of the [4, 2] i64 that this rank reads, which is of input "
                                      "'ids', is out of range [0, 6)")));
}

TEST_F(IndexFaultTest, NumbersThatAreNoInputs) {
  int next = builder.value({{4, {"dp"}}, {2}}, DType::i64);
  artifact::ArgT other = integerArg("other", literal(1));
  builder.compute("aten.add.Tensor", {tensorArg("self", ids), other}, {next});
  given = at::tensor({0, 1, 2, 3, 4, 5, 1, 0}, at::kLong).view({4, 2});
  EXPECT_THAT(failure(next, {{4, {"dp"}}, {2}}),
              EndsWith("index 6 at [0, 1] of the [2, 2] i64 that this rank reads is out of range [0, 6)"));
}

} // namespace
