//===- process_rank.cpp - this process is one rank of several -------------===//

#include "tools/meshplan_run/ranks/process_rank.h"

#include "runtime/launch/placement.h"
#include "runtime/tensor/compute_scope.h"

using namespace meshplan;

ProcessRank::ProcessRank(ProcessCoordinates coordinates, std::chrono::milliseconds timeout) : coordinates(coordinates) {
  rankOptions.timeout = timeout;
  rankOptions.onFailure = [this](int64_t, const Status &failure) { report(failure); };
  rankOptions.onStuck = endStuck;
}

int ProcessRank::runAll(const ProcessRunner &runner, const Command &command) {
  Status status = runner(rankOptions, [&](World &ownWorld) {
    world = &ownWorld;
    return command(*this);
  });
  if (!status.ok() && !reported)
    report(status);
  return status.ok() ? 0 : 1;
}

Status ProcessRank::run(int64_t worldSize, const RankBody &body) {
  MESHPLAN_RETURN_IF_ERROR(checkProcessCount(coordinates.size, worldSize));
  return body(*world);
}

int ProcessRank::computeThreads(int64_t) const { return threadsPerRank(1, static_cast<int>(coordinates.localSize)); }

void ProcessRank::report(const Status &failure) {
  reported = true;
  reportError(withRank(failure, coordinates.rank));
}
