//===- no_nccl_device.cpp - what a build without NCCL's headers says ------===//

#include "tools/meshplan_run/rank_run.h"

using namespace meshplan;

Status meshplan::runOverNccl(World &, Device, const RankBody &) {
  return Status(StatusCode::unsupported, "this build has no backend nccl; help: build again where the Python "
                                         "environment has nvidia-nccl, or compile with --device cpu");
}
