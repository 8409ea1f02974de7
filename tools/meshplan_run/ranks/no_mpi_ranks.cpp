//===- no_mpi_ranks.cpp - refusal of builds without MPI -------------------===//

#include "runtime/launch/placement.h"
#include "tools/meshplan_run/ranks/ranks.h"

using namespace meshplan;

int meshplan::runMpiRank(const RunOptions &, const Placement &, const Command &) {
  return reportError(Status(StatusCode::unsupported,
                            "this build has no backend mpi; help: install MPI and build again, "
                            "or start one process, which runs all ranks"));
}
