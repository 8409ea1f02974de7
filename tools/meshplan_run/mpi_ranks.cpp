//===- mpi_ranks.cpp - this process is one rank of several ----------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "runtime/launch/placement.h"
#include "runtime/tensor/compute_scope.h"
#include "tools/meshplan_run/ranks.h"

using namespace meshplan;

namespace {

class MpiRanks final : public Ranks {
public:
  MpiRanks(MpiProcess &process, const Placement &placement, std::chrono::milliseconds timeout)
      : process(process), placement(placement) {
    rankOptions.timeout = timeout;
    rankOptions.onFailure = [this](int64_t, const Status &failure) { report(failure); };
    rankOptions.onStuck = endStuck;
  }

  /// The whole command is the rank's body: whatever fails in it ends the other ranks. Returns the exit status.
  int runAll(const Command &command) {
    Status status = process.run(rankOptions, [&](World &ownWorld) {
      world = &ownWorld;
      return command(*this);
    });
    if (!status.ok() && !reported)
      report(status);
    return status.ok() ? 0 : 1;
  }

  Status run(int64_t worldSize, const RankBody &body) override {
    MESHPLAN_RETURN_IF_ERROR(checkProcessCount(process.size(), worldSize));
    return body(*world);
  }
  int computeThreads(int64_t) const override { return threadsPerRank(1, static_cast<int>(process.localSize())); }
  std::optional<int64_t> localRank(int64_t) const override { return placement.localRank.value_or(process.localRank()); }

private:
  void report(const Status &failure) {
    reported = true;
    reportError(withRank(failure, process.rank()));
  }

  MpiProcess &process;
  const Placement &placement;
  bool reported = false;
  RankOptions rankOptions;
  World *world = nullptr;
};

} // namespace

int meshplan::runMpiRank(const RunOptions &options, const Placement &placement, const Command &command) {
  auto started = MpiProcess::start();
  if (!started)
    return reportError(started.status());
  MpiProcess &process = **started;
  MpiRanks ranks(process, placement, timeoutOf(options));
  return ranks.runAll([&](Ranks &own) -> Status {
    MESHPLAN_RETURN_IF_ERROR(checkAgainstMpi(placement, process.rank(), process.size()));
    return command(own);
  });
}
