//===- no_nccl_device.cpp - refusal of builds without NCCL's headers ------===//

#include "runtime/launch/placement.h"
#include "tools/meshplan_run/ranks/gpu_rank.h"

using namespace meshplan;

Expected<int> meshplan::gpuOfRank(int64_t rank, std::optional<int64_t> localRank, int gpus) {
  return chooseGpu(rank, localRank, gpus);
}

Status meshplan::prepareGpuRanks() { return Status(); }

Status meshplan::runOverNccl(World &, Device, const RankBody &) {
  return Status(StatusCode::unsupported, "this build has no backend nccl; help: build again where the Python "
                                         "environment has nvidia-nccl, or compile with --device cpu");
}
