//===- nccl_device.cpp - a rank whose tensors lie on a GPU ----------------===//

#include "runtime/comm/nccl/run_nccl.h"
#include "tools/meshplan_run/rank_run.h"

using namespace meshplan;

Status meshplan::runOverNccl(World &hosts, Device device, const RankBody &body) {
  MESHPLAN_ASSIGN_OR_RETURN(const NcclApi *api, openNccl());
  return runNccl(*api, hosts, {device.index, static_cast<cudaStream_t>(computeStream())}, body);
}
