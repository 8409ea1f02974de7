//===- compute_scope.cpp - compute settings of a thread -------------------===//

#include "runtime/tensor/compute_scope.h"

#include "runtime/tensor/torch/device.h"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <algorithm>
#include <c10/core/DeviceGuard.h>
#include <c10/core/GradMode.h>
#include <sched.h>
#include <thread>

using namespace meshplan;

struct ComputeScope::Guards {
  Guards(int threads, Device device)
      : outerThreads(at::get_num_threads()), outerDevice(exchangeDeviceOfThread(device)), device(torchDevice(device)) {
    at::set_num_threads(threads);
  }
  ~Guards() {
    at::set_num_threads(outerThreads);
    exchangeDeviceOfThread(outerDevice);
  }

  int outerThreads;
  Device outerDevice;
  c10::OptionalDeviceGuard device;
  c10::AutoGradMode noGrad{false};
  at::AutoDispatchBelowADInplaceOrView belowAutograd;
};

// OpenMP, MKL and oneDNN (which uses OpenMP's setting) keep the number of threads per calling thread, so ranks in one
// process do not disturb each other.
ComputeScope::ComputeScope(int threads, Device device) : guards(std::make_unique<Guards>(threads, device)) {}

ComputeScope::~ComputeScope() = default;

/// The number of cores that this process may use; launchers bind processes to cores.
static int allowedCores(int cores) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : cores;
}

int meshplan::threadsPerRank(int ranks, int processes) {
  // A launcher binds each process to cores of its own, or binds none, and then the processes of the machine share all
  // cores. The smaller quotient is right in both cases.
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  ranks = std::max(1, ranks);
  return std::max(1, std::min(cores / (ranks * std::max(1, processes)), allowedCores(cores) / ranks));
}
