//===- launch_order_test.cpp - launches of several communicators ----------===//

#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/nccl/run_nccl.h"
#include "runtime/comm/threads/run_threads.h"
#include "test/lib/delays/delayed_world.h"
#include "test/lib/fake_nccl/fake_cuda.h"
#include "test/lib/fake_nccl/fake_nccl.h"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <gmock/gmock.h>
#include <random>

using namespace meshplan;

namespace {

/// Runs the body on fake devices, one for each rank.
std::vector<Status> runOnDevices(const NcclApi &api, int64_t size, const RankBody &body) {
  return runThreads(size, {.timeout = std::chrono::seconds(60), .onStuck = nullptr}, [&](World &host) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
    return runNccl(api, host, {static_cast<int>(host.rank()), compute.get()}, body);
  });
}

void expectOkOnDevices(const NcclApi &api, int64_t size, const RankBody &body) {
  for (const Status &status : runOnDevices(api, size, body))
    EXPECT_TRUE(status.ok()) << status.message();
}

/// Starts all-reduces on random groups and waits at the end.
class RandomSums {
public:
  Status run(World &world, uint64_t seed) {
    int64_t pair = world.rank() / 2 * 2;
    MESHPLAN_RETURN_IF_ERROR(add(world.createWorldGroup("a")));
    MESHPLAN_RETURN_IF_ERROR(add(world.createWorldGroup("b")));
    MESHPLAN_RETURN_IF_ERROR(add(world.createGroup({pair, pair + 1}, "c")));
    std::mt19937_64 random(seed); // the same on all ranks
    for (int i = 0; i < 40; ++i)
      MESHPLAN_RETURN_IF_ERROR(start(static_cast<int64_t>(random() % groups.size())));
    for (Pending &each : pending)
      MESHPLAN_RETURN_IF_ERROR(each->wait());
    MESHPLAN_RETURN_IF_ERROR(world.synchronize());
    for (size_t i = 0; i < sums.size(); ++i)
      EXPECT_EQ(sums[i], static_cast<float>(groups[started[i].communicator]->size()));
    return Status();
  }

  std::vector<FakeLaunch> started;

private:
  Status add(Expected<std::unique_ptr<Group>> group) {
    MESHPLAN_ASSIGN_OR_RETURN(auto made, std::move(group));
    groups.push_back(std::move(made));
    return Status();
  }

  Status start(int64_t communicator) {
    started.push_back({communicator, counts[communicator]++});
    float &sum = sums.emplace_back();
    MESHPLAN_ASSIGN_OR_RETURN(Pending next,
                              groups[communicator]->startAllReduce(&one, &sum, 1, DType::f32, Reduction::sum));
    pending.push_back(std::move(next));
    return Status();
  }

  std::vector<std::unique_ptr<Group>> groups;
  int64_t counts[3] = {};
  const float one = 1;
  std::deque<float> sums;
  std::vector<Pending> pending;
};

} // namespace

TEST(LaunchOrder, LateLaunchesHaveTheOrderOfTheStarts) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    std::atomic<uint64_t> streams = 0;
    NcclApi api = fakeNccl({.beforeLaunch = [&] { Delays(seed, streams++).pass(); }, .isNarrow = true});
    expectOkOnDevices(api, 4, [&](World &world) -> Status {
      RandomSums sums;
      MESHPLAN_RETURN_IF_ERROR(sums.run(world, seed));
      EXPECT_EQ(fakeLaunches(static_cast<int>(world.rank())), sums.started);
      return Status();
    });
  }
}

TEST(LaunchOrder, TheStandInHasNoOrderOfItsOwn) {
  // Without the backend: the first launch is late, and the second overtakes it.
  std::atomic<int> launches = 0;
  std::atomic<bool> released = false;
  NcclApi api = fakeNccl({.beforeLaunch = [&] {
    bool isFirst = launches++ == 0;
    while (isFirst && !released)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }});
  auto stream = DeviceStream::create(api.cuda);
  ASSERT_TRUE(stream.ok());
  ncclComm_t communicators[2];
  float value = 1;
  auto state = [&](ncclComm_t communicator) {
    ncclResult_t result;
    EXPECT_EQ(api.commGetAsyncError(communicator, &result), ncclSuccess);
    return result;
  };
  for (ncclComm_t &communicator : communicators) {
    ncclUniqueId id;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    EXPECT_EQ(api.getUniqueId(&id), ncclSuccess);
    EXPECT_EQ(api.commInitRankConfig(&communicator, 1, id, 0, &config), ncclInProgress);
    EXPECT_EQ(state(communicator), ncclSuccess);
    EXPECT_EQ(api.allReduce(&value, &value, 1, ncclFloat32, ncclSum, communicator, stream->get()), ncclInProgress);
    // The first has begun to be late before the second is called.
    while (launches == 0)
      std::this_thread::yield();
  }
  while (state(communicators[1]) == ncclInProgress)
    std::this_thread::yield();
  EXPECT_EQ(state(communicators[0]), ncclInProgress);
  released = true;
  while (state(communicators[0]) == ncclInProgress)
    std::this_thread::yield();
  EXPECT_THAT(fakeLaunches(currentFakeDevice()), testing::ElementsAre(FakeLaunch{1, 0}, FakeLaunch{0, 0}));
  for (ncclComm_t communicator : communicators)
    EXPECT_EQ(api.commDestroy(communicator), ncclSuccess);
}

