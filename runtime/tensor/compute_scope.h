//===- compute_scope.h - compute settings of a thread -----------*- C++ -*-===//
//
// The compute library keeps settings per thread. Every thread holds a ComputeScope while it runs operators of a
// schedule.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_COMPUTE_SCOPE_H
#define MESHPLAN_RUNTIME_TENSOR_COMPUTE_SCOPE_H

#include "runtime/tensor/device.h"

#include <memory>

namespace meshplan {

/// Disables recording for autograd, limits the number of threads that operators of this thread use, and selects the
/// device of new tensors, which must be among those that countCudaDevices found. Create and destroy on the same thread.
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

/// The number of threads per rank, at least one, if `processes` processes share this machine and each runs `ranks`
/// ranks: an equal share of the machine's cores, within the cores that this process may use.
int threadsPerRank(int ranks, int processes = 1);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_COMPUTE_SCOPE_H
