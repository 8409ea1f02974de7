//===- placement.h - how this process was started ----------------*- C++ -*-===//
//
// A launcher tells each process its rank and the number of processes in
// variables of its own. They are read in this order:
//
//   Open MPI   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
//   PMI        PMI_RANK, PMI_SIZE
//   PMIx       PMIX_RANK, which comes without a size
//   torchrun   RANK, WORLD_SIZE (and TORCHELASTIC_RUN_ID, which others lack)
//   Slurm      SLURM_PROCID, and SLURM_STEP_NUM_TASKS or else SLURM_NTASKS
//
// The first that is there counts, and the others must agree. Slurm stands
// apart: it counts alone and is not compared, because a launcher inside of an
// allocation is itself such a task and hands its variables on; and only within
// a step (SLURM_STEP_ID), because a batch script has them too.
//
// The number among the processes of a machine is read from the launcher that
// counts, or else from the next that tells one:
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
  std::string source; ///< the variables that tell: "PMI_RANK and PMI_SIZE"; empty: no launcher
  int64_t rank = 0;
  std::optional<int64_t> size = 1;                       ///< processes; nothing when the launcher does not say
  std::optional<int64_t> localRank = {}, localSize = {}; ///< among the processes of this machine
  bool isMpi = false;                                    ///< the launcher starts processes of MPI
  bool isTorchrun = false;                               ///< it is torchrun itself

  /// This process is to run all ranks.
  bool alone() const { return size == 1; }
};

/// `invalid` when a variable is no number, a pair is not complete, a rank does
/// not fit its size, or two launchers disagree.
Expected<Placement> placementOf(const Environment &environment);

enum class Backend { threads, mpi, nccl };

/// Over what the hosts of the ranks talk: for nccl beside the data.
enum class Hosts { threads, mpi, store };

struct Connection {
  Backend backend;
  Hosts hosts;

  bool operator==(const Connection &) const = default;
};

/// What is to run.
struct Workload {
  std::string device; ///< empty: the schedule cannot be read, which the other ranks are to hear
  int64_t ranks = 1;
};

/// `asked` is the user's word, or empty. The backend is nccl for several ranks
/// on cuda, else mpi for several processes and threads for one; the hosts of
/// several processes talk over MPI, or over a store where no launcher of MPI has
/// started them and `meeting` says where it is. `invalid` for what does not fit
/// together, as torchrun and MPI.
Expected<Connection> chooseBackend(std::string_view asked, const Placement &placement, const Workload &workload,
                                   const std::optional<MeetingPoint> &meeting);

/// Compares with what MPI says of this process, which is what counts.
Status checkAgainstMpi(const Placement &placement, int64_t mpiRank, int64_t mpiSize);

/// `processes` were started, one for each rank; the schedule is for `ranks`.
Status checkProcessCount(int64_t processes, int64_t ranks);

/// The GPU of a rank that is the `localRank`-th of its machine. `unsupported`, with the way out, when there is none, or
/// not one for each.
Expected<int> chooseGpu(int64_t rank, std::optional<int64_t> localRank, int gpus);

/// The variables of this process.
Environment environmentOfProcess();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_LAUNCH_PLACEMENT_H
