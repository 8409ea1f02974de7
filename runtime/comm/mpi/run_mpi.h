//===- run_mpi.h - one rank per process -------------------------*- C++ -*-===//
//
// The `mpi` backend: mpirun or srun has started the processes, each of which is one rank. Sums are added here in the
// same order as by `threads`. MPI's own reductions are not used, since their order is unspecified.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_RUN_MPI_H
#define MESHPLAN_RUNTIME_COMM_MPI_RUN_MPI_H

#include "runtime/comm/run_rank.h"

#include <functional>

namespace meshplan {

/// This process among all that the launcher started. Only one at a time. Create, use and destroy it on the main thread,
/// before other threads exist.
class MpiProcess {
public:
  /// A time-out for starting MPI. MPI_Init waits for all processes and cannot be stopped, so `expired`, which runs on
  /// another thread, must end this process.
  struct StartLimit {
    std::chrono::milliseconds time;
    std::function<void()> expired;
  };

  /// Starts MPI, which waits until all processes have done the same. From now on SIGTERM ends the run with a message on
  /// every rank, instead of ending this process alone.
  static Expected<std::unique_ptr<MpiProcess>> start(const std::optional<StartLimit> &limit = std::nullopt);

  /// Finalizes MPI if all processes have ended the run together.
  ~MpiProcess();

  int64_t rank() const { return ownRank; }
  int64_t size() const { return processCount; }
  /// Number of processes on this machine, including this one.
  int64_t localSize() const { return processesHere; }
  /// Number of this process among those on its machine, from 0.
  int64_t localRank() const { return rankHere; }

  /// Runs `body` on a thread of its own, moves data meanwhile, and returns the result of the body. After a failure it
  /// returns when all ranks have ended, or after 2 s, because a launcher may kill the other ranks at the first exit
  /// status, before they have reported. Only the first `ranks` processes take part; the others return ok.
  Status run(const RankOptions &options, const RankBody &body, int64_t ranks);
  Status run(const RankOptions &options, const RankBody &body) { return run(options, body, processCount); }

private:
  MpiProcess() = default;

  int64_t ownRank = 0, processCount = 0, processesHere = 0, rankHere = 0;
  bool together = true; // false if a process may have ended alone
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_RUN_MPI_H
