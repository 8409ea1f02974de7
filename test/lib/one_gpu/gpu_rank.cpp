//===- gpu_rank.cpp - meshplan-run with all ranks on one GPU --------------===//

#include "tools/meshplan_run/ranks/gpu_rank.h"

#include "runtime/launch/placement.h"
#include "test/lib/one_gpu/one_gpu.h"

using namespace meshplan;

Expected<int> meshplan::gpuOfRank(int64_t rank, std::optional<int64_t>, int gpus) { return chooseGpu(rank, 0, gpus); }

Status meshplan::prepareGpuRanks() { return Status(); }

Status meshplan::runOverNccl(World &hosts, Device device, const RankBody &body) {
  return runOnSharedDevice("meshplan-run-on-one-gpu", hosts, device, body);
}
