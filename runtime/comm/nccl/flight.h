//===- flight.h - collectives in flight on a device -------------*- C++ -*-===//
//
// Collectives in flight on the device. The device runs later than the rank enqueues; events show how far it has come.
// Belongs to the rank's thread.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_FLIGHT_H
#define MESHPLAN_RUNTIME_COMM_NCCL_FLIGHT_H

#include "runtime/comm/nccl/api.h"

#include <memory>
#include <string>
#include <vector>

namespace meshplan {

class NcclCommunicator;

/// A point in the work of a stream.
class DeviceEvent {
public:
  explicit DeviceEvent(const CudaApi &api) : api(api) {}
  DeviceEvent(const DeviceEvent &) = delete;
  DeviceEvent &operator=(const DeviceEvent &) = delete;
  ~DeviceEvent();

  /// Records the point after all work that `stream` has been given so far.
  Status record(cudaStream_t stream);
  /// Work that `stream` is given from now on runs after that point.
  Status orderBefore(cudaStream_t stream);
  /// True when the device has reached the point; false before record.
  Expected<bool> hasPassed();

private:
  const CudaApi &api;
  cudaEvent_t handle = nullptr;
};

/// A stream of the calling thread's device, without implicit synchronization with other streams.
class DeviceStream {
public:
  static Expected<DeviceStream> create(const CudaApi &api);
  DeviceStream(DeviceStream &&other) noexcept : api(other.api), handle(std::exchange(other.handle, nullptr)) {}
  DeviceStream &operator=(DeviceStream &&) = delete;
  ~DeviceStream();

  cudaStream_t get() const { return handle; }

private:
  DeviceStream(const CudaApi &api, cudaStream_t handle) : api(&api), handle(handle) {}

  const CudaApi *api;
  cudaStream_t handle;
};

/// A collective in flight.
struct Flight {
  Flight(const CudaApi &api, std::string what, NcclCommunicator &communicator)
      : what(std::move(what)), communicator(communicator), ready(api), done(api) {}

  std::string what; ///< "rank 0: all-reduce 12 on 'tp'"
  NcclCommunicator &communicator;
  DeviceEvent ready, done; ///< its buffers are ready; the collective is done
  bool launched = false;   ///< NCCL has enqueued it, and `done` is recorded
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_FLIGHT_H
