//===- nccl.cpp - the suite over nccl, a GPU for each rank ----------------===//

#include "test/conformance/backends/nccl_omissions.h"
#include "test/conformance/helpers.h"
#include "test/lib/fake_nccl/staged_world.h"

#include <cstdio>

namespace meshplan {

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  return runStaged(**openNccl(), size, options.timeout, body);
}

Omissions omissions() { return ncclOmissions("NCCL adds and rounds in an order of its own"); }

} // namespace meshplan

int main(int argc, char **argv) {
  // NCCL does not run two ranks on one GPU, and the suite has tests with six ranks.
  constexpr int neededDevices = 6, skipped = 77;
  auto api = meshplan::openNccl();
  int devices = api ? meshplan::deviceCountOf((*api)->cuda) : 0;
  if (devices < neededDevices) {
    std::printf("skipped: %d GPUs are needed, this machine has %d%s%s\n", neededDevices, devices, api ? "" : ": ",
                api.status().message().c_str());
    return skipped;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
