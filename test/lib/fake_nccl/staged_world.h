//===- staged_world.h - a world for devices, over host buffers --*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_FAKE_NCCL_STAGED_WORLD_H
#define MESHPLAN_TEST_LIB_FAKE_NCCL_STAGED_WORLD_H

#include "runtime/comm/communicator.h"
#include "runtime/comm/nccl/run_nccl.h"

namespace meshplan {

/// Like runNccl, for the device with the number of the rank; if there are fewer devices, ranks share them. The body
/// has host buffers: they are copied to the device at the start of a collective, and back in wait, which also
/// synchronizes.
Status runStagedRank(const NcclApi &api, World &host, cudaStream_t compute, const RankBody &body);

/// Like runThreads, with runStagedRank in each rank.
std::vector<Status> runStaged(const NcclApi &api, int64_t size, std::chrono::milliseconds timeout,
                              const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_FAKE_NCCL_STAGED_WORLD_H
