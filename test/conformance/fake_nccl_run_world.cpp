//===- fake_nccl_run_world.cpp - the suite over nccl, without a GPU -------===//

#include "test/conformance/nccl_omissions.h"
#include "test/lib/fake_nccl/fake_nccl.h"
#include "test/lib/fake_nccl/staged_world.h"

namespace meshplan {

std::vector<Status> runWorld(int64_t size, std::chrono::milliseconds timeout, const RankBody &body) {
  return runStaged(fakeNccl(), size, timeout, body);
}

Omissions omissions() { return ncclOmissions(); }

} // namespace meshplan
