//===- one_gpu.cpp - all ranks of a process on one GPU --------------------===//

#include "test/lib/one_gpu/one_gpu.h"

#include "runtime/comm/nccl/run_nccl.h"
#include "test/lib/one_gpu/nccl_through_host.h"

#include <cstdio>
#include <mutex>

using namespace meshplan;

static void noteOnce(const char *program) {
  static std::once_flag noted;
  std::call_once(noted, [&] {
    std::fprintf(stderr,
                 "%s: note: all ranks compute on GPU 0, and a stand-in for NCCL moves their data through the host's "
                 "memory\n",
                 program);
  });
}

Status meshplan::runOnSharedDevice(const char *program, World &hosts, Device device, const RankBody &body) {
  if (device.isHost())
    return body(hosts);
  MESHPLAN_ASSIGN_OR_RETURN(const CudaApi *cuda, openCuda());
  static const NcclApi api = ncclThroughHost(*cuda);
  noteOnce(program);
  return runNccl(api, hosts, {device.index, static_cast<cudaStream_t>(computeStream())}, body);
}
