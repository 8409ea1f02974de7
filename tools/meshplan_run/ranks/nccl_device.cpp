//===- nccl_device.cpp - a rank with its tensors on a GPU -----------------===//

#include "runtime/comm/nccl/run_nccl.h"
#include "runtime/launch/placement.h"
#include "tools/meshplan_run/ranks/gpu_rank.h"

using namespace meshplan;

Expected<int> meshplan::gpuOfRank(int64_t rank, std::optional<int64_t> localRank, int gpus) {
  return chooseGpu(rank, localRank, gpus);
}

Status meshplan::prepareGpuRanks() { return prepareNcclEnvironment(); }

Status meshplan::runOverNccl(World &hosts, Device device, const RankBody &body) {
  MESHPLAN_ASSIGN_OR_RETURN(const NcclApi *api, openNccl());
  return runNccl(*api, hosts, {device.index, static_cast<cudaStream_t>(computeStream())}, body);
}
