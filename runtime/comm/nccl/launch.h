//===- launch.h - a collective as calls of NCCL ------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_LAUNCH_H
#define MESHPLAN_RUNTIME_COMM_NCCL_LAUNCH_H

#include "runtime/comm/collective.h"
#include "runtime/comm/nccl/api.h"

namespace meshplan {

/// `unsupported` for a reduction that NCCL lacks (i16) or does otherwise than this project (max and min of floats,
/// which drop NaN). Every element type can be moved.
Status checkReduction(DType dtype, Reduction reduction);
/// The same for any collective; ok for one that reduces nothing.
Status checkReduction(const Collective &collective);

/// What a collective is launched on.
struct LaunchTarget {
  const NcclApi &api;
  ncclComm_t communicator;
  cudaStream_t stream;
  int64_t size, index; ///< of the group, and of this rank in it
};

/// Enqueues the collective, which has passed checkCollective and checkReduction and is no barrier. Pieces of different
/// sizes become several calls of one group. ncclInProgress: NCCL goes on by itself, and the communicator takes no
/// other call until it says ncclSuccess.
ncclResult_t launch(const LaunchTarget &target, const Collective &collective);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_LAUNCH_H
