//===- flight.h - collectives that the device has been given -----*- C++ -*-===//
//
// A device does what it was given later than the rank says so. Events tell how
// far it has come. Belongs to the thread of the rank.
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

/// A moment in the work of a device.
class DeviceEvent {
public:
  explicit DeviceEvent(const CudaApi &api) : api(api) {}
  DeviceEvent(const DeviceEvent &) = delete;
  DeviceEvent &operator=(const DeviceEvent &) = delete;
  ~DeviceEvent();

  /// The moment when all that `stream` has been given is done.
  Status record(cudaStream_t stream);
  /// `stream` does nothing that it is given from now on before that moment.
  Status orderBefore(cudaStream_t stream);
  /// False until record was called.
  Expected<bool> hasPassed();

private:
  const CudaApi &api;
  cudaEvent_t handle = nullptr;
};

/// A stream of the device of the calling thread, which waits for no other one of itself.
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

/// A collective on its way.
struct Flight {
  Flight(const CudaApi &api, std::string what, NcclCommunicator &communicator)
      : what(std::move(what)), communicator(communicator), ready(api), done(api) {}

  std::string what; ///< "rank 0: all-reduce 12 on 'tp'"
  NcclCommunicator &communicator;
  DeviceEvent ready, done; ///< its buffers are; it is
  bool launched = false;   ///< NCCL has enqueued it, and `done` is recorded
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_FLIGHT_H
