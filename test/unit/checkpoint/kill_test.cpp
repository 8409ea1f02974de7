//===- kill_test.cpp - a training that is killed --------------------------===//

#include "runtime/checkpoint/load.h"
#include "runtime/checkpoint/source.h"
#include "test/unit/checkpoint/small_training.h"

#include <csignal>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace meshplan;

namespace {

constexpr int64_t extent = 20001; // some pages of each file

/// Resumes from the last checkpoint, if any, saves after each step, and reports each checkpoint that is complete.
void trainForEver(const Artifact &artifact, const std::string &folder, int out) {
  Status status = onRanks(artifact, [&](World &world, ProgramRunner &runner) -> Status {
    CheckpointOptions options{folder, 2, 0};
    if (findCheckpoint(folder)) {
      MESHPLAN_ASSIGN_OR_RETURN(LoadedCheckpoint loaded, loadCheckpoint(world, runner, folder));
      options.step = loaded.state.counters.steps;
    } else {
      MESHPLAN_RETURN_IF_ERROR(runner.loadParameters(OnesFeed()));
    }
    MESHPLAN_ASSIGN_OR_RETURN(CheckpointWriter writer, CheckpointWriter::open(world, options));
    for (;;) {
      MESHPLAN_RETURN_IF_ERROR(runner.run());
      MESHPLAN_RETURN_IF_ERROR(writer.start(runner, {}));
      int64_t complete = writer.lastStep();
      if (world.rank() == 0 && complete >= 0 && ::write(out, &complete, sizeof complete) != sizeof complete)
        return Status(StatusCode::io, "there is no listener");
    }
  });
  std::fprintf(stderr, "%s\n", status.message().c_str());
  ::_exit(1);
}

/// Kills a training this long after its first checkpoint, and returns the last step that it reported as complete.
int64_t runAndKill(const Artifact &artifact, const std::string &folder, std::chrono::microseconds life) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  pid_t child = ::fork();
  if (child == 0)
    trainForEver(artifact, folder, pipe[1]);
  ::close(pipe[1]);
  int64_t last = -1;
  EXPECT_EQ(::read(pipe[0], &last, sizeof last), static_cast<ssize_t>(sizeof last)) << "it ended by itself";
  ::usleep(life.count());
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself";
  while (::read(pipe[0], &last, sizeof last) == sizeof last) {
  }
  ::close(pipe[0]);
  return last;
}

/// All values are of one step.
void checkIntact(const std::string &path, int64_t step) {
  auto source = CheckpointSource::open(path);
  ASSERT_TRUE(source.ok()) << source.status().message();
  ASSERT_EQ(source->record().state.counters.steps, step);
  Expectation expected = behindStep(step);
  std::vector<double> parameter = elementsOf(path + "/model.safetensors", "w"),
                      momentum = elementsOf(path + "/optimizer.safetensors", "w.momentum_buffer");
  EXPECT_EQ(parameter, std::vector<double>(extent, expected.parameter)) << path;
  EXPECT_EQ(momentum, std::vector<double>(extent, expected.momentum)) << path;
}

/// Forks before any thread starts: the parent itself runs no training.
TEST(Kill, LosesNoCompleteCheckpoint) {
  TemporaryDirectory folder;
  Artifact artifact = scheduleOf({.extent = extent});
  std::mt19937 generator(1);
  std::uniform_int_distribution<int> microseconds(0, 30000);
  int64_t before = -1;
  for (int kill = 0; kill < 200 && !HasFailure(); ++kill) {
    int64_t told = runAndKill(artifact, folder.path(), std::chrono::microseconds(microseconds(generator)));
    auto saved = listCheckpoints(folder.path());
    ASSERT_TRUE(saved.ok() && !saved->empty());
    ASSERT_GE(saved->back().step, told) << "a checkpoint was complete, and is lost";
    ASSERT_GT(saved->back().step, before) << "the training continued from an earlier one";
    ASSERT_LE(saved->size(), 3u);
    for (const SavedCheckpoint &each : *saved)
      checkIntact(each.path, each.step);
    before = saved->back().step;
  }
  // No incomplete checkpoint remains.
  auto opened = CheckpointFolder::open(folder.path(), 2);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  for (const std::string &name : folder.names())
    EXPECT_TRUE(name == ".lock" || name.starts_with("step-")) << name;
}

} // namespace
