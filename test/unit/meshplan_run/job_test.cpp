#include "tools/meshplan_run/job.h"

#include "test/unit/exec/run_schedule.h"
#include "tools/meshplan_run/reports.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

using namespace meshplan;

namespace {

class JobTest : public testing::Test {
protected:
  JobTest() {
    builder.program().memory = std::make_unique<artifact::MemoryT>();
    builder.program().memory->parameters = 3 << 20;
    builder.program().memory->peak = 10 << 20;
    options.schedule = folder / "a.sched";
  }

  Expected<Job> load() {
    builder.write(options.schedule);
    return Job::load(options);
  }

  /// The output for two ranks.
  std::string printed() {
    auto job = load();
    EXPECT_TRUE(job.ok()) << job.status().message();
    Reports reports;
    for (int64_t rank : {0, 1}) {
      RankReport report;
      report.memory = {{(2 + rank) << 20, 0, 0}, {(12 - rank) << 20}};
      reports.add(std::move(report));
    }
    testing::internal::CaptureStdout();
    printMemory(*job, reports);
    std::fflush(stdout);
    return testing::internal::GetCapturedStdout();
  }

  ScheduleBuilder builder{{{"dp", 2}, {"tp", 3}}};
  TemporaryDirectory folder;
  RunOptions options;
};

} // namespace

TEST_F(JobTest, TheProgramThatIsAskedFor) {
  auto &reference = *builder.schedule().programs.emplace_back(std::make_unique<artifact::ProgramT>());
  reference.name = "reference";
  reference.role = artifact::ProgramRole::reference;
  auto &axis = *reference.devices.emplace_back(std::make_unique<artifact::AxisT>());
  axis.name = "one";
  axis.size = 1;
  auto forward = load();
  ASSERT_TRUE(forward.ok()) << forward.status().message();
  EXPECT_EQ(forward->program->name()->str(), "forward");
  EXPECT_EQ(forward->worldSize(), 6);
  options.program = "reference";
  EXPECT_EQ(Job::load(options)->worldSize(), 1) << "it has devices of its own";
  options.program = "eval";
  EXPECT_EQ(Job::load(options).status().message(),
            options.schedule +
                ": the schedule has no program 'eval'; it has forward, reference; help: a plan with 'loss' "
                "and 'optimizer' has the programs 'step' and 'eval'");
}

TEST_F(JobTest, TheProgramOfARole) {
  builder.program().name = "main";
  builder.program().role = artifact::ProgramRole::step;
  options.role = artifact::ProgramRole::step;
  auto step = load();
  ASSERT_TRUE(step.ok()) << step.status().message();
  EXPECT_EQ(step->program->name()->str(), "main");
  options.role = artifact::ProgramRole::eval;
  EXPECT_EQ(load().status().message(), options.schedule +
                                           ": the schedule has no program 'eval'; it has main; help: a "
                                           "plan with 'loss' and 'optimizer' has the programs 'step' and 'eval'");
}

TEST_F(JobTest, AScheduleForAnotherDevice) {
  for (const char *device : {"tpu", ""}) {
    builder.schedule().device = device;
    Status status = load().status();
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    EXPECT_EQ(status.message(),
              options.schedule + " is compiled for device '" + device + "'; this version runs cpu and cuda");
  }
}

TEST_F(JobTest, NcclIsForSeveralDevices) {
  EXPECT_FALSE(load()->isForCuda());
  EXPECT_FALSE(load()->needsNccl());
  builder.schedule().device = "cuda";
  EXPECT_TRUE(load()->isForCuda());
  EXPECT_TRUE(load()->needsNccl());
  ScheduleBuilder alone{{{"tp", 1}}};
  alone.schedule().device = "cuda";
  alone.write(options.schedule);
  EXPECT_FALSE(Job::load(options)->needsNccl());
}

TEST_F(JobTest, NoSchedule) {
  EXPECT_EQ(Job::load(options).status().message(), "cannot open '" + options.schedule + "': No such file or directory");
}

