//===- mpi_ranks.cpp - one rank of several over MPI -----------------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "runtime/launch/placement.h"
#include "tools/meshplan_run/ranks/process_rank.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace meshplan;

/// Minimum time for MPI to start: a launcher starts processes one after the other, on machines that may be busy.
static constexpr std::chrono::seconds leastStart(30);

/// Ends this process if the others do not arrive in time. MPI does not tell which ones are missing.
static MpiProcess::StartLimit startLimit(const Placement &placement, std::chrono::milliseconds timeout) {
  auto time = std::max<std::chrono::milliseconds>(timeout, leastStart);
  return {time, [&placement, time] {
            Status missing(StatusCode::timeout,
                           "MPI has not started within " + std::to_string(time.count() / 1000) +
                               " s: a process of the job is missing, stopped, or has ended before");
            reportError(withRank(missing, placement.rank));
            std::fflush(nullptr);
            std::_Exit(1);
          }};
}

int meshplan::runMpiRank(const RunOptions &options, const Placement &placement, const Command &command) {
  auto started = MpiProcess::start(startLimit(placement, timeoutOf(options)));
  if (!started)
    return reportError(withRank(started.status(), placement.rank));
  MpiProcess &process = **started;
  Status agreed = checkAgainstMpi(placement, process.rank(), process.size());
  // A single process has no others to tell, and the user knows the launcher's number of the rank.
  if (!agreed.ok() && process.size() == 1)
    return reportError(withRank(agreed, placement.rank));
  ProcessCoordinates coordinates{process.rank(), process.size(), placement.localRank.value_or(process.localRank()),
                                 process.localSize()};
  auto runner = [&](const RankOptions &rankOptions, const RankBody &body) { return process.run(rankOptions, body); };
  return ProcessRank(coordinates, timeoutOf(options)).runAll(runner, [&](Ranks &own) -> Status {
    MESHPLAN_RETURN_IF_ERROR(agreed);
    return command(own);
  });
}
