//===- nccl_world_test.cpp - waits and synchronization --------------------===//

#include "runtime/comm/gather.h"
#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/nccl/run_nccl.h"
#include "runtime/comm/threads/run_threads.h"
#include "test/lib/fake_nccl/fake_buffers.h"
#include "test/lib/fake_nccl/fake_cuda.h"
#include "test/lib/fake_nccl/fake_nccl.h"

#include <atomic>
#include <gmock/gmock.h>

namespace meshplan {
namespace {

using DeviceBody = std::function<Status(World &, cudaStream_t compute)>;

void expectOkOnDevice(int64_t size, const DeviceBody &body) {
  NcclApi api = fakeNccl();
  std::vector<Status> statuses =
      runThreads(size, {.timeout = std::chrono::seconds(60), .onStuck = nullptr}, [&](World &host) -> Status {
        MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
        return runNccl(api, host, {static_cast<int>(host.rank()), compute.get()},
                       [&](World &world) { return body(world, compute.get()); });
      });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(NcclWorld, WaitDoesNotBlockTheRank) {
  std::atomic<bool> waited = false;
  expectOkOnDevice(2, [&](World &world, cudaStream_t compute) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    float warm = 0;
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllReduce(&warm, &warm, 1, DType::f32, Reduction::sum)));
    // Rank 1 starts the second one after rank 0 has waited for it.
    while (world.rank() == 1 && !waited)
      std::this_thread::yield();
    float input = static_cast<float>(world.rank() + 1), output = 0;
    MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum)));
    waited = true;
    MESHPLAN_RETURN_IF_ERROR(world.synchronize());
    EXPECT_EQ(output, 3);
    return Status();
  });
}

TEST(NcclWorld, ACollectiveRunsBetweenTheWorkBeforeItsStartAndAfterItsWait) {
  expectOkOnDevice(2, [&](World &world, cudaStream_t compute) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    FakeStream &stream = fakeStreamOf(compute);
    for (int step = 0; step < 20; ++step) {
      float input = -1, output = -1, seen = -1;
      stream.push([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        input = static_cast<float>(step);
      });
      MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum)));
      stream.push([&] { seen = output; });
      MESHPLAN_RETURN_IF_ERROR(world.synchronize());
      EXPECT_EQ(seen, 2.0f * static_cast<float>(step)) << "synchronize waits for the compute stream, too";
    }
    return Status();
  });
}

TEST(NcclWorld, ATimeOutIsForThePeersAndNotForOwnWork) {
  NcclApi api = fakeNccl();
  std::vector<Status> statuses =
      runThreads(2, {.timeout = std::chrono::seconds(2), .onStuck = nullptr}, [&](World &host) -> Status {
        MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
        return runNccl(api, host, {static_cast<int>(host.rank()), compute.get()}, [&](World &world) -> Status {
          MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
          // Both compute for longer than the time-out, and their collective is still in time.
          fakeStreamOf(compute.get()).push([] { std::this_thread::sleep_for(std::chrono::seconds(3)); });
          float input = 1, output = 0;
          MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum)));
          return world.synchronize();
        });
      });
  for (const Status &status : statuses)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(NcclWorld, AFailureElsewhereEndsWorkThatTakesLong) {
  std::atomic<bool> go = false;
  NcclApi api = fakeNccl();
  std::vector<Status> statuses =
      runThreads(2, {.timeout = std::chrono::seconds(60), .onStuck = nullptr}, [&](World &host) -> Status {
        MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
        return runNccl(api, host, {static_cast<int>(host.rank()), compute.get()}, [&](World &world) -> Status {
          if (world.rank() == 1)
            return Status(StatusCode::invalid, "the loss is not a number");
          fakeStreamOf(compute.get()).push([&] {
            while (!go)
              std::this_thread::yield();
          });
          Status status = world.synchronize();
          go = true;
          return status;
        });
      });
  EXPECT_EQ(statuses[0].message(), "rank 0: waiting for the device: aborted: rank 1 failed: the loss is not a number");
  EXPECT_EQ(statuses[0].code(), StatusCode::peerLost);
}

