//===- mpi.cpp - the suite over MPI ---------------------------------------===//
//
// Every process runs all tests in the same order. A test of n ranks runs on the first n processes; then all processes
// exchange the ranks' statuses, so that the expectations hold in each process.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "test/conformance/helpers.h"
#include "test/conformance/run_in_processes.h"

#include <cstdio>

namespace meshplan {
namespace {

/// The one process of this program; set by main.
std::unique_ptr<MpiProcess> &process() {
  static std::unique_ptr<MpiProcess> instance;
  return instance;
}

} // namespace

std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body) {
  auto run = [&](std::chrono::milliseconds limit, const RankBody &rank, int64_t ranks) {
    return process()->run({.timeout = limit, .onStuck = nullptr, .beforeProgress = options.beforeProgress}, rank,
                          ranks);
  };
  return runInProcesses(run, process()->size(), size, options.timeout, body);
}

Omissions omissions() { return {}; }

} // namespace meshplan

int main(int argc, char **argv) {
  auto started = meshplan::MpiProcess::start();
  if (!started) {
    std::fprintf(stderr, "%s\n", started.status().message().c_str());
    return 1;
  }
  meshplan::process() = *std::move(started);
  // One report of the results is enough.
  if (meshplan::process()->rank() != 0)
    testing::GTEST_FLAG(brief) = true;
  testing::InitGoogleTest(&argc, argv);
  int result = RUN_ALL_TESTS();
  meshplan::process().reset();
  return result;
}
