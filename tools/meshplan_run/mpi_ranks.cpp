//===- mpi_ranks.cpp - this process is one rank of several ----------------===//

#include "runtime/comm/mpi/run_mpi.h"
#include "runtime/launch/placement.h"
#include "runtime/tensor/compute_scope.h"
#include "tools/meshplan_run/ranks.h"

using namespace meshplan;

namespace {

class MpiRanks final : public Ranks {
public:
  MpiRanks(MpiProcess &process, std::chrono::milliseconds timeout) : process(process) {
    rankOptions.timeout = timeout;
    rankOptions.onStuck = [this](const Status &cause, std::span<const int64_t> ranks) { endStuck(cause, ranks); };
  }

  /// The whole command is the rank's body: whatever fails in it ends the other ranks.
  Status runAll(const Command &command) {
    return process.run(rankOptions, [&](World &ownWorld) {
      world = &ownWorld;
      return command(*this);
    });
  }

  Status run(int64_t worldSize, const RankBody &body) override {
    MESHPLAN_RETURN_IF_ERROR(checkProcessCount(process.size(), worldSize));
    return body(*world);
  }
  int computeThreads(int64_t) const override { return threadsPerRank(1, static_cast<int>(process.localSize())); }

private:
  MpiProcess &process;
  RankOptions rankOptions;
  World *world = nullptr;
};

/// The same failure may be in several processes.
Status withRank(const Status &status, int64_t rank) {
  std::string name = "rank " + std::to_string(rank);
  return status.message().starts_with(name + ": ") ? status : status.withContext(name);
}

} // namespace

Status meshplan::runMpiRank(const RunOptions &options, const Placement &placement, const Command &command) {
  MESHPLAN_ASSIGN_OR_RETURN(std::unique_ptr<MpiProcess> process, MpiProcess::start());
  MpiRanks ranks(*process, timeoutOf(options));
  Status status = ranks.runAll([&](Ranks &own) {
    MESHPLAN_RETURN_IF_ERROR(checkAgainstMpi(placement, process->rank(), process->size()));
    return command(own);
  });
  return withRank(status, process->rank());
}
