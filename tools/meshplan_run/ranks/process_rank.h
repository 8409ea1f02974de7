//===- process_rank.h - this process is one rank of several -----*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_PROCESS_RANK_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_PROCESS_RANK_H

#include "tools/meshplan_run/ranks/ranks.h"

namespace meshplan {

/// The coordinates of a process in the run.
struct ProcessCoordinates {
  int64_t rank = 0, size = 1;
  std::optional<int64_t> localRank; ///< among those of its machine
  int64_t localSize = 1;
};

/// Runs a rank's body in this process over some backend; returns the body's status.
using ProcessRunner = std::function<Status(const RankOptions &, const RankBody &)>;

class ProcessRank final : public Ranks {
public:
  ProcessRank(ProcessCoordinates coordinates, std::chrono::milliseconds timeout);

  /// Runs the whole command as the rank's body, so that any failure in it ends the other ranks. Returns the exit
  /// status.
  int runAll(const ProcessRunner &runner, const Command &command);

  Status run(int64_t worldSize, const RankBody &body) override;
  int computeThreads(int64_t worldSize) const override;
  bool areAllHere() const override { return coordinates.size == 1; }
  std::optional<int64_t> localRank(int64_t) const override { return coordinates.localRank; }

private:
  void report(const Status &failure);

  ProcessCoordinates coordinates;
  bool reported = false;
  RankOptions rankOptions;
  World *world = nullptr;
};

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_PROCESS_RANK_H
