//===- ranks.cpp - the ranks that run in this process ---------------------===//

#include "tools/meshplan_run/ranks/ranks.h"

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
  bool areAllHere() const override { return true; }
  std::optional<int64_t> localRank(int64_t rank) const override { return rank; }

private:
  RankOptions rankOptions;
};

} // namespace

std::chrono::milliseconds meshplan::timeoutOf(const RunOptions &options) {
  return std::chrono::milliseconds(std::llround(std::ceil(options.timeoutSeconds * 1000)));
}

int meshplan::runCommand(const RunOptions &options, const Workload &workload, const Command &command) {
  Environment environment = environmentOfProcess();
  auto placement = placementOf(environment);
  if (!placement)
    return reportError(placement.status());
  // Ranks on the host do not need a meeting point, so they ignore a wrong one.
  auto meeting = workload.device != "cpu" ? meetingPointOf(environment) : std::optional<MeetingPoint>();
  if (!meeting)
    return reportError(meeting.status());
  auto connection = chooseBackend(options.backend, *placement, workload, *meeting);
  if (!connection)
    return reportError(connection.status());
  if (connection->hosts == Hosts::mpi)
    return runMpiRank(options, *placement, command);
  if (connection->hosts == Hosts::store)
    return runStoreRank(options, *placement, **meeting, command);
  ThreadRanks ranks(timeoutOf(options));
  Status status = command(ranks);
  return status.ok() ? 0 : reportError(status);
}

Status meshplan::withRank(const Status &status, int64_t rank) {
  std::string name = "rank " + std::to_string(rank);
  return status.message().starts_with(name + ": ") ? status : status.withContext(name);
}

int meshplan::reportError(const Status &status) {
  // A single write, so that lines of several processes do not interleave.
  std::cerr << "meshplan-run: error: " + status.message() + "\n" << std::flush;
  return 1;
}