TEST(NcclWorld, SmallMessagesGoOverTheHosts) {
  expectOkOnDevice(2, [&](World &world, cudaStream_t) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto texts, gatherAtFirst(world, "rank " + std::to_string(world.rank())));
    EXPECT_EQ(texts.size(), world.rank() == 0 ? 2u : 0u);
    return world.agree({});
  });
}

TEST(NcclWorld, BuffersAreRegisteredUntilTheyGo) {
  std::atomic<int> known = 0;
  int64_t before = fakeBuffers().registrations;
  expectOkOnDevice(2, [&](World &world, cudaStream_t) -> Status {
    EXPECT_TRUE(world.registersBuffers());
    MESHPLAN_ASSIGN_OR_RETURN(auto tp, world.createWorldGroup("tp"));
    MESHPLAN_ASSIGN_OR_RETURN(auto dp, world.createWorldGroup("dp"));
    MESHPLAN_ASSIGN_OR_RETURN(std::shared_ptr<void> buffer, world.allocateBuffer(64));
    EXPECT_NE(buffer, nullptr);
    MESHPLAN_ASSIGN_OR_RETURN(auto first, tp->registerBuffer(buffer.get(), 64));
    MESHPLAN_ASSIGN_OR_RETURN(auto second, dp->registerBuffer(buffer.get(), 64));
    EXPECT_TRUE(first && second);
    known += 2;
    auto *values = static_cast<float *>(buffer.get());
    values[0] = static_cast<float>(world.rank() + 1);
    MESHPLAN_RETURN_IF_ERROR(waitFor(tp->startAllReduce(values, values, 1, DType::f32, Reduction::sum)));
    MESHPLAN_RETURN_IF_ERROR(world.synchronize());
    EXPECT_EQ(values[0], 3);
    return Status();
  });
  EXPECT_EQ(known, 4);
  EXPECT_EQ(fakeBuffers().registrations - before, 4);
  EXPECT_EQ(fakeBuffers().registered, 0);
  EXPECT_EQ(fakeBuffers().allocated, 0) << "the fake keeps what is freed while it is registered";
}

TEST(NcclWorld, AnOldLibraryRegistersNothing) {
  NcclApi api = fakeNccl();
  api.commRegister = nullptr;
  std::vector<Status> statuses = runThreads(1, {}, [&](World &host) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
    return runNccl(api, host, {0, compute.get()}, [&](World &world) {
      EXPECT_TRUE(world.registersBuffers()) << "none of the plan's options is left out in silence";
      return world.allocateBuffer(64).status();
    });
  });
  EXPECT_EQ(statuses[0].code(), StatusCode::unsupported);
  EXPECT_EQ(statuses[0].message(),
            "rank 0: a buffer of 64 bytes: this NCCL cannot register buffers; help: install 2.19 or "
            "newer, or remove 'register buffers'");
}

TEST(NcclWorld, ABufferThatIsNotRegisteredEndsTheRun) {
  NcclApi api = fakeNccl();
  std::vector<Status> statuses =
      runThreads(2, {.timeout = std::chrono::seconds(60), .onStuck = nullptr}, [&](World &host) -> Status {
        MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
        return runNccl(api, host, {static_cast<int>(host.rank()), compute.get()}, [&](World &world) -> Status {
          MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("dp"));
          float own = 0;
          if (world.rank() == 1)
            return group->registerBuffer(&own, 4).status();
          return waitFor(group->startAllReduce(&own, &own, 1, DType::f32, Reduction::sum)).ok() ? world.synchronize()
                                                                                                : world.failure();
        });
      });
  EXPECT_THAT(rootCause(statuses).message(), testing::HasSubstr("rank 1: registering 4 bytes with 'dp'"));
}

} // namespace
} // namespace meshplan
