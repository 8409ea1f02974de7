//===- guarded_step_test.cpp - steps with non-finite gradients ------------===//
//
// w -= 0.5 x / loss_scale on two ranks, each with half of x, which is the gradient of w.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/program_runner.h"

#include "runtime/comm/threads/run_threads.h"
#include "runtime/tensor/compute_scope.h"
#include "test/unit/exec/run_schedule.h"

#include <gmock/gmock.h>
#include <limits>

using namespace meshplan;
using testing::HasSubstr;

namespace {

class GuardedStepTest : public testing::Test {
protected:
  GuardedStepTest() {
    builder.program().name = "step";
    builder.program().role = artifact::ProgramRole::step;
    int x = builder.input("x", {{4, {"dp"}}}), w = builder.parameter({"w"}, {{4, {"dp"}}});
    int scale = setting("loss_scale", 8), step = setting("optimizer.step", 1), rate = setting("optimizer.lr", 0.5);
    int noted = builder.value({{4, {"dp"}}}), count = builder.value({}, DType::i64, {"dp"});
    int all = builder.value({}, DType::i64), factor = builder.value({}), next = builder.value({{4, {"dp"}}});
    artifact::ArgT name;
    name.name = "name";
    name.kind = artifact::ArgKind::string;
    name.text = "w";
    builder.compute("meshplan.note_nonfinite", {tensorArg("self", x), name}, {noted});
    builder.compute("meshplan.nonfinite_count", {tensorArg("self", noted)}, {count});
    builder.collective(Kind::all_reduce, {"dp"}, count, all);
    builder.compute("aten.reciprocal.default", {tensorArg("self", scale)}, {factor});
    builder.compute("meshplan.sgd",
                    {tensorArg("parameter", w), tensorArg("gradient", noted), tensorArg("learning_rate", rate),
                     tensorArg("factor", factor), tensorArg("nonfinite", all), realArg("weight_decay", 0)},
                    {next});
    builder.program().instructions.back()->action.AsCompute()->overwrites = {w};
    auto &update = *builder.program().updates.emplace_back(std::make_unique<artifact::UpdateT>());
    update.value = next;
    update.target = w;
    builder.output("nonfinite", all);
    builder.output("step", step);
    auto guard = std::make_unique<artifact::GuardT>();
    guard->output = "nonfinite";
    guard->growth = 2;
    guard->backoff = 0.5;
    guard->interval = 2;
    builder.program().guard = std::move(guard);
  }

  int setting(const std::string &name, double number) {
    auto &setting = *builder.program().settings.emplace_back(std::make_unique<artifact::SettingT>());
    setting.name = name;
    setting.number = number;
    return setting.value = builder.value({});
  }

  /// Runs `body` on both ranks, which start with ones, and returns the status of each.
  std::vector<Status> run(const std::function<Status(World &, ProgramRunner &)> &body) {
    builder.write(folder / "a.sched");
    auto artifact = loadSchedule(folder / "a.sched");
    EXPECT_TRUE(artifact.ok()) << artifact.status().message();
    const artifact::Program &program = *artifact->schedule().programs()->Get(0);
    return runThreads(2, {}, [&](World &world) -> Status {
      ComputeScope scope(1);
      MESHPLAN_ASSIGN_OR_RETURN(ProgramRunner runner, ProgramRunner::create(*artifact, program, world));
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(TensorFeed({{"w", ones}})));
      return body(world, runner);
    });
  }

  static Status step(ProgramRunner &runner, const at::Tensor &gradient) {
    MESHPLAN_RETURN_IF_ERROR(runner.loadInputs(TensorFeed({{"x", gradient}})));
    return runner.run();
  }

  /// The first element of the rank's shard.
  static double first(ProgramRunner &runner, const char *name) {
    auto own = runner.walk().current(name);
    EXPECT_TRUE(own.ok());
    double number;
    std::memcpy(&number, own->data(), sizeof number);
    return number;
  }

  static double number(ProgramRunner &runner, const char *name) {
    return *runner.walk().numbers().find(name, runner.walk().steps() - 1);
  }

  at::Tensor ones = at::ones({4}, at::kDouble);
  const std::string text = "parameter 'w': 1 of 2 elements is not finite, the first at [3]";
  at::Tensor good = at::full({4}, 16.0, at::kDouble);
  /// The second rank has two non-finite elements.
  at::Tensor bad = at::tensor({1.0, 1.0, std::numeric_limits<double>::infinity(), NAN}, at::kDouble);
  ScheduleBuilder builder{{{"dp", 2}}};
  TemporaryDirectory folder;
};

