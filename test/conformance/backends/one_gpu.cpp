//===- one_gpu.cpp - the suite on one GPU for all ranks -------------------===//

#include "test/conformance/backends/nccl_omissions.h"
#include "test/conformance/helpers.h"
#include "test/lib/fake_nccl/staged_world.h"
#include "test/lib/one_gpu/nccl_through_host.h"

#include <cstdio>

namespace meshplan {

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  return runStaged(ncclThroughHost(**openCuda()), size, options.timeout, body);
}

Omissions omissions() { return ncclOmissions(); }

} // namespace meshplan

int main(int argc, char **argv) {
  constexpr int skipped = 77;
  auto cuda = meshplan::openCuda();
  if (!cuda || meshplan::deviceCountOf(**cuda) == 0) {
    std::printf("skipped: this machine has no GPU%s%s\n", cuda ? "" : ": ", cuda.status().message().c_str());
    return skipped;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
