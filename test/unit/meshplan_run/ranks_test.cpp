#include "tools/meshplan_run/ranks/ranks.h"

#include "runtime/base/file.h"
#include "runtime/launch/placement.h"
#include "test/unit/temporary_directory.h"

#include <atomic>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace meshplan;
using namespace std::chrono_literals;

namespace {

/// As in a process without a launcher, whatever started the test.
class RanksTest : public testing::Test {
protected:
  RanksTest() {
    for (const char *name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
                             "RANK", "WORLD_SIZE", "SLURM_STEP_ID", "MASTER_ADDR", "MASTER_PORT"})
      ::unsetenv(name);
  }
  ~RanksTest() override {
    ::unsetenv("RANK");
    ::unsetenv("WORLD_SIZE");
  }

  /// Returns the status, and captures stderr.
  int run(const Command &command) {
    testing::internal::CaptureStderr();
    int status = runCommand(options, workload, command);
    errors = testing::internal::GetCapturedStderr();
    return status;
  }

  RunOptions options;
  Workload workload;
  std::string errors;
};

} // namespace

TEST_F(RanksTest, AloneAllRanksAreThreads) {
  std::atomic<int64_t> sum = 0;
  EXPECT_EQ(run([&](Ranks &ranks) {
              EXPECT_GE(ranks.computeThreads(1), 1);
              EXPECT_EQ(ranks.computeThreads(100'000), 1);
              return ranks.run(4, [&](World &world) {
                EXPECT_EQ(world.size(), 4);
                sum += 1 + world.rank();
                return Status();
              });
            }),
            0);
  EXPECT_EQ(sum, 1 + 2 + 3 + 4);
  EXPECT_EQ(errors, "");
}

TEST_F(RanksTest, WhatStartedAFailureIsPrintedOnce) {
  EXPECT_EQ(run([](Ranks &ranks) {
              return ranks.run(3, [](World &world) -> Status {
                if (world.rank() == 1)
                  return Status(StatusCode::invalid, "no tensor 'x'");
                MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("world"));
                return waitFor(group->startBarrier());
              });
            }),
            1);
  EXPECT_EQ(errors, "meshplan-run: error: no tensor 'x'\n");
}

TEST_F(RanksTest, WhatTheEnvironmentContradicts) {
  auto never = [](Ranks &) -> Status { throw std::logic_error("the command is not called"); };
  ::setenv("RANK", "1", 1);
  EXPECT_EQ(run(never), 1);
  EXPECT_EQ(errors,
            "meshplan-run: error: RANK is set and WORLD_SIZE is not; help: unset it, or use a launcher that sets "
            "both\n");
  ::setenv("WORLD_SIZE", "4", 1);
  options.backend = "threads";
  EXPECT_EQ(run(never), 1);
  EXPECT_THAT(errors, testing::StartsWith("meshplan-run: error: --backend threads runs all ranks in one process, but "
                                          "this is rank 1 of 4"));
  // This test is linked like a build without MPI.
  options.backend = "";
  EXPECT_EQ(run(never), 1);
  EXPECT_EQ(errors,
            "meshplan-run: error: this build has no backend mpi; help: install MPI and build again, or start one "
            "process, which runs all ranks\n");
}

TEST_F(RanksTest, TimeoutsAreRoundedUp) {
  const std::pair<double, int64_t> cases[] = {{600, 600'000}, {1, 1000}, {0.0015, 2}, {0.25, 250}, {1e-9, 1}};
  for (auto [seconds, milliseconds] : cases) {
    options.timeoutSeconds = seconds;
    EXPECT_EQ(timeoutOf(options).count(), milliseconds) << seconds;
  }
}

TEST_F(RanksTest, ARankThatHangsEndsTheProcessAndLeavesNothing) {
  TemporaryDirectory folder;
  options.timeoutSeconds = 0.05;
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    std::freopen((folder / "errors").c_str(), "w", stderr);
    runCommand(options, workload, [&](Ranks &ranks) {
      auto half = AtomicFile::create(folder / "half");
      return ranks.run(4, [](World &world) -> Status {
        while (world.rank() % 2 == 1)
          std::this_thread::sleep_for(1s);
        return world.rank() == 2 ? Status(StatusCode::internal, "rank 2: numeric fault") : Status();
      });
    });
    ::_exit(7); // not reached
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(folder.names(), testing::ElementsAre("errors"));
  std::string text;
  std::getline(std::ifstream(folder / "errors"), text);
  EXPECT_EQ(text, "meshplan-run: error: rank 2: numeric fault; ranks 1, 3 did not return");
}
