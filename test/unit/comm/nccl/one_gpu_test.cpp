//===- one_gpu_test.cpp - the real libraries on one GPU -------------------===//

#include "runtime/comm/nccl/api.h"
#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/threads/run_threads.h"
#include "test/lib/fake_nccl/staged_world.h"

#include <cstdio>
#include <gmock/gmock.h>

namespace meshplan {
namespace {

void expectOk(const RankBody &body) {
  std::vector<Status> statuses = runStaged(**openNccl(), 1, std::chrono::seconds(60), body);
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].message();
}

TEST(OneGpu, CollectivesOfOneRank) {
  expectOk([](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("one"));
    std::vector<float> input = {1, 2, 3}, output(3);
    auto expectInput = [&](Expected<Pending> pending) -> Status {
      MESHPLAN_RETURN_IF_ERROR(waitFor(std::move(pending)));
      EXPECT_EQ(output, input);
      output.assign(3, 0);
      return Status();
    };
    const std::vector<int64_t> all = {3};
    MESHPLAN_RETURN_IF_ERROR(
        expectInput(group->startAllReduce(input.data(), output.data(), 3, DType::f32, Reduction::sum)));
    MESHPLAN_RETURN_IF_ERROR(expectInput(group->startAllGather(input.data(), output.data(), 3, DType::f32)));
    MESHPLAN_RETURN_IF_ERROR(
        expectInput(group->startReduceScatter(input.data(), output.data(), 3, DType::f32, Reduction::sum)));
    MESHPLAN_RETURN_IF_ERROR(expectInput(group->startAllToAll(input.data(), all, output.data(), all, DType::f32)));
    output = input;
    return expectInput(group->startBroadcast(output.data(), 3, DType::f32, 0));
  });
}

TEST(OneGpu, BuffersAreRegistered) {
  const NcclApi &api = **openNccl();
  std::vector<Status> statuses = runThreads(1, {}, [&](World &host) -> Status {
    MESHPLAN_RETURN_IF_ERROR(cudaStatus(api.cuda, api.cuda.setDevice(0)));
    MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
    return runNccl(api, host, {0, compute.get()}, [&](World &world) -> Status {
      MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("one"));
      MESHPLAN_ASSIGN_OR_RETURN(std::shared_ptr<void> buffer, world.allocateBuffer(1 << 20));
      MESHPLAN_ASSIGN_OR_RETURN(auto registration, group->registerBuffer(buffer.get(), 1 << 20));
      EXPECT_NE(registration, nullptr);
      MESHPLAN_RETURN_IF_ERROR(
          waitFor(group->startAllReduce(buffer.get(), buffer.get(), 1 << 18, DType::f32, Reduction::sum)));
      return world.synchronize();
    });
  });
  EXPECT_TRUE(statuses[0].ok()) << statuses[0].message();
}

TEST(OneGpu, AFailureEndsCleanly) {
  std::vector<Status> statuses = runStaged(**openNccl(), 1, std::chrono::seconds(60), [](World &world) -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("one"));
    std::vector<float> buffer(1000);
    MESHPLAN_ASSIGN_OR_RETURN(Pending sum,
                              group->startAllReduce(buffer.data(), buffer.data(), 1000, DType::f32, Reduction::sum));
    return Status(StatusCode::invalid, "the loss is not a number");
  });
  EXPECT_EQ(statuses[0].message(), "the loss is not a number");
}

} // namespace
} // namespace meshplan

int main(int argc, char **argv) {
  auto api = meshplan::openNccl();
  if (!api || meshplan::deviceCountOf((*api)->cuda) == 0) {
    std::printf("skipped: this machine has no GPU%s%s\n", api ? "" : ": ", api.status().message().c_str());
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