TEST_F(JobTest, MemoryBesideThePlan) {
  EXPECT_EQ(printed(), "rank 0: parameters 2.00 MiB, peak 12.00 MiB\n"
                       "rank 1: parameters 3.00 MiB, peak 11.00 MiB\n"
                       "largest: parameters 3.00 MiB (planned 3.00), peak 12.00 MiB (planned 10.00, +20.0 %)\n");
  builder.program().memory->peak = 0;
  EXPECT_THAT(printed(), testing::EndsWith("peak 12.00 MiB (planned 0.00)\n")) << "nothing to compare with";
  builder.program().memory.reset();
  EXPECT_THAT(printed(), testing::EndsWith("rank 1: parameters 3.00 MiB, peak 11.00 MiB\n"));
}

TEST_F(JobTest, MemoryAsJson) {
  Reports reports;
  RankReport report;
  report.memory = {{1, 2, 3, 5, 6, 7, 8}, {4, 9}};
  reports.add(std::move(report));
  const nlohmann::json rank = {{"parameters", 1},      {"constants", 2},    {"inputs", 3},
                               {"states", 5},          {"accumulators", 6}, {"peak", 4},
                               {"host_parameters", 7}, {"host_states", 8},  {"host_peak", 9}};
  nlohmann::json planned = {{"parameters", 3 << 20}, {"constants", 0},    {"inputs", 0},
                            {"states", 0},           {"accumulators", 7}, {"peak", 10 << 20},
                            {"host_parameters", 10}, {"host_states", 11}, {"host_peak", 12}};
  builder.program().memory->accumulators = 7;
  builder.program().memory->host_parameters = 10;
  builder.program().memory->host_states = 11;
  builder.program().memory->host_peak = 12;
  EXPECT_EQ(memoryJson(*load(), reports),
            (nlohmann::json{{"ranks", nlohmann::json::array({rank})}, {"planned", planned}}));
  builder.program().memory.reset();
  EXPECT_FALSE(memoryJson(*load(), reports).contains("planned"));
}

namespace {

/// The error in the files that a run reads and writes; empty if there is none.
class RankFeedsTest : public JobTest {
protected:
  std::string refusal(const std::string &outputs, const std::string &trace = "") {
    auto job = load();
    EXPECT_TRUE(job.ok()) << job.status().message();
    options.outputs = outputs;
    options.trace = trace;
    return RankFeeds::open(options, *job).status().message();
  }
  std::string overwritten(const std::string &option, const std::string &path) {
    return option + " names '" + path + "', which this run reads and would overwrite; help: name another file";
  }
};

} // namespace

TEST_F(RankFeedsTest, WhatIsReadIsNotWrittenUnderAnyName) {
  std::filesystem::create_directory(folder / "inner");
  std::filesystem::create_directory_symlink(folder / "inner", folder / "link");
  options.schedule = folder / "inner/a.sched";
  EXPECT_EQ(refusal(""), "") << "a benchmark writes nothing";
  EXPECT_EQ(refusal(folder / "y", folder / "t"), "");
  std::filesystem::create_hard_link(options.schedule, folder / "hard");
  for (const std::string &path :
       {options.schedule, folder / "inner/../inner/./a.sched", folder / "link/a.sched", folder / "hard"}) {
    EXPECT_EQ(refusal(path, folder / "t"), overwritten("--outputs", path));
    EXPECT_EQ(refusal(folder / "y", path), overwritten("--trace", path));
  }
}

TEST_F(RankFeedsTest, OutputsAndTraceAreTwoFilesAlsoBeforeTheyAreThere) {
  std::filesystem::create_directory(folder / "inner");
  std::filesystem::create_directory_symlink(folder / "inner", folder / "link");
  const std::string one = folder / "inner/new";
  for (const std::string &other : {one, folder / "inner/./new", folder / "inner/../inner/new", folder / "link/new"}) {
    const std::string message = "--outputs and --trace name one file, '" + other + "'; help: name another file";
    EXPECT_EQ(refusal(one, other), message);
    std::ofstream(one) << "what an earlier run has written";
    EXPECT_EQ(refusal(one, other), message);
    std::filesystem::remove(one);
  }
  for (const std::string &other : {folder / "new", folder / "inner/newer", folder / "none/new"})
    EXPECT_EQ(refusal(one, other), "");
  EXPECT_EQ(refusal("new", "./new"), "--outputs and --trace name one file, './new'; help: name another file")
      << "seen from the working directory";
}
