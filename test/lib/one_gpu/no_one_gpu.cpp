//===- no_one_gpu.cpp - the error of a build without NCCL -----------------===//

#include "test/lib/one_gpu/one_gpu.h"

using namespace meshplan;

Status meshplan::runOnSharedDevice(const char *, World &hosts, Device device, const RankBody &body) {
  return device.isHost() ? body(hosts) : Status(StatusCode::unsupported, "this build has no backend nccl");
}
