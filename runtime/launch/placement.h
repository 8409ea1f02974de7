//===- placement.h - how this process was started ----------------*- C++ -*-===//
//
// A launcher tells each process its rank and the number of processes in
// variables of its own. They are read in this order:
//
//   Open MPI   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
//   PMI        PMI_RANK, PMI_SIZE
//   PMIx       PMIX_RANK, which comes without a size
//   torchrun   RANK, WORLD_SIZE
//   Slurm      SLURM_PROCID, and SLURM_STEP_NUM_TASKS or else SLURM_NTASKS
//
// The first that is there counts, and the others must agree. Slurm stands
// apart: it counts alone and is not compared, because a launcher inside of an
// allocation is itself such a task and hands its variables on; and only within
// a step (SLURM_STEP_ID), because a batch script has them too.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_LAUNCH_PLACEMENT_H
#define MESHPLAN_RUNTIME_LAUNCH_PLACEMENT_H

#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <optional>

namespace meshplan {

using Environment = std::map<std::string, std::string, std::less<>>;

struct Placement {
  std::string source; ///< the variables that tell: "PMI_RANK and PMI_SIZE"; empty: no launcher
  int64_t rank = 0;
  std::optional<int64_t> size = 1; ///< processes; nothing when the launcher does not say

  /// This process is to run all ranks.
  bool alone() const { return size == 1; }
};

/// `invalid` when a variable is no number, a pair is not complete, a rank does
/// not fit its size, or two launchers disagree.
Expected<Placement> placementOf(const Environment &environment);

enum class Backend { threads, mpi };

/// `asked` is the user's word, or empty: then mpi for several processes, else
/// threads. `invalid` for threads in one of several processes.
Expected<Backend> chooseBackend(std::string_view asked, const Placement &placement);

/// Compares with what MPI says of this process, which is what counts.
Status checkAgainstMpi(const Placement &placement, int64_t mpiRank, int64_t mpiSize);

/// `processes` were started, one for each rank; the schedule is for `ranks`.
Status checkProcessCount(int64_t processes, int64_t ranks);

/// The variables of this process.
Environment environmentOfProcess();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_LAUNCH_PLACEMENT_H