TEST_F(GuardedStepTest, ASkippedStepChangesNothingAndIsNotCounted) {
  auto statuses = run([&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(step(runner, good));
    EXPECT_EQ(first(runner, "w"), 0);
    EXPECT_EQ(runner.outcome().nonfinite, 0);
    MESHPLAN_RETURN_IF_ERROR(step(runner, bad));
    EXPECT_EQ(first(runner, "w"), 0) << "on both ranks";
    EXPECT_EQ(runner.outcome().nonfinite, 2);
    std::string text = runner.describeOutcome();
    EXPECT_THAT(text, HasSubstr("2 elements of the gradients of step 2 are NaN or infinite, and nothing was updated"));
    EXPECT_THAT(text, HasSubstr(world.rank() == 1 ? "this rank produced 2 in the gradient of 'w'"
                                                  : "this rank produced none of them"));
    MESHPLAN_RETURN_IF_ERROR(step(runner, good));
    EXPECT_EQ(number(runner, "optimizer.step"), 2);
    EXPECT_EQ(number(runner, "loss_scale"), 4);
    EXPECT_EQ(first(runner, "w"), -2) << "16 / 4 / 2";
    return Status();
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(GuardedStepTest, ASumIsNoRanksOwn) {
  artifact::ArgT summed;
  summed.name = "summed";
  summed.kind = artifact::ArgKind::boolean;
  summed.bools = {true};
  auto &args = builder.program().instructions.front()->action.AsCompute()->args;
  args.push_back(std::make_unique<artifact::ArgT>(summed));
  auto statuses = run([&](World &world, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(step(runner, bad));
    EXPECT_THAT(runner.describeOutcome(),
                HasSubstr(world.rank() == 1 ? "and nothing was updated; sums over ranks produced 2 in the "
                                              "gradient of 'w'"
                                            : "this rank produced none of them"));
    return Status();
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(GuardedStepTest, TheRunMayGiveTheFirstScale) {
  auto statuses = run([&](World &, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(runner.setNumber("loss_scale", 32));
    MESHPLAN_RETURN_IF_ERROR(step(runner, good));
    MESHPLAN_RETURN_IF_ERROR(step(runner, good));
    EXPECT_EQ(first(runner, "w"), 1 - 2 * 16.0 / 32 / 2);
    MESHPLAN_RETURN_IF_ERROR(step(runner, good));
    EXPECT_EQ(number(runner, "loss_scale"), 64) << "two steps in a row";
    return Status();
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(GuardedStepTest, ARunThatStopsHasEverythingAsItWas) {
  builder.program().guard->stops = true;
  auto statuses = run([&](World &, ProgramRunner &runner) -> Status {
    MESHPLAN_RETURN_IF_ERROR(step(runner, good));
    Status status = step(runner, bad);
    EXPECT_EQ(first(runner, "w"), 0);
    return status;
  });
  for (const Status &status : statuses)
    EXPECT_THAT(status.message(), HasSubstr("2 elements of the gradients of step 2 are NaN or infinite"));
  EXPECT_EQ(statuses[0].code(), StatusCode::aborted);
  EXPECT_EQ(statuses[1].code(), StatusCode::numericFault);
  EXPECT_THAT(rootCause(statuses).message(), HasSubstr("rank 1"));
}

/// Rank 1 has the non-finite weight, and rank 0 is informed.
TEST_F(GuardedStepTest, WeightsThatAreNoNumbers) {
  ones[3] = NAN;
  auto step = [this](World &world, ProgramRunner &runner) {
    EXPECT_EQ(runner.warning(), world.rank() == 0 ? "" : "rank 1: " + text);
    return GuardedStepTest::step(runner, good);
  };
  for (const Status &status : run(step))
    EXPECT_TRUE(status.ok()) << status.message();
  builder.program().guard->stops = true;
  std::vector<Status> statuses = run(step);
  EXPECT_EQ(statuses[1].code(), StatusCode::numericFault);
  EXPECT_EQ(statuses[1].message(), "rank 1: " + text);
  EXPECT_FALSE(statuses[0].ok());
}

TEST_F(GuardedStepTest, NobodyMaySetWhatFollowsFromTheSteps) {
  auto statuses = run([&](World &, ProgramRunner &runner) -> Status {
    EXPECT_EQ(runner.setNumber("optimizer.step", 3).code(), StatusCode::notFound);
    return runner.setNumber("step", 5);
  });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

} // namespace
