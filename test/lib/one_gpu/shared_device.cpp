//===- shared_device.cpp - the device of all ranks of a process -----------===//

#include "runtime/launch/placement.h"
#include "test/lib/one_gpu/one_gpu.h"

using namespace meshplan;

bool meshplan::isForHost(const artifact::Schedule &schedule) {
  return !schedule.device() || schedule.device()->string_view() != "cuda";
}

Expected<Device> meshplan::sharedDevice(const artifact::Schedule &schedule, int64_t rank) {
  if (isForHost(schedule))
    return Device();
  MESHPLAN_ASSIGN_OR_RETURN(int gpus, countCudaDevices());
  MESHPLAN_ASSIGN_OR_RETURN(int gpu, chooseGpu(rank, 0, gpus));
  return Device{DeviceKind::cuda, gpu};
}
