#include "test/unit/exec/run_schedule.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"

#include <gmock/gmock.h>

using namespace meshplan;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

static std::string errorOf(const ScheduleBuilder &builder, const Tensors &tensors = {}) {
  auto result = runSchedule(builder, tensors);
  EXPECT_FALSE(result.ok());
  return result.status().message();
}

TEST(ErrorTest, OperatorFails) {
  ScheduleBuilder builder({{"tp", 2}});
  int a = builder.input("a", {{2}, {6, {"tp"}}}), b = builder.input("b", {{4}, {5}}), y = builder.value({{2}, {5}});
  builder.origin("model.lm_head", 12, "colwise tp");
  builder.compute("aten.mm.default", {tensorArg("self", a), tensorArg("mat2", b)}, {y});
  Tensors tensors = {{"a", at::zeros({2, 6}, at::kDouble)}, {"b", at::zeros({4, 5}, at::kDouble)}};
  EXPECT_THAT(errorOf(builder, tensors),
              AllOf(StartsWith("rank "),
                    EndsWith(": aten.mm.default(self [2, 3] f64, mat2 [4, 5] f64) (test.plan:12:3 colwise tp, module "
                             "model.lm_head): mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)")));
}

TEST(ErrorTest, ResultIsNotWhatTheScheduleSays) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{2}, {3}}), y = builder.value({{2}, {3}});
  builder.compute("aten.t.default", {tensorArg("self", x)}, {y});
  EXPECT_EQ(errorOf(builder, {{"x", at::zeros({2, 3}, at::kDouble)}}),
            "rank 0: aten.t.default(self [2, 3] f64): its result is [3, 2] f64, the schedule expects [2, 3] f64");
}

TEST(ErrorTest, ResultOfAnotherElementType) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{2}}), y = builder.value({{2}});
  builder.compute("aten.isnan.default", {tensorArg("self", x)}, {y});
  EXPECT_THAT(errorOf(builder, {{"x", at::zeros({2}, at::kDouble)}}),
              HasSubstr("its result is [2] bool, the schedule expects [2] f64"));
}

TEST(ErrorTest, UnknownOperator) {
  ScheduleBuilder builder({{"tp", 1}});
  int x = builder.input("x", {{2}}), y = builder.value({{2}});
  builder.origin("model.gate", 4, "");
  builder.compute("meshplan.atention", {tensorArg("self", x)}, {y});
  EXPECT_EQ(errorOf(builder),
            "rank 0: the schedule (test.plan:4:3, module model.gate): there is no operator 'meshplan.atention'");
}

TEST(ErrorTest, CollectiveOverTheWrongRanks) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int x = builder.input("x", {{4, {"tp"}}}), y = builder.value({{4}});
  builder.collective(Kind::all_gather, {"dp"}, x, y, 0);
  EXPECT_THAT(
      errorOf(builder, {{"x", at::zeros({4}, at::kDouble)}}),
      EndsWith("all-gather 0 on 'dp': the ranks of the communicator do not hold each element of the output once"));
}

TEST(ErrorTest, CollectiveOfOtherRanks) {
  ScheduleBuilder builder({{"dp", 2}, {"tp", 2}});
  int x = builder.input("x", {{4, {"tp"}}}), y = builder.value({{4}});
  builder.collective(Kind::all_gather, {"dp"}, x, y, 0);
  EXPECT_THAT(
      errorOf(builder),
      EndsWith("all-gather 0 on 'dp': the ranks of the communicator do not hold each element of the output once"));
}

TEST(ErrorTest, MissingParameter) {
  ScheduleBuilder builder({{"tp", 2}});
  builder.parameter({"lm_head.weight", "embed.weight"}, {{2}});
  EXPECT_EQ(errorOf(builder), "no tensor 'lm_head.weight'");
}

TEST(ErrorTest, WorldOfAnotherSize) {
  ScheduleBuilder builder({{"tp", 3}});
  TemporaryDirectory folder;
  builder.write(folder / "test.sched");
  auto artifact = loadSchedule(folder / "test.sched");
  ASSERT_TRUE(artifact.ok());
  auto statuses = runThreads(2, {}, [&](World &world) {
    return ProgramRunner::create(*artifact, *artifact->schedule().programs()->Get(0), world).status();
  });
  EXPECT_EQ(rootCause(statuses).message(), "program 'forward' is for 3 ranks, the run has 2");
}

TEST(ErrorTest, UnknownProgram) {
  ScheduleBuilder builder({{"tp", 1}});
  TemporaryDirectory folder;
  builder.write(folder / "test.sched");
  auto artifact = loadSchedule(folder / "test.sched");
  EXPECT_EQ(findProgram(artifact->schedule(), "eval").status().message(),
            "the schedule has no program 'eval'; it has forward");
}

namespace {

/// A program of one all-reduce over two ranks.
class StallTest : public testing::Test {
protected:
  StallTest() {
    int x = builder.input("x", {{2}, {4, {"tp"}}}), w = builder.input("w", {{4, {"tp"}}, {3}});
    int part = builder.value({{2}, {3}}, DType::f64, {"tp"}), y = builder.value({{2}, {3}});
    builder.compute("aten.mm.default", {tensorArg("self", x), tensorArg("mat2", w)}, {part});
    builder.origin("model.o_proj", 5, "rowwise tp");
    builder.collective(Kind::all_reduce, {"tp"}, part, y);
    builder.write(folder / "test.sched");
  }

  /// Rank 1 calls `instead` instead of running the program.
  std::vector<Status> run(const std::function<Status()> &instead) {
    auto artifact = loadSchedule(folder / "test.sched");
    EXPECT_TRUE(artifact.ok());
    TensorFeed feed({{"x", at::zeros({2, 4}, at::kDouble)}, {"w", at::zeros({4, 3}, at::kDouble)}});
    return runThreads(2, {.timeout = std::chrono::milliseconds(300)}, [&](World &world) -> Status {
      ComputeScope scope(1);
      auto runner = ProgramRunner::create(*artifact, *artifact->schedule().programs()->Get(0), world);
      MESHPLAN_RETURN_IF_ERROR(runner.status());
      MESHPLAN_RETURN_IF_ERROR((*runner).loadInputs(feed));
      return world.rank() == 1 ? instead() : (*runner).walk().run();
    });
  }

  ScheduleBuilder builder{{{"tp", 2}}};
  TemporaryDirectory folder;
};

} // namespace

TEST_F(StallTest, PeerStalls) {
  auto statuses = run([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
    return Status();
  });
  EXPECT_EQ(statuses[0].code(), StatusCode::timeout);
  EXPECT_THAT(statuses[0].message(),
              AllOf(HasSubstr("rank 0: all-reduce 0 on 'tp' (test.plan:5:3 rowwise tp, module model.o_proj)"),
                    HasSubstr("rank 1")));
}

TEST_F(StallTest, PeerFails) {
  auto statuses = run([] { return Status(StatusCode::invalid, "rank 1: it broke"); });
  EXPECT_FALSE(statuses[0].ok());
  EXPECT_THAT(statuses[0].message(), HasSubstr("it broke"));
  EXPECT_EQ(rootCause(statuses).message(), "rank 1: it broke");
}
