//===- one_gpu.h - all ranks of a process on one GPU ------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_ONE_GPU_ONE_GPU_H
#define MESHPLAN_TEST_LIB_ONE_GPU_ONE_GPU_H

#include "runtime/artifact/artifact.h"
#include "runtime/comm/run_rank.h"
#include "runtime/tensor/device.h"

namespace meshplan {

/// False for a schedule for GPUs.
bool isForHost(const artifact::Schedule &schedule);

/// The device of a rank of the schedule: the host, or GPU 0 for all ranks. `unsupported` if this machine has no GPU.
Expected<Device> sharedDevice(const artifact::Schedule &schedule, int64_t rank);

/// Runs `body` with a world for tensors on `device`, that of the calling thread. On a GPU the data moves through host
/// memory, which `program` says once on standard error. A build without NCCL's headers refuses.
Status runOnSharedDevice(const char *program, World &hosts, Device device, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_ONE_GPU_ONE_GPU_H
