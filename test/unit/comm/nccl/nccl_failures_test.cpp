//===- nccl_failures_test.cpp - when NCCL or a device fails ---------------===//

#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/threads/run_threads.h"
#include "test/lib/fake_nccl/fake_nccl.h"
#include "test/lib/fake_nccl/staged_world.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace meshplan {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longTimeout = std::chrono::seconds(60), shortTimeout = std::chrono::seconds(2);

Status sumOnes(World &world, std::string name = "tp") {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup(std::move(name)));
  float input = 1, output = 0;
  return waitFor(group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum, {12, "a.plan:3 rowwise tp"}));
}

std::vector<Status> sumOn(const NcclApi &api, std::chrono::milliseconds timeout = longTimeout) {
  return runStaged(api, 2, timeout, [](World &world) { return sumOnes(world); });
}

TEST(NcclFailures, ACommunicatorThatCannotBeMade) {
  NcclApi api = fakeNccl();
  api.commInitRankConfig = [](ncclComm_t *, int, ncclUniqueId, int, ncclConfig_t *) { return ncclRemoteError; };
  for (const Status &status : sumOn(api))
    EXPECT_THAT(status.message(), HasSubstr("making the communicator 'tp': NCCL: remote process exited"));
}

TEST(NcclFailures, ACommunicatorThatDoesNotConnect) {
  NcclApi api = fakeNccl();
  api.commGetAsyncError = [](ncclComm_t, ncclResult_t *state) {
    *state = ncclInProgress;
    return ncclSuccess;
  };
  Status cause = rootCause(sumOn(api, shortTimeout));
  EXPECT_EQ(cause.code(), StatusCode::timeout);
  EXPECT_THAT(cause.message(),
              testing::MatchesRegex("rank [01]: making the communicator 'tp': time-out after 2 s: NCCL has not "
                                    "connected ranks 0, 1"));
}

TEST(NcclFailures, NoUniqueId) {
  NcclApi api = fakeNccl();
  api.getUniqueId = [](ncclUniqueId *) { return ncclSystemError; };
  std::vector<Status> statuses = sumOn(api);
  EXPECT_EQ(statuses[0].message(), "rank 0: making the communicator 'tp': NCCL: error");
  EXPECT_THAT(statuses[1].message(), HasSubstr("rank 0: making the communicator 'tp': NCCL: error"));
}

TEST(NcclFailures, ACallThatIsRefused) {
  NcclApi api = fakeNccl();
  api.allReduce = [](const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t) {
    return ncclInvalidUsage;
  };
  std::vector<Status> statuses = sumOn(api);
  Status cause = rootCause(statuses);
  EXPECT_THAT(cause.message(),
              testing::MatchesRegex("rank [01]: all-reduce 12 on 'tp' \\(a.plan:3 rowwise tp\\): NCCL: "
                                    "invalid usage"));
}

TEST(NcclFailures, APeerThatNcclHasLost) {
  // Rank 1 is stuck outside of any collective; NCCL notices before the time-out.
  static std::atomic<bool> ready, lost;
  ready = lost = false;
  static const NcclApi fake = fakeNccl();
  NcclApi api = fake;
  api.commGetAsyncError = [](ncclComm_t handle, ncclResult_t *state) {
    ncclResult_t result = fake.commGetAsyncError(handle, state);
    if (lost)
      *state = ncclRemoteError;
    return result;
  };
  std::vector<Status> statuses = runStaged(api, 2, longTimeout, [](World &world) -> Status {
    MESHPLAN_RETURN_IF_ERROR(sumOnes(world));
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("dp"));
    if (world.rank() == 1) {
      while (!ready)
        std::this_thread::yield();
      lost = true;
      while (world.failure().ok())
        std::this_thread::yield();
      return world.failure();
    }
    float input = 1, output = 0;
    ready = true;
    return waitFor(group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum));
  });
  EXPECT_EQ(statuses[0].code(), StatusCode::peerLost);
  EXPECT_EQ(statuses[0].message(), "rank 0: all-reduce on 'dp': NCCL: remote process exited");
}

TEST(NcclFailures, DataThatDoesNotMove) {
  static const NcclApi fake = fakeNccl();
  NcclApi api = fake;
  // The enqueued call is a receive from a rank that does not exist.
  api.allReduce = [](const void *input, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t handle,
                     cudaStream_t stream) {
    static char nowhere;
    return fake.recv(&nowhere, 1, ncclInt8, 7, handle, stream);
  };
  Status cause = rootCause(sumOn(api, shortTimeout));
  EXPECT_EQ(cause.code(), StatusCode::timeout);
  EXPECT_THAT(cause.message(), testing::MatchesRegex("rank [01]: all-reduce 12 on 'tp' .*: time-out after 2 s: no "
                                                     "data moves to or from rank [01]"));
}

TEST(NcclFailures, AnAbortThatHangs) {
  // The process must still report the failure, and exit.
  static std::atomic<bool> go;
  go = false;
  static const NcclApi fake = fakeNccl();
  NcclApi api = fake;
  api.commAbort = [](ncclComm_t handle) {
    while (!go)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fake.commAbort(handle);
  };
  std::atomic<bool> peerHasSum = false, gaveUp = false, inTime = false;
  auto fails = [&](World &world) -> Status {
    Status sum = sumOnes(world);
    if (world.rank() == 1)
      peerHasSum = true;
    MESHPLAN_RETURN_IF_ERROR(sum);
    if (world.rank() == 0) {
      // The abort would end a peer that still waits for the sum.
      while (!peerHasSum)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Status(StatusCode::invalid, "the loss is not a number");
    }
    // Released once rank 0 gave up, so that the fake device of this test can end.
    for (Clock::time_point end = Clock::now() + std::chrono::seconds(20); !gaveUp && Clock::now() < end;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    inTime = gaveUp.load();
    go = true;
    return world.failure();
  };
  std::vector<Status> statuses =
      runThreads(2, {.timeout = longTimeout, .onStuck = nullptr}, [&](World &host) -> Status {
        MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
        Status status = runStagedRank(api, host, compute.get(), fails);
        if (host.rank() == 0)
          gaveUp = true;
        return status;
      });
  EXPECT_TRUE(inTime) << "rank 0 waited for an abort that did not end";
  EXPECT_EQ(statuses[0].message(), "the loss is not a number");
}

TEST(NcclFailures, NoSuchGpu) {
  NcclApi api = fakeNccl();
  api.cuda.setDevice = [](int) { return cudaErrorInvalidDevice; };
  std::vector<Status> statuses = runStaged(api, 1, longTimeout, [](World &world) { return sumOnes(world); });
  EXPECT_THAT(statuses[0].message(), HasSubstr("invalid device ordinal"));
}

TEST(NcclFailures, ReductionsThatAreRefused) {
  std::vector<Status> statuses = runStaged(fakeNccl(), 1, longTimeout, [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    float value = 1;
    return waitFor(group->startAllReduce(&value, &value, 1, DType::f32, Reduction::max, {3, ""}));
  });
  EXPECT_EQ(statuses[0].code(), StatusCode::unsupported);
  EXPECT_EQ(statuses[0].message(), "rank 0: all-reduce 3 on 'tp': NCCL's max and min of f32 drop NaN");
}

} // namespace
} // namespace meshplan
