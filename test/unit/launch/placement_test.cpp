//===- placement_test.cpp - environment variables of launchers ------------===//

#include "runtime/launch/placement.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

Placement placed(const Environment &environment) {
  auto placement = placementOf(environment);
  EXPECT_TRUE(placement.ok()) << placement.status().message();
  return placement ? *placement : Placement();
}

std::string placementRefusal(const Environment &environment) {
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
  EXPECT_EQ(placementRefusal(
                {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"RANK", "1"}, {"WORLD_SIZE", "4"}}),
            "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE say rank 0 of 2, RANK and WORLD_SIZE say rank 1 of 4");
  EXPECT_EQ(placementRefusal({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "1"}}),
            "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE say rank 0 of 2, PMIX_RANK says rank 1");
  EXPECT_EQ(placementRefusal({{"PMIX_RANK", "1"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}}),
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
  EXPECT_EQ(placementRefusal({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), "RANK is 'one', not a number of processes");
  EXPECT_EQ(placementRefusal({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}), "RANK is '-1', not a number of processes");
  EXPECT_EQ(placementRefusal({{"RANK", ""}, {"WORLD_SIZE", "2"}}), "RANK is '', not a number of processes");
  EXPECT_EQ(placementRefusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), "RANK is 2, WORLD_SIZE is 2");
  EXPECT_EQ(placementRefusal({{"RANK", "2"}}),
            "RANK is set and WORLD_SIZE is not; help: unset it, or use a launcher that sets both");
  EXPECT_EQ(placementRefusal({{"PMI_SIZE", "2"}}),
            "PMI_SIZE is set and PMI_RANK is not; help: unset it, or use a launcher that sets both");
}

TEST(Placement, NumbersThatAreNone) {
  for (const char *text : {"1 ", " 1", "+1", "0x1", "1.0", "99999999999999999999", "1,"})
    EXPECT_EQ(placementRefusal({{"RANK", text}, {"WORLD_SIZE", "2"}}),
              std::string("RANK is '") + text + "', not a number of processes");
  EXPECT_EQ(placementRefusal({{"RANK", "0"}, {"WORLD_SIZE", "two"}}), "WORLD_SIZE is 'two', not a number of processes");
  EXPECT_EQ(placementRefusal({{"RANK", "0"}, {"WORLD_SIZE", "0"}}), "RANK is 0, WORLD_SIZE is 0");
  EXPECT_EQ(placementRefusal({{"PMIX_RANK", "x"}}), "PMIX_RANK is 'x', not a number of processes");
}

TEST(Placement, WhatIsWrongInASlurmStep) {
  EXPECT_EQ(placementRefusal({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "2"}}),
            "SLURM_NTASKS is set and SLURM_PROCID is not; help: unset it, or use a launcher that sets both");
  EXPECT_EQ(placementRefusal({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "4"}, {"SLURM_STEP_NUM_TASKS", "4"}}),
            "SLURM_PROCID is 4, SLURM_STEP_NUM_TASKS is 4");
  // The task count of the step is used: the job may have more tasks than this step.
  expectPlace({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_NTASKS", "8"}}, 1,
              2, "SLURM_PROCID and SLURM_STEP_NUM_TASKS");
  expectPlace({{"SLURM_STEP_ID", "0"}}, 0, 1, "");
}

