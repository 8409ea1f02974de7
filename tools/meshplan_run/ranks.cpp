//===- ranks.cpp - the ranks that run in this process ---------------------===//

#include "tools/meshplan_run/ranks.h"

#include "runtime/base/names.h"
#include "runtime/base/temporary_files.h"
#include "runtime/comm/threads/run_threads.h"
#include "runtime/launch/placement.h"
#include "runtime/tensor/compute_scope.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace meshplan;

void Ranks::endStuck(const Status &cause, std::span<const int64_t> ranks) {
  removeTemporaryFiles();
  reportError(Status::error(cause.code(), cause.message(), "; ", rankList(ranks), " did not return"));
  std::fflush(nullptr);
  std::_Exit(1);
}

namespace {

/// All ranks are threads of this process.
class ThreadRanks final : public Ranks {
public:
  explicit ThreadRanks(std::chrono::milliseconds timeout) {
    rankOptions.timeout = timeout;
    rankOptions.onStuck = endStuck;
  }

  Status run(int64_t worldSize, const RankBody &body) override {
    return rootCause(runThreads(worldSize, rankOptions, body));
  }
  int computeThreads(int64_t worldSize) const override { return threadsPerRank(static_cast<int>(worldSize)); }

private:
  RankOptions rankOptions;
};

} // namespace

std::chrono::milliseconds meshplan::timeoutOf(const RunOptions &options) {
  return std::chrono::milliseconds(std::llround(std::ceil(options.timeoutSeconds * 1000)));
}

int meshplan::runCommand(const RunOptions &options, const Command &command) {
  auto placement = placementOf(environmentOfProcess());
  if (!placement)
    return reportError(placement.status());
  auto backend = chooseBackend(options.backend, *placement);
  if (!backend)
    return reportError(backend.status());
  if (*backend == Backend::mpi)
    return runMpiRank(options, *placement, command);
  ThreadRanks ranks(timeoutOf(options));
  Status status = command(ranks);
  return status.ok() ? 0 : reportError(status);
}

int meshplan::reportError(const Status &status) {
  // One write, so that the lines of several processes do not mix.
  std::cerr << "meshplan-run: error: " + status.message() + "\n" << std::flush;
  return 1;
}
