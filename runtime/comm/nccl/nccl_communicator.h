//===- nccl_communicator.h - an NCCL communicator ---------------*- C++ -*-===//
//
// All calls are non-blocking: NCCL reports that it is in progress and is polled. So a missing peer is noticed by a
// time-out, both when the communicator is created and when it is used.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_NCCL_COMMUNICATOR_H
#define MESHPLAN_RUNTIME_COMM_NCCL_NCCL_COMMUNICATOR_H

#include "runtime/comm/communicator.h"
#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/nccl/launch.h"

namespace meshplan {

/// True when an NCCL call has been launched; or a failure, of NCCL or the one that has ended the run.
using Progressing = Expected<bool>;

class NcclCommunicator {
public:
  /// Creates the communicator for the ranks of `hosts`; a collective of these ranks. Returns when NCCL has connected
  /// them for everything but sends and receives.
  static Expected<std::unique_ptr<NcclCommunicator>> create(const NcclApi &api, World &host, Group &hosts,
                                                            cudaStream_t compute);
  NcclCommunicator(const NcclCommunicator &) = delete;
  NcclCommunicator &operator=(const NcclCommunicator &) = delete;

  /// Gives the collective to the device. Only one call at a time: the previous one must have been launched.
  Status start(const std::shared_ptr<Flight> &flight, const Collective &collective);

  /// True when everything that was given has been launched.
  Progressing isLaunched();

  /// A failure that NCCL has noticed in the background, such as a dead peer.
  Status asyncStatus();

  /// See Group::registerBuffer.
  Expected<std::unique_ptr<Registration>> registerBuffer(void *buffer, int64_t bytes);

  /// Ends a registration. Does nothing if the communicator has ended.
  void deregister(void *registered);

  /// Hands over the handle; the caller destroys or aborts it.
  ncclComm_t release() { return std::exchange(handle, nullptr); }

  const std::vector<int64_t> &ranks() const { return members; }
  const std::string &name() const { return ownName; }

private:
  NcclCommunicator(const NcclApi &api, Group &hosts, cudaStream_t compute, DeviceStream stream)
      : api(api), members(hosts.ranks().begin(), hosts.ranks().end()), ownName(hosts.name()), index(hosts.index()),
        compute(compute), stream(std::move(stream)) {}

  Status connect(World &host, Group &hosts);

  const NcclApi &api;
  std::vector<int64_t> members;
  std::string ownName;
  int64_t index;
  cudaStream_t compute;
  DeviceStream stream;
  ncclComm_t handle = nullptr;
  std::shared_ptr<Flight> launching;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_NCCL_COMMUNICATOR_H