TEST(LaunchOrder, AStartDoesNotWaitForThePeersOfTheStartBefore) {
  // Rank 1 starts late, and meanwhile rank 0 sums with rank 2: all connections are there before the starts.
  std::atomic<bool> wentOn = false;
  expectOkOnDevices(fakeNccl(), 3, [&](World &world) -> Status {
    std::unique_ptr<Group> first, second;
    if (world.rank() != 2) {
      MESHPLAN_ASSIGN_OR_RETURN(first, world.createGroup({0, 1}, "a"));
    }
    if (world.rank() != 1) {
      MESHPLAN_ASSIGN_OR_RETURN(second, world.createGroup({0, 2}, "b"));
    }
    if (first)
      MESHPLAN_RETURN_IF_ERROR(first->connectPairs());
    float ones[2] = {1, 1}, others[2] = {}, sum = 0;
    std::vector<Pending> pending;
    auto keep = [&](Expected<Pending> started) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(Pending next, std::move(started));
      pending.push_back(std::move(next));
      return Status();
    };
    while (world.rank() == 1 && !wentOn)
      std::this_thread::yield();
    if (first) {
      MESHPLAN_RETURN_IF_ERROR(keep(first->startAllReduce(ones, others, 1, DType::f32, Reduction::sum)));
      MESHPLAN_RETURN_IF_ERROR(
          keep(first->startPermute(ones, 1, 1 - world.rank(), others + 1, 1, 1 - world.rank(), DType::f32)));
    }
    if (second) {
      MESHPLAN_RETURN_IF_ERROR(waitFor(second->startAllReduce(ones, &sum, 1, DType::f32, Reduction::sum)));
      if (world.rank() == 2)
        MESHPLAN_RETURN_IF_ERROR(world.synchronize());
      // Rank 2 has the sum, so that the device of rank 0 has begun it, too.
      EXPECT_EQ(world.rank() == 2 ? sum : 2, 2);
      wentOn = wentOn || world.rank() == 2;
    }
    for (Pending &each : pending)
      MESHPLAN_RETURN_IF_ERROR(each->wait());
    MESHPLAN_RETURN_IF_ERROR(world.synchronize());
    if (first)
      EXPECT_THAT(others, testing::ElementsAre(2, 1));
    return Status();
  });
}

TEST(NcclVersion, OldOnesAreRefused) {
  EXPECT_TRUE(checkNcclVersion(22600).ok());
  EXPECT_TRUE(checkNcclVersion(NCCL_VERSION_CODE).ok());
  EXPECT_TRUE(checkNcclVersion(30000).ok());
  EXPECT_EQ(checkNcclVersion(22505).code(), StatusCode::unsupported);
  EXPECT_THAT(checkNcclVersion(22505).message(),
              testing::StartsWith("NCCL 2.25.5 is installed, and the backend nccl needs 2.26.0 or newer, "));
  EXPECT_THAT(checkNcclVersion(2804).message(), testing::StartsWith("NCCL 2.8.4 is installed"));
}

TEST(NcclVersion, AWorldChecksIt) {
  NcclApi api = fakeNccl();
  api.getVersion = [](int *version) {
    *version = 22105;
    return ncclSuccess;
  };
  Status status = rootCause(runOnDevices(api, 1, [](World &) { return Status(); }));
  EXPECT_EQ(
      status.message(),
      "rank 0: NCCL 2.21.5 is installed, and the backend nccl needs 2.26.0 or newer, which orders the collectives "
      "of different communicators; help: install nvidia-nccl-cu13, the version that PyTorch brings, or compile "
      "with --device cpu");
}

TEST(NcclEnvironment, HasWhatNcclReads) {
  ::unsetenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  ::unsetenv("NCCL_RUNTIME_CONNECT");
  EXPECT_TRUE(prepareNcclEnvironment().ok());
  EXPECT_STREQ(std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT"), "1");
  EXPECT_STREQ(std::getenv("NCCL_RUNTIME_CONNECT"), "0");
  EXPECT_TRUE(prepareNcclEnvironment().ok()) << "the user may have set the same";
}

TEST(NcclEnvironment, OtherValuesOfTheUserAreRefused) {
  ::setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "0", 1);
  Status status = prepareNcclEnvironment();
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "the environment has NCCL_LAUNCH_ORDER_IMPLICIT=0, and the backend nccl needs 1: else "
                              "collectives of different communicators may wait for each other forever; help: unset it");
  ::unsetenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  ::setenv("NCCL_RUNTIME_CONNECT", "1", 1);
  EXPECT_THAT(prepareNcclEnvironment().message(),
              testing::StartsWith("the environment has NCCL_RUNTIME_CONNECT=1, and the backend nccl needs 0: "));
  ::unsetenv("NCCL_RUNTIME_CONNECT");
  EXPECT_TRUE(prepareNcclEnvironment().ok());
}
