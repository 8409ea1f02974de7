//===- fake_gpu.cpp - host tensors moved like those of a GPU --------------===//
//
// The stand-in has moved the data when a wait returns, so that host operators, which do not use streams, may read it.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/nccl/run_nccl.h"
#include "test/lib/fake_nccl/fake_cuda.h"
#include "test/lib/one_gpu/nccl_through_host.h"
#include "test/lib/one_gpu/one_gpu.h"

using namespace meshplan;

Status meshplan::runOnSharedDevice(const char *, World &hosts, Device, const RankBody &body) {
  static const NcclApi api = ncclThroughHost(fakeCuda());
  MESHPLAN_ASSIGN_OR_RETURN(DeviceStream compute, DeviceStream::create(api.cuda));
  return runNccl(api, hosts, {0, compute.get()}, body);
}