TEST(Placement, AnotherLauncherMayTellTheSize) {
  // PMIx itself sets no size: only with another launcher's size is a process known to be alone.
  EXPECT_TRUE(placed({{"PMIX_RANK", "0"}, {"RANK", "0"}, {"WORLD_SIZE", "1"}}).alone());
  EXPECT_EQ(
      placementRefusal({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMIX_RANK", "0"}, {"RANK", "0"}, {"WORLD_SIZE", "3"}}),
      "PMI_RANK and PMI_SIZE say rank 0 of 2, RANK and WORLD_SIZE say rank 0 of 3");
}

const Placement alone, several{"RANK and WORLD_SIZE", 1, 4},
    unknown{.source = "PMIX_RANK", .size = std::nullopt, .isMpi = true};
const Placement mpirun{.source = "PMI_RANK and PMI_SIZE", .rank = 1, .size = 4, .isMpi = true};
const Workload onCpu{"cpu", 4}, onCuda{"cuda", 4}, onOneGpu{"cuda", 1};
const MeetingPoint somewhere{.host = "node0", .port = 29500, .isServed = false, .run = "r"};

std::string refusedBackend(std::string_view asked, const Placement &placement, const Workload &workload) {
  auto connection = chooseBackend(asked, placement, workload, {});
  EXPECT_EQ(connection.status().code(), StatusCode::invalid);
  return connection.status().message();
}

TEST(ChooseBackend, ThreadsInOneOfSeveral) {
  EXPECT_EQ(
      refusedBackend("threads", {"PMIX_RANK", 3, std::nullopt}, onCpu),
      "--backend threads runs all ranks in one process, but this is rank 3 (PMIX_RANK); help: leave out --backend, "
      "or start one process");
  EXPECT_EQ(refusedBackend("threads", several, onCpu),
            "--backend threads runs all ranks in one process, but this is rank 1 of 4 (RANK and WORLD_SIZE); help: "
            "leave out --backend, or start one process");
}

TEST(ChooseBackend, FollowsTheLauncher) {
  const Connection threads{Backend::threads, Hosts::threads}, mpi{Backend::mpi, Hosts::mpi};
  EXPECT_EQ(*chooseBackend("", alone, onCpu, {}), threads);
  EXPECT_EQ(*chooseBackend("", several, onCpu, {}), mpi);
  EXPECT_EQ(*chooseBackend("", several, onCpu, somewhere), mpi) << "a store is for small messages";
  EXPECT_EQ(*chooseBackend("", unknown, onCpu, {}), mpi);
  EXPECT_EQ(*chooseBackend("threads", alone, onCpu, {}), threads);
  EXPECT_EQ(*chooseBackend("mpi", alone, onCpu, {}), mpi);
}

TEST(ChooseBackend, GpusAreReachedOverNccl) {
  for (const char *asked : {"", "nccl"}) {
    EXPECT_EQ(*chooseBackend(asked, alone, onCuda, {}), (Connection{Backend::nccl, Hosts::threads}));
    EXPECT_EQ(*chooseBackend(asked, alone, onCuda, somewhere), (Connection{Backend::nccl, Hosts::threads}));
    EXPECT_EQ(*chooseBackend(asked, mpirun, onCuda, {}), (Connection{Backend::nccl, Hosts::mpi}));
    EXPECT_EQ(*chooseBackend(asked, mpirun, onCuda, somewhere), (Connection{Backend::nccl, Hosts::mpi}))
        << "a launcher of MPI comes before a store";
    EXPECT_EQ(*chooseBackend(asked, several, onCuda, somewhere), (Connection{Backend::nccl, Hosts::store}));
    EXPECT_EQ(*chooseBackend(asked, several, onCuda, {}), (Connection{Backend::nccl, Hosts::mpi}));
  }
}

TEST(ChooseBackend, AScheduleThatCannotBeRead) {
  // Ranks that can read the schedule wait where this choice says.
  EXPECT_EQ(*chooseBackend("", alone, {}, somewhere), (Connection{Backend::threads, Hosts::threads}));
  EXPECT_EQ(*chooseBackend("", several, {}, somewhere), (Connection{Backend::nccl, Hosts::store}));
  EXPECT_EQ(*chooseBackend("", several, {}, {}), (Connection{Backend::mpi, Hosts::mpi}));
  EXPECT_EQ(*chooseBackend("mpi", several, {}, somewhere), (Connection{Backend::mpi, Hosts::mpi}));
  EXPECT_EQ(*chooseBackend("", mpirun, {}, somewhere), (Connection{Backend::mpi, Hosts::mpi}));
}

TEST(ChooseBackend, OneGpuNeedsNone) {
  EXPECT_EQ(*chooseBackend("", alone, onOneGpu, {}), (Connection{Backend::threads, Hosts::threads}));
  EXPECT_EQ(*chooseBackend("threads", alone, onOneGpu, {}), (Connection{Backend::threads, Hosts::threads}));
  EXPECT_EQ(*chooseBackend("nccl", alone, onOneGpu, {}), (Connection{Backend::nccl, Hosts::threads}));
}

TEST(ChooseBackend, WhatDoesNotFitTheDevice) {
  EXPECT_EQ(refusedBackend("nccl", alone, onCpu),
            "--backend nccl moves tensors of GPUs, and the schedule is for cpu; help: leave out --backend, or compile "
            "with --device cuda");
  EXPECT_EQ(refusedBackend("mpi", mpirun, onCuda),
            "--backend mpi moves tensors of the host, and the schedule is for cuda; help: leave out --backend, or "
            "compile with --device cpu");
  EXPECT_EQ(refusedBackend("threads", alone, onCuda),
            "--backend threads moves tensors of the host, and the schedule is for cuda; help: leave out --backend, or "
            "compile with --device cpu");
}

TEST(Placement, NumberOnTheMachine) {
  auto local = [](Environment environment) {
    environment.insert({{"RANK", "5"}, {"WORLD_SIZE", "8"}});
    Placement placement = placed(environment);
    return std::pair(placement.localRank, placement.localSize);
  };
  using Local = std::pair<std::optional<int64_t>, std::optional<int64_t>>;
  EXPECT_EQ(local({}), Local());
  EXPECT_EQ(local({{"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}}), Local(1, 4));
  EXPECT_EQ(local({{"LOCAL_RANK", "1"}}), Local(1, std::nullopt));
  EXPECT_EQ(local({{"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"LOCAL_RANK", "1"}}), Local(2, std::nullopt));
  EXPECT_EQ(local({{"MPI_LOCALRANKID", "3"}, {"LOCAL_RANK", "1"}}), Local(3, std::nullopt));
  EXPECT_EQ(local({{"SLURM_LOCALID", "0"}, {"LOCAL_RANK", "1"}}), Local(1, std::nullopt));
  EXPECT_EQ(local({{"SLURM_LOCALID", "3"}}), Local(3, std::nullopt));
  EXPECT_EQ(placed({{"LOCAL_RANK", "1"}}).localRank, std::nullopt) << "no launcher has started this process";
  EXPECT_EQ(placementRefusal({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "4"}, {"LOCAL_WORLD_SIZE", "4"}}),
            "LOCAL_RANK is 4, LOCAL_WORLD_SIZE is 4");
  EXPECT_EQ(placementRefusal({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "x"}}),
            "LOCAL_RANK is 'x', not a number of processes");
}

TEST(Placement, LaunchersOfMpi) {
  EXPECT_TRUE(placed({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).isMpi);
  EXPECT_TRUE(placed({{"PMIX_RANK", "2"}}).isMpi);
  EXPECT_TRUE(placed({{"PMIX_RANK", "1"}, {"RANK", "1"}, {"WORLD_SIZE", "2"}}).isMpi);
  EXPECT_FALSE(placed({{"RANK", "1"}, {"WORLD_SIZE", "2"}}).isMpi);
  EXPECT_FALSE(placed({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "8"}}).isMpi);
}

TEST(ChooseGpu, IsTheOneOfTheNumberOnTheMachine) {
  EXPECT_EQ(*chooseGpu(5, 1, 2), 1);
  EXPECT_EQ(chooseGpu(0, 0, 0).status().message(),
            "rank 0: the schedule is for cuda, and this machine has no CUDA device; help: compile with --device cpu");
  EXPECT_EQ(chooseGpu(5, 2, 2).status().message(),
            "rank 5: it is number 2 on this machine, which has 2 GPUs; help: start at most 2 processes on it");
  EXPECT_EQ(chooseGpu(1, 1, 1).status().message(),
            "rank 1: it is number 1 on this machine, which has 1 GPU; help: start at most 1 process on it");
  EXPECT_EQ(chooseGpu(5, std::nullopt, 2).status().message(),
            "rank 5: which of the GPUs of this machine is for this rank is not known; help: set LOCAL_RANK, from 0 on "
            "in each machine");
}

TEST(ChooseBackend, TorchrunStartsNoMpi) {
  Environment environment = {{"RANK", "2"}, {"WORLD_SIZE", "4"}, {"TORCHELASTIC_RUN_ID", "none"}};
  Placement torchrun = placed(environment);
  EXPECT_TRUE(torchrun.isTorchrun);
  for (const char *asked : {"", "mpi"})
    EXPECT_EQ(refusedBackend(asked, torchrun, onCpu),
              "rank 2: the ranks of a schedule for cpu are processes of MPI or threads of one process, and torchrun "
              "starts no MPI; help: use mpirun -n 4, or start one process, which runs all ranks");
  EXPECT_TRUE(chooseBackend("", torchrun, onCuda, somewhere).ok());
  EXPECT_TRUE(chooseBackend("", torchrun, {}, somewhere).ok()) << "it may be for cuda";
  environment["WORLD_SIZE"] = "1";
  environment["RANK"] = "0";
  EXPECT_EQ(*chooseBackend("", placed(environment), onCpu, {}), (Connection{Backend::threads, Hosts::threads}));
  EXPECT_EQ(*chooseBackend("mpi", placed(environment), onCpu, {}), (Connection{Backend::mpi, Hosts::mpi}));
}

/// MPI would abort such a process during its start.
TEST(ChooseBackend, SrunWithoutMpiIsRefused) {
  Environment environment = {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}};
  Placement task = placed(environment);
  for (const char *asked : {"", "mpi"})
    EXPECT_EQ(
        refusedBackend(asked, task, onCpu),
        "rank 1: the ranks of a schedule for cpu are processes of MPI or threads of one process, and srun has "
        "started no MPI; help: start them with srun --mpi=pmix (`srun --mpi=list` names what it has) or mpirun -n "
        "4, or start one process, which runs all ranks");
  EXPECT_EQ(
      refusedBackend("", task, onCuda),
      "rank 1: the hosts of the ranks meet over MPI or at a store, srun has started no MPI, and no store is named; "
      "help: set MASTER_ADDR to the machine of rank 0 and MASTER_PORT to a free port of it, or start them with "
      "srun --mpi=pmix (`srun --mpi=list` names what it has) or mpirun -n 4");
  EXPECT_EQ(*chooseBackend("", task, onCuda, somewhere), (Connection{Backend::nccl, Hosts::store}));
  EXPECT_EQ(*chooseBackend("", task, {}, {}), (Connection{Backend::threads, Hosts::threads})) << "says what is wrong";
  environment["PMIX_RANK"] = "1";
  EXPECT_EQ(*chooseBackend("", placed(environment), onCpu, {}), (Connection{Backend::mpi, Hosts::mpi}));
  EXPECT_EQ(*chooseBackend("", placed({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}),
                           onCpu, {}),
            (Connection{Backend::threads, Hosts::threads}));
}

TEST(ChooseBackend, MpirunWithinTorchrunStartsMpi) {
  Placement inner = placed({{"OMPI_COMM_WORLD_RANK", "2"},
                            {"OMPI_COMM_WORLD_SIZE", "4"},
                            {"RANK", "2"},
                            {"WORLD_SIZE", "4"},
                            {"TORCHELASTIC_RUN_ID", "none"}});
  EXPECT_FALSE(inner.isTorchrun);
  EXPECT_EQ(*chooseBackend("", inner, onCpu, {}), (Connection{Backend::mpi, Hosts::mpi}));
  EXPECT_FALSE(placed({{"RANK", "2"}, {"WORLD_SIZE", "4"}}).isTorchrun) << "set by hand";
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
            "the processes with mpirun, or with srun and the --mpi that this MPI was built for, or start one process, "
            "which runs all ranks");
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
