//===- nccl_through_host_test.cpp - ranks that share a GPU ----------------===//

#include "test/lib/one_gpu/nccl_through_host.h"

#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/nccl/run_nccl.h"
#include "runtime/comm/threads/run_threads.h"
#include "test/lib/fake_nccl/fake_buffers.h"
#include "test/lib/fake_nccl/fake_cuda.h"

#include <array>
#include <gmock/gmock.h>

namespace meshplan {
namespace {

using Body = std::function<Status(World &, FakeStream &compute)>;

/// One stream for all ranks, like the default stream of a GPU.
std::vector<Status> runOnOneStream(const CudaApi &cuda, int64_t size, const Body &body) {
  NcclApi api = ncclThroughHost(cuda);
  auto compute = DeviceStream::create(api.cuda);
  return runThreads(size, {.timeout = std::chrono::seconds(20), .onStuck = nullptr}, [&](World &host) -> Status {
    return runNccl(api, host, {0, compute->get()},
                   [&](World &world) { return body(world, fakeStreamOf(compute->get())); });
  });
}

void expectOk(int64_t size, const Body &body) {
  for (const Status &status : runOnOneStream(fakeCuda(), size, body))
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(NcclThroughHost, RanksShareAStream) {
  // Each collective is ordered between its rank's work before and after it, and no work of the stream waits for a host
  // thread.
  std::vector<std::array<float, 20>> seen(3);
  expectOk(3, [&](World &world, FakeStream &stream) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    for (int step = 0; step < 20; ++step) {
      float input = -1, output = -1;
      auto rank = static_cast<size_t>(world.rank());
      stream.push([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(rank));
        input = static_cast<float>(step + static_cast<int>(rank));
      });
      MESHPLAN_RETURN_IF_ERROR(waitFor(group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum)));
      stream.push([&] { seen[rank][step] = output; });
      MESHPLAN_RETURN_IF_ERROR(world.synchronize());
    }
    return Status();
  });
  for (const auto &ofRank : seen)
    for (int step = 0; step < 20; ++step)
      EXPECT_EQ(ofRank[step], 3.0f * static_cast<float>(step) + 3);
}

TEST(NcclThroughHost, NoRankPollsForAnother) {
  // After its start, rank 0 is delayed on the host until rank 1 has the sum.
  expectOk(2, [](World &world, FakeStream &) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    MESHPLAN_ASSIGN_OR_RETURN(auto hosts, world.host().createWorldGroup("hosts"));
    float input = static_cast<float>(world.rank() + 1), output = 0;
    MESHPLAN_ASSIGN_OR_RETURN(Pending sum, group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum));
    if (world.rank() == 1) {
      MESHPLAN_RETURN_IF_ERROR(sum->wait());
      MESHPLAN_RETURN_IF_ERROR(world.synchronize());
    }
    MESHPLAN_RETURN_IF_ERROR(waitFor(hosts->startBarrier()));
    MESHPLAN_RETURN_IF_ERROR(sum->wait());
    MESHPLAN_RETURN_IF_ERROR(world.synchronize());
    EXPECT_EQ(output, 3);
    return Status();
  });
}

TEST(NcclThroughHost, RegisteredBuffersAreMemoryOfTheDevice) {
  static int allocated, freed;
  allocated = freed = 0;
  static const CudaApi fake = fakeCuda();
  CudaApi cuda = fake;
  cuda.malloc = [](void **memory, size_t size) {
    ++allocated;
    return fake.malloc(memory, size);
  };
  cuda.free = [](void *memory) {
    ++freed;
    return fake.free(memory);
  };
  std::vector<Status> statuses = runOnOneStream(cuda, 1, [](World &world, FakeStream &) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("dp"));
    MESHPLAN_ASSIGN_OR_RETURN(std::shared_ptr<void> buffer, world.allocateBuffer(64));
    MESHPLAN_ASSIGN_OR_RETURN(auto registration, group->registerBuffer(buffer.get(), 64));
    EXPECT_EQ(fakeBuffers().registered, 1);
    MESHPLAN_RETURN_IF_ERROR(
        waitFor(group->startAllReduce(buffer.get(), buffer.get(), 16, DType::f32, Reduction::sum)));
    return world.synchronize();
  });
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].message();
  EXPECT_EQ(allocated, 1);
  EXPECT_EQ(freed, 1);
}

TEST(NcclThroughHost, ACopyThatFailsEndsTheRun) {
  CudaApi cuda = fakeCuda();
  cuda.memcpyAsync = [](void *, const void *, size_t, cudaMemcpyKind, cudaStream_t) { return cudaErrorUnknown; };
  Status cause = rootCause(runOnOneStream(cuda, 2, [](World &world, FakeStream &) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("tp"));
    float input = 1, output = 0;
    return waitFor(group->startAllReduce(&input, &output, 1, DType::f32, Reduction::sum, {12, ""}));
  }));
  EXPECT_THAT(cause.message(), testing::MatchesRegex("rank [01]: all-reduce 12 on 'tp': NCCL: unhandled cuda error "
                                                     "\\(CUDA: unknown error\\)"));
}

} // namespace
} // namespace meshplan
