#include "test/unit/exec/run_test_ranks.h"

#include "test/lib/fake_nccl/fake_nccl.h"
#include "test/lib/fake_nccl/staged_world.h"

std::vector<meshplan::Status> meshplan::runTestRanks(int64_t size, std::chrono::milliseconds timeout,
                                                     const RankBody &body) {
  return runStaged(fakeNccl(), size, timeout, body);
}

std::string meshplan::sharedFile(const std::string &folder) { return folder + "/out.safetensors"; }
