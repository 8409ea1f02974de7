//===- nccl_stand_in.h - common parts of stand-ins for NCCL -----*- C++ -*-===//
//
// Ids, groups of calls, and the order in which a communicator executes them. Ranks are threads of one process. Each
// communicator moves data in its own way.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_NCCL_STAND_IN_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_NCCL_STAND_IN_H

#include "test/lib/fake_nccl/clique.h"

#include <functional>

namespace meshplan {

/// The communicator of one rank. Belongs to the rank's thread.
class StandInCommunicator {
public:
  StandInCommunicator(std::shared_ptr<Clique> clique, int rank) : clique(std::move(clique)), rank(rank) {}
  StandInCommunicator(const StandInCommunicator &) = delete;
  virtual ~StandInCommunicator() = default;

  // The functions of NCCL.

  ncclResult_t call(FakeCall next, cudaStream_t stream);
  ncclResult_t poll(ncclResult_t *state);
  /// The communicator is deleted by this.
  ncclResult_t destroy();
  void abort() { clique->abort(rank); }
  /// The text of the failure that poll has returned. It lives as long as the communicator.
  virtual const char *lastError() const { return ""; }

  /// The end of a group: launches all calls of this communicator in the group.
  void launch(cudaStream_t stream, std::vector<FakeCall> calls);

protected:
  /// Takes the calls. The previous calls have been launched.
  virtual void begin(cudaStream_t stream, std::vector<FakeCall> calls) = 0;
  /// The state: ncclInProgress, ncclSuccess if the calls are launched, or a failure.
  virtual ncclResult_t progress() = 0;
  /// Returns when all launched calls are done.
  virtual void finish() {}

  const std::shared_ptr<Clique> clique;
  const int rank;
  int64_t collectives = 0; ///< called so far

private:
  bool made = false, launching = false;
};

using MakeCommunicator = std::function<std::unique_ptr<StandInCommunicator>(std::shared_ptr<Clique>)>;

/// ncclCommInitRankConfig.
ncclResult_t initStandIn(ncclComm_t *handle, int size, const ncclUniqueId &id, const ncclConfig_t &config,
                         const MakeCommunicator &make);

/// All functions except those of CUDA, commInitRankConfig, memAlloc and memFree.
NcclApi standInFunctions();

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_NCCL_STAND_IN_H
