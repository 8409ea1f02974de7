//===- run_nccl.h - one device per rank -------------------------*- C++ -*-===//
//
// The `nccl` backend. It uses another backend, the world of the hosts, to compare programs, distribute NCCL's ids,
// carry reports and spread failures; NCCL only moves data. NCCL's calls never block, and communicators are aborted when
// a peer fails or does not arrive in time.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_RUN_NCCL_H
#define MESHPLAN_RUNTIME_COMM_NCCL_RUN_NCCL_H

#include "runtime/comm/nccl/api.h"
#include "runtime/comm/run_rank.h"

namespace meshplan {

struct NcclDevice {
  int index = 0;                  ///< index of the GPU on this machine
  cudaStream_t compute = nullptr; ///< the stream of the rank's operators
};

/// Runs `body` as the rank of `host`, on the calling thread, with a world for device buffers. A failure of the body
/// ends the run of all ranks before the device is released.
Status runNccl(const NcclApi &api, World &host, NcclDevice device, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_RUN_NCCL_H
