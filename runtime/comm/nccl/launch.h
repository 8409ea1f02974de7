//===- launch.h - a collective as NCCL calls --------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_LAUNCH_H
#define MESHPLAN_RUNTIME_COMM_NCCL_LAUNCH_H

#include "runtime/comm/collective.h"
#include "runtime/comm/nccl/api.h"

namespace meshplan {

/// `unsupported` for reductions that NCCL lacks (i16), or that it defines differently from this project (max and min of
/// floats drop NaN). Every element type can be moved.
Status checkReduction(DType dtype, Reduction reduction);
/// As above for any collective; ok if it does not reduce.
Status checkReduction(const Collective &collective);

/// Where a collective is launched.
struct LaunchTarget {
  const NcclApi &api;
  ncclComm_t communicator;
  cudaStream_t stream;
  int64_t size, index; ///< size of the group, index of this rank in it
};

/// Enqueues the collective, which has passed checkCollective and checkReduction and is not a barrier. Pieces of
/// different sizes become several calls in one NCCL group. ncclInProgress: NCCL continues in the background, and the
/// communicator takes no other call until its state is ncclSuccess.
ncclResult_t launch(const LaunchTarget &target, const Collective &collective);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_LAUNCH_H
