//===- threads.cpp - the suite over threads -------------------------------===//

#include "test/conformance/run_world.h"

#include "runtime/comm/threads/run_threads.h"

namespace meshplan {

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  return runThreads(size, {.timeout = options.timeout, .onStuck = nullptr, .beforeProgress = options.beforeProgress},
                    body);
}

Omissions omissions() { return {}; }

} // namespace meshplan
