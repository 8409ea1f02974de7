//===- fake_nccl.cpp - the suite over nccl, without a GPU -----------------===//

#include "test/lib/fake_nccl/fake_nccl.h"
#include "test/conformance/backends/nccl_omissions.h"
#include "test/lib/fake_nccl/staged_world.h"

namespace meshplan {

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  // The launches of this stand-in are what makes progress.
  return runStaged(fakeNccl({.beforeLaunch = options.beforeProgress, .isNarrow = true}), size, options.timeout, body);
}

Omissions omissions() { return ncclOmissions(); }

} // namespace meshplan
