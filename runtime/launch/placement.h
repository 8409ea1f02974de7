//===- placement.h - ranks and sizes from launchers -------------*- C++ -*-===//
//
// A launcher gives each process its rank and the number of processes in environment variables, which are read in this
// order:
//
//   Open MPI   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
//   PMI        PMI_RANK, PMI_SIZE
//   PMIx       PMIX_RANK, which comes without a size
//   torchrun   RANK, WORLD_SIZE (and TORCHELASTIC_RUN_ID, which others lack)
//   Slurm      SLURM_PROCID, and SLURM_STEP_NUM_TASKS or else SLURM_NTASKS
//
// The first one that is set counts, and the others must agree. Slurm is an exception: it counts only if no other is
// set, and is not compared, because a launcher inside an allocation is itself such a task and passes its variables on.
// It counts only inside a step (SLURM_STEP_ID), because a batch script has these variables too.
//
// The rank among the processes of a machine is the first one set of these:
//
//   OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, LOCAL_RANK, SLURM_LOCALID
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_LAUNCH_PLACEMENT_H
#define MESHPLAN_RUNTIME_LAUNCH_PLACEMENT_H

#include "runtime/launch/meeting_point.h"

#include <cstdint>
#include <optional>

namespace meshplan {

struct Placement {
  std::string source; ///< the variables used: "PMI_RANK and PMI_SIZE"; empty: no launcher
  int64_t rank = 0;
  std::optional<int64_t> size = 1;                       ///< number of processes; nullopt: not given
  std::optional<int64_t> localRank = {}, localSize = {}; ///< among the processes of this machine; nullopt: not given
  bool isMpi = false;                                    ///< the launcher starts processes of MPI
  bool isTorchrun = false;                               ///< it is torchrun itself

  /// True if this process runs all ranks.
  bool alone() const { return size == 1; }
};

/// `invalid` if a variable is not a number, one of a pair is missing, a rank does not fit its size, or two launchers
/// disagree.
Expected<Placement> placementOf(const Environment &environment);

enum class Backend { threads, mpi, nccl };

/// How the hosts of the ranks communicate. With nccl this is in addition to the data path.
enum class Hosts { threads, mpi, store };

struct Connection {
  Backend backend;
  Hosts hosts;

  bool operator==(const Connection &) const = default;
};

/// The schedule to run.
struct Workload {
  std::string device; ///< empty: the schedule cannot be read, which the other ranks must learn
  int64_t ranks = 1;
};

/// `asked` is the user's --backend, or empty. The backend is nccl for several ranks on cuda; otherwise mpi for several
/// processes and threads for one. The hosts of several processes communicate over MPI, or over a store if no MPI
/// launcher has started them and `meeting` names one. `invalid` for contradictions, such as torchrun without a store on
/// cpu.
Expected<Connection> chooseBackend(std::string_view asked, const Placement &placement, const Workload &workload,
                                   const std::optional<MeetingPoint> &meeting);

/// Compares with the rank and size of MPI, which are authoritative.
Status checkAgainstMpi(const Placement &placement, int64_t mpiRank, int64_t mpiSize);

/// Checks that `processes` processes were started for a schedule of `ranks` ranks, one each.
Status checkProcessCount(int64_t processes, int64_t ranks);

/// The GPU of a rank that is number `localRank` on its machine. `unsupported`, with a hint, if there is no GPU, or not
/// one for each rank.
Expected<int> chooseGpu(int64_t rank, std::optional<int64_t> localRank, int gpus);

/// The variables of this process.
Environment environmentOfProcess();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_LAUNCH_PLACEMENT_H
