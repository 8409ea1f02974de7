//===- run_mpi.cpp - one rank per process ---------------------------------===//

#include "runtime/comm/mpi/run_mpi.h"

#include "runtime/base/ending_signal.h"
#include "runtime/comm/mpi/api.h"
#include "runtime/comm/mpi/mpi_world.h"
#include "runtime/comm/mpi/start_watch.h"

#include <thread>
#include <tuple>

using namespace meshplan;

/// Rank and number of this process among those on its machine.
static Expected<std::pair<int64_t, int64_t>> findLocalRank() {
  MPI_Comm local;
  int rank = 0, size = 0;
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_split_type, mpi().world, MPI_COMM_TYPE_SHARED, 0, mpi().nullInfo, &local);
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_rank, local, &rank);
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_size, local, &size);
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_free, &local);
  return std::pair<int64_t, int64_t>(rank, size);
}

Expected<std::unique_ptr<MpiProcess>> MpiProcess::start(const std::optional<StartLimit> &limit) {
  if (!installedMpi())
    return installedMpi().status();
  // Before MPI starts threads, because they inherit the signal mask.
  holdEndingSignal();
  std::optional<StartWatch> watch;
  if (limit)
    watch.emplace(limit->time, limit->expired);
  int provided = 0, rank = 0, size = 0;
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Init_thread, nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED)
    return Status(StatusCode::unsupported, "this MPI does not allow a process to have threads");
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_set_errhandler, mpi().world, mpi().errorsReturn);
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_rank, mpi().world, &rank);
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_size, mpi().world, &size);
  std::unique_ptr<MpiProcess> process(new MpiProcess());
  process->ownRank = rank;
  process->processCount = size;
  MESHPLAN_ASSIGN_OR_RETURN(auto local, findLocalRank());
  std::tie(process->rankHere, process->processesHere) = local;
  return process;
}

MpiProcess::~MpiProcess() {
  // MPI_Finalize waits for all processes, even for those that have died.
  if (together)
    (void)mpiStatus(mpi().MPI_Finalize(), "MPI_Finalize");
}

Status MpiProcess::run(const RankOptions &options, const RankBody &body, int64_t ranks) {
  // A new communicator keeps messages of an earlier, failed run out of this one.
  MPI_Comm communicator;
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Comm_split, mpi().world, ownRank < ranks ? 0 : MPI_UNDEFINED,
                               static_cast<int>(ownRank), &communicator);
  if (communicator == mpi().nullComm)
    return Status();
  Transport transport(communicator);
  EngineOptions engineOptions{.timeout = options.timeout,
                              .interruption = [this] { return takeEndingSignal(ownRank); },
                              .onStuck = nullptr,
                              .beforeProgress = options.beforeProgress};
  if (options.onStuck)
    engineOptions.onStuck = [&](const Status &cause) { options.onStuck(cause, std::span(&ownRank, 1)); };
  Engine engine(transport, std::move(engineOptions));
  Status result;
  // The rank gets the new thread, because MPI must be called by the thread that initialized it (MPI_THREAD_FUNNELED).
  std::thread rank([&] {
    MpiWorld world(engine);
    result = runRank(world, options, body);
    engine.leave(!result.ok());
  });
  Status end = engine.serve();
  // Does not wait: `serve` ends only after the body has returned.
  rank.join();
  together &= engine.allLeft();
  return result.ok() ? end : result;
}
