//===- through_host.cpp - the suite through the host's memory -------------===//

#include "test/conformance/backends/nccl_omissions.h"
#include "test/lib/fake_nccl/fake_cuda.h"
#include "test/lib/fake_nccl/staged_world.h"
#include "test/lib/one_gpu/nccl_through_host.h"

namespace meshplan {

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  return runStaged(ncclThroughHost(fakeCuda()), size, options.timeout, body);
}

Omissions omissions() { return ncclOmissions(); }

} // namespace meshplan
