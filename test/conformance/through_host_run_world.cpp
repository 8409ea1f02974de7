//===- through_host_run_world.cpp - the suite through the host's memory ---===//

#include "test/conformance/nccl_omissions.h"
#include "test/lib/fake_nccl/fake_cuda.h"
#include "test/lib/fake_nccl/staged_world.h"
#include "test/lib/one_gpu/nccl_through_host.h"

namespace meshplan {

std::vector<Status> runWorld(int64_t size, std::chrono::milliseconds timeout, const RankBody &body) {
  return runStaged(ncclThroughHost(fakeCuda()), size, timeout, body);
}

Omissions omissions() { return ncclOmissions(); }

} // namespace meshplan
