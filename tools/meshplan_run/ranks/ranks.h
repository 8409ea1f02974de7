//===- ranks.h - the ranks that run in this process --------------*- C++ -*-===//
//
// A process that is started alone runs all ranks as threads. One that a launcher starts as one of several is one rank.
// A subcommand works the same in both cases: it is called once in each process, and runs a body for each rank of the
// process.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_RANKS_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_RANKS_H

#include "runtime/comm/run_rank.h"
#include "tools/meshplan_run/options.h"

#include <optional>

namespace meshplan {

struct MeetingPoint;
struct Placement;
struct Workload;

class Ranks {
public:
  virtual ~Ranks() = default;

  /// Calls `body` for each rank of this process and returns the root cause of a failure. `invalid` if the total number
  /// of ranks is not `worldSize`.
  virtual Status run(int64_t worldSize, const RankBody &body) = 0;

  /// Number of threads that each of `worldSize` ranks may compute with.
  virtual int computeThreads(int64_t worldSize) const = 0;

  /// True if all ranks are in this process. Otherwise a launcher may have its output, even if that is a terminal.
  virtual bool areAllHere() const = 0;

  /// The number of the rank, one of this process, among the ranks of its machine; nothing if it is unknown.
  virtual std::optional<int64_t> localRank(int64_t rank) const = 0;

protected:
  /// Called by a backend when ranks hang in an operator: removes the temporary files, reports, and ends the process.
  [[noreturn]] static void endStuck(const Status &cause, std::span<const int64_t> ranks);
};

using Command = std::function<Status(Ranks &)>;

/// Determines how this process was started, runs `command` in it, and prints an error. Returns the exit status.
int runCommand(const RunOptions &options, const Workload &workload, const Command &command);

std::chrono::milliseconds timeoutOf(const RunOptions &options);

/// The status with the rank before its message, if it is not there yet: several processes may report the same failure.
Status withRank(const Status &status, int64_t rank);

/// Prints "error: ..." and returns the exit status of a failed run.
int reportError(const Status &status);

/// runCommand for one rank of a run over MPI. A build without MPI refuses.
int runMpiRank(const RunOptions &options, const Placement &placement, const Command &command);

/// runCommand for one rank of a run whose ranks meet at a store.
int runStoreRank(const RunOptions &options, const Placement &placement, const MeetingPoint &meeting,
                 const Command &command);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_RANKS_H
