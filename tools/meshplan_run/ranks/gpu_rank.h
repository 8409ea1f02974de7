//===- gpu_rank.h - a rank with its tensors on a GPU -------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_GPU_RANK_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_GPU_RANK_H

#include "runtime/comm/run_rank.h"
#include "runtime/tensor/device.h"

#include <optional>

namespace meshplan {

/// The GPU of a rank that is number `localRank` on this machine, which has `gpus` GPUs. `unsupported` if there is none
/// for it.
Expected<int> gpuOfRank(int64_t rank, std::optional<int64_t> localRank, int gpus);

/// Sets the environment that the library of runOverNccl reads. Called before the ranks start, because threads may read
/// the environment. `invalid` if the user has set other values.
Status prepareGpuRanks();

/// Runs `body` with a world for tensors on `device`, the device of the calling thread. A build without NCCL's headers
/// refuses.
Status runOverNccl(World &hosts, Device device, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_GPU_RANK_H
