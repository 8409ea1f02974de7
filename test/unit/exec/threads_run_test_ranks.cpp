#include "test/unit/exec/run_test_ranks.h"

#include "runtime/comm/threads/run_threads.h"

std::vector<meshplan::Status> meshplan::runTestRanks(int64_t size, std::chrono::milliseconds timeout,
                                                     const RankBody &body) {
  return runThreads(size, {.timeout = timeout, .onStuck = nullptr}, body);
}

std::string meshplan::sharedFile(const std::string &folder) { return folder + "/out.safetensors"; }
