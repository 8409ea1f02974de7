//===- run_nccl.cpp - one device per rank ---------------------------------===//

#include "runtime/comm/nccl/run_nccl.h"

#include "runtime/comm/nccl/nccl_world.h"

using namespace meshplan;

Status meshplan::runNccl(const NcclApi &api, World &host, NcclDevice device, const RankBody &body) {
  MESHPLAN_ASSIGN_OR_RETURN(auto world, NcclWorld::create(api, host, device));
  return runRank(*world, {.timeout = host.timeout(), .onFailure = nullptr, .onStuck = nullptr}, body);
}
