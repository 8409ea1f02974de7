//===- placement_test.cpp - what launchers leave in the environment -------===//

#include "runtime/launch/placement.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

Placement placed(const Environment &environment) {
  auto placement = placementOf(environment);
  EXPECT_TRUE(placement.ok()) << placement.status().message();
  return placement ? *placement : Placement();
}

std::string refusal(const Environment &environment) {
  auto placement = placementOf(environment);
  EXPECT_EQ(placement.status().code(), StatusCode::invalid);
  return placement.status().message();
}

void expectPlace(const Environment &environment, int64_t rank, std::optional<int64_t> size, const std::string &source) {
  Placement placement = placed(environment);
  EXPECT_EQ(placement.rank, rank);
  EXPECT_EQ(placement.size, size);
  EXPECT_EQ(placement.source, source);
}

TEST(Placement, NoLauncher) {
  expectPlace({{"PATH", "/usr/bin"}}, 0, 1, "");
  EXPECT_TRUE(placed({}).alone());
}

TEST(Placement, EachLauncher) {
  expectPlace({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, 2, 4,
              "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE");
  expectPlace({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, 0, 2, "PMI_RANK and PMI_SIZE");
  expectPlace({{"PMIX_RANK", "3"}}, 3, std::nullopt, "PMIX_RANK");
  expectPlace({{"RANK", "1"}, {"WORLD_SIZE", "2"}}, 1, 2, "RANK and WORLD_SIZE");
  expectPlace({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}}, 1, 2,
              "SLURM_PROCID and SLURM_STEP_NUM_TASKS");
  expectPlace({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "8"}}, 1, 8,
              "SLURM_PROCID and SLURM_NTASKS");
}

TEST(Placement, OneProcessOfALauncherIsAlone) {
  EXPECT_TRUE(placed({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}).alone());
  EXPECT_FALSE(placed({{"PMIX_RANK", "0"}}).alone()) << "it may be one of several";
}

TEST(Placement, LaunchersThatAgree) {
  expectPlace({{"OMPI_COMM_WORLD_RANK", "2"},
               {"OMPI_COMM_WORLD_SIZE", "4"},
               {"PMIX_RANK", "2"},
               {"RANK", "2"},
               {"WORLD_SIZE", "4"}},
              2, 4, "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE");
  expectPlace({{"PMIX_RANK", "2"}, {"RANK", "2"}, {"WORLD_SIZE", "4"}}, 2, 4, "PMIX_RANK");
}

TEST(Placement, LaunchersThatDisagree) {
  EXPECT_EQ(refusal({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"RANK", "1"}, {"WORLD_SIZE", "4"}}),
            "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE say rank 0 of 2, RANK and WORLD_SIZE say rank 1 of 4");
  EXPECT_EQ(refusal({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}}),
            "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE say rank 0 of 2, PMIX_RANK says rank 1");
  EXPECT_EQ(refusal({{"PMIX_RANK", "1"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}}),
            "PMIX_RANK says rank 1, RANK and WORLD_SIZE say rank 0 of 2");
}

TEST(Placement, ABatchScriptOfSlurmIsNoTask) {
  expectPlace({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}, 0, 1, "");
}

TEST(Placement, SlurmMayDescribeTheDaemonOfAnotherLauncher) {
  Environment environment = {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};
  environment.insert({{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "8"}});
  expectPlace(environment, 5, 8, "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE");
}

TEST(Placement, WhatIsWrongInOneLauncher) {
  EXPECT_EQ(refusal({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), "RANK is 'one', not a number of processes");
  EXPECT_EQ(refusal({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), "RANK is '-1', not a number of processes");
  EXPECT_EQ(refusal({{"RANK", ""}, {"WORLD_SIZE", "2"}}), "RANK is '', not a number of processes");
  EXPECT_EQ(refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), "RANK is 2, WORLD_SIZE is 2");
  EXPECT_EQ(refusal({{"RANK", "2"}}),
            "RANK is set and WORLD_SIZE is not; help: unset it, or use a launcher that sets both");
  EXPECT_EQ(refusal({{"PMI_SIZE", "2"}}),
            "PMI_SIZE is set and PMI_RANK is not; help: unset it, or use a launcher that sets both");
}

TEST(Placement, NumbersThatAreNone) {
  for (const char *text : {"1 ", " 1", "+1", "0x1", "1.0", "99999999999999999999", "1,"})
    EXPECT_EQ(refusal({{"RANK", text}, {"WORLD_SIZE", "2"}}),
              std::string("RANK is '") + text + "', not a number of processes");
  EXPECT_EQ(refusal({{"RANK", "0"}, {"WORLD_SIZE", "two"}}), "WORLD_SIZE is 'two', not a number of processes");
  EXPECT_EQ(refusal({{"RANK", "0"}, {"WORLD_SIZE", "0"}}), "RANK is 0, WORLD_SIZE is 0");
  EXPECT_EQ(refusal({{"PMIX_RANK", "x"}}), "PMIX_RANK is 'x', not a number of processes");
}

TEST(Placement, WhatIsWrongInASlurmStep) {
  EXPECT_EQ(refusal({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "2"}}),
            "SLURM_NTASKS is set and SLURM_PROCID is not; help: unset it, or use a launcher that sets both");
  EXPECT_EQ(refusal({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}}),
            "SLURM_PROCID is 4, SLURM_STEP_NUM_TASKS is 4");
  // The step counts: a job may have more tasks than this step of it.
  expectPlace({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_NTASKS", "8"}}, 1,
              2, "SLURM_PROCID and SLURM_STEP_NUM_TASKS");
  expectPlace({{"SLURM_STEP_ID", "0"}}, 0, 1, "");
}

