//===- run_nccl.h - ranks with a device each ---------------------*- C++ -*-===//
//
// The `nccl` backend. It stands on another one, the world of the hosts, which
// compares programs, hands out NCCL's ids, carries reports and tells a failure
// to all; NCCL moves data and nothing else. NCCL's calls never block here, and
// communicators are aborted when a peer fails or does not arrive in time.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_RUN_NCCL_H
#define MESHPLAN_RUNTIME_COMM_NCCL_RUN_NCCL_H

#include "runtime/comm/nccl/api.h"
#include "runtime/comm/run_rank.h"

namespace meshplan {

struct NcclDevice {
  int index = 0;                  ///< of the GPU on this machine
  cudaStream_t compute = nullptr; ///< where the rank enqueues its operators
};

/// Runs `body` for the rank of `host`, on the calling thread, with a world for buffers on the device. A failure of the
/// body ends the run of all ranks before the device is let go.
Status runNccl(const NcclApi &api, World &host, NcclDevice device, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_RUN_NCCL_H
