//===- compute_scope.h - settings of a thread that computes ------*- C++ -*-===//
//
// The compute library keeps its settings per thread. Every thread that runs
// operators of a schedule holds a ComputeScope while it does.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_COMPUTE_SCOPE_H
#define MESHPLAN_RUNTIME_TENSOR_COMPUTE_SCOPE_H

#include "runtime/tensor/device.h"

#include <memory>

namespace meshplan {

/// Turns off recording for autograd, bounds the threads that operators of this
/// thread use, and says on which device new tensors lie. The device is one that
/// countCudaDevices has counted. Create and destroy on the same thread.
class ComputeScope {
public:
  explicit ComputeScope(int threads, Device device = {});
  ComputeScope(const ComputeScope &) = delete;
  ComputeScope &operator=(const ComputeScope &) = delete;
  ~ComputeScope();

private:
  struct Guards;
  std::unique_ptr<Guards> guards;
};

/// Threads for each rank, at least one, where `processes` processes share this machine and each runs `ranks` ranks: an
/// equal share of the machine's cores, within the cores that this process may use.
int threadsPerRank(int ranks, int processes = 1);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_COMPUTE_SCOPE_H
