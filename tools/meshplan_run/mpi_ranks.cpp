//===- mpi_ranks.cpp - one rank of several over MPI -----------------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "runtime/launch/placement.h"
#include "tools/meshplan_run/process_rank.h"

using namespace meshplan;

int meshplan::runMpiRank(const RunOptions &options, const Placement &placement, const Command &command) {
  auto started = MpiProcess::start();
  if (!started)
    return reportError(started.status());
  MpiProcess &process = **started;
  Status agreed = checkAgainstMpi(placement, process.rank(), process.size());
  // There is nobody to tell, and the launcher's number is the one that the user knows.
  if (!agreed.ok() && process.size() == 1)
    return reportError(withRank(agreed, placement.rank));
  ProcessPlace place{process.rank(), process.size(), placement.localRank.value_or(process.localRank()),
                     process.localSize()};
  auto runner = [&](const RankOptions &rankOptions, const RankBody &body) { return process.run(rankOptions, body); };
  return ProcessRank(place, timeoutOf(options)).runAll(runner, [&](Ranks &own) -> Status {
    MESHPLAN_RETURN_IF_ERROR(agreed);
    return command(own);
  });
}
