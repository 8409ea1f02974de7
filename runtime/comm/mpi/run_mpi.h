//===- run_mpi.h - one rank in each process ----------------------*- C++ -*-===//
//
// The `mpi` backend: mpirun or srun has started the processes, each of which is
// one rank. Sums are added here, in the same order as by `threads`, and not by
// MPI, whose order is its own.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_RUN_MPI_H
#define MESHPLAN_RUNTIME_COMM_MPI_RUN_MPI_H

#include "runtime/comm/run_rank.h"

#include <functional>

namespace meshplan {

/// This process among all that were started. One at a time; create, use and
/// destroy it on the main thread, before other threads exist.
class MpiProcess {
public:
  /// What to do if MPI has not started within a time. It waits for all processes and cannot be stopped: `expired`,
  /// which runs on another thread, has to end this process.
  struct StartLimit {
    std::chrono::milliseconds time;
    std::function<void()> expired;
  };

  /// Starts MPI, which waits until all processes have done the same. From here on SIGTERM ends the run with a message
  /// on every rank instead of this process alone.
  static Expected<std::unique_ptr<MpiProcess>> start(const std::optional<StartLimit> &limit = std::nullopt);

  /// Ends MPI, if all processes ended the run together.
  ~MpiProcess();

  int64_t rank() const { return ownRank; }
  int64_t size() const { return processCount; }
  /// Processes on this machine, this one among them.
  int64_t localSize() const { return processesHere; }
  /// The number of this one among them, from 0.
  int64_t localRank() const { return rankHere; }

  /// Runs `body` in a thread of its own, moves data meanwhile, and returns what the body returned. After a failure it
  /// returns when all ranks have, or after 2 s, so that a launcher which kills the other ranks on the first exit status
  /// does not keep them from reporting. Of `ranks` processes, the others take no part and return ok.
  Status run(const RankOptions &options, const RankBody &body, int64_t ranks);
  Status run(const RankOptions &options, const RankBody &body) { return run(options, body, processCount); }

private:
  MpiProcess() = default;

  int64_t ownRank = 0, processCount = 0, processesHere = 0, rankHere = 0;
  bool together = true; // no process is known to have ended alone
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_RUN_MPI_H
