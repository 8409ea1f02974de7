//===- threads_run_world.cpp - the suite over threads ---------------------===//

#include "test/conformance/run_world.h"

#include "runtime/comm/threads/run_threads.h"

namespace meshplan {

std::vector<Status> runWorld(int64_t size, std::chrono::milliseconds timeout, const RankBody &body) {
  return runThreads(size, {.timeout = timeout, .onStuck = nullptr}, body);
}

Omissions omissions() { return {}; }

} // namespace meshplan