TEST(Placement, AnotherLauncherMayTellTheSize) {
  // PMIx has no size of its own: only with it is a process known to be alone.
  EXPECT_TRUE(placed({{"PMIX_RANK", "0"}, {"RANK", "0"}, {"WORLD_SIZE", "1"}}).alone());
  EXPECT_EQ(refusal({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMIX_RANK", "0"}, {"RANK", "0"}, {"WORLD_SIZE", "3"}}),
            "PMI_RANK and PMI_SIZE say rank 0 of 2, RANK and WORLD_SIZE say rank 0 of 3");
}

TEST(ChooseBackend, ThreadsInOneOfSeveral) {
  EXPECT_EQ(
      chooseBackend("threads", {"PMIX_RANK", 3, std::nullopt}).status().message(),
      "--backend threads runs all ranks in one process, but this is rank 3 (PMIX_RANK); help: leave out --backend, "
      "or start one process");
}

TEST(ChooseBackend, FollowsTheLauncher) {
  Placement alone, several{"RANK and WORLD_SIZE", 1, 4}, unknown{"PMIX_RANK", 0, std::nullopt};
  EXPECT_EQ(*chooseBackend("", alone), Backend::threads);
  EXPECT_EQ(*chooseBackend("", several), Backend::mpi);
  EXPECT_EQ(*chooseBackend("", unknown), Backend::mpi);
  EXPECT_EQ(*chooseBackend("threads", alone), Backend::threads);
  EXPECT_EQ(*chooseBackend("mpi", alone), Backend::mpi);
  EXPECT_EQ(chooseBackend("threads", several).status().message(),
            "--backend threads runs all ranks in one process, but this is rank 1 of 4 (RANK and WORLD_SIZE); help: "
            "leave out --backend, or start one process");
}

TEST(CheckAgainstMpi, ComparesRankAndSize) {
  EXPECT_TRUE(checkAgainstMpi({}, 3, 4).ok()) << "an unknown launcher";
  EXPECT_TRUE(checkAgainstMpi({"PMIX_RANK", 3, std::nullopt}, 3, 4).ok());
  EXPECT_EQ(checkAgainstMpi({"PMIX_RANK", 3, std::nullopt}, 2, 4).message(),
            "PMIX_RANK says rank 3, MPI says rank 2 of 4");
  EXPECT_EQ(checkAgainstMpi({"RANK and WORLD_SIZE", 1, 4}, 1, 8).message(),
            "RANK and WORLD_SIZE say rank 1 of 4, MPI says rank 1 of 8");
  EXPECT_TRUE(checkAgainstMpi({"RANK and WORLD_SIZE", 1, 4}, 1, 4).ok());
  EXPECT_EQ(checkAgainstMpi({"RANK and WORLD_SIZE", 1, 4}, 0, 1).message(),
            "RANK and WORLD_SIZE say rank 1 of 4, MPI says rank 0 of 1; help: MPI does not know this launcher; start "
            "the processes with mpirun, or with srun and the --mpi that this MPI was built for");
}

TEST(CheckProcessCount, NamesBothNumbers) {
  EXPECT_TRUE(checkProcessCount(4, 4).ok());
  EXPECT_EQ(checkProcessCount(2, 4).message(), "the schedule is for 4 ranks, but 2 processes were started; help: start "
                                               "one process for each rank, or compile the plan for 2");
  EXPECT_EQ(checkProcessCount(3, 1).message(), "the schedule is for 1 rank, but 3 processes were started; help: start "
                                               "one process for each rank, or compile the plan for 3");
  EXPECT_EQ(checkProcessCount(1, 4).message(), "the schedule is for 4 ranks, but 1 process was started; help: start "
                                               "one process for each rank, or compile the plan for 1");
}

TEST(Environment, IsThatOfTheProcess) {
  ::setenv("MESHPLAN_TEST_VARIABLE", "a=b", 1);
  EXPECT_EQ(environmentOfProcess().at("MESHPLAN_TEST_VARIABLE"), "a=b");
}

} // namespace
} // namespace meshplan
