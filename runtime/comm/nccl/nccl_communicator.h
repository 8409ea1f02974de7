//===- nccl_communicator.h - a communicator of NCCL --------------*- C++ -*-===//
//
// All calls are non-blocking: NCCL says that it is in progress, and is polled.
// So a peer that is not there is noticed by the time-out, in making the
// communicator as in using it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_NCCL_COMMUNICATOR_H
#define MESHPLAN_RUNTIME_COMM_NCCL_NCCL_COMMUNICATOR_H

#include "runtime/comm/communicator.h"
#include "runtime/comm/nccl/flight.h"
#include "runtime/comm/nccl/launch.h"

namespace meshplan {

/// How far a call of NCCL is; a failure of NCCL, or the failure that has ended the run.
using Progressing = Expected<bool>;

class NcclCommunicator {
public:
  /// `hosts` joins the same ranks; all of them call it. Returns when NCCL has connected them.
  static Expected<std::unique_ptr<NcclCommunicator>> create(const NcclApi &api, World &host, Group &hosts,
                                                            cudaStream_t compute);
  NcclCommunicator(const NcclCommunicator &) = delete;
  NcclCommunicator &operator=(const NcclCommunicator &) = delete;

  /// Gives the collective to the device. One call at a time: what was given before has been launched.
  Status start(const std::shared_ptr<Flight> &flight, const Collective &collective);

  /// True when all that was given has been launched.
  Progressing isLaunched();

  /// What NCCL has noticed by itself; a peer that has gone, for example.
  Status asyncStatus();

  /// See Group::registerBuffer.
  Expected<std::unique_ptr<Registration>> registerBuffer(void *buffer, int64_t bytes);

  /// The registration ends; nothing is left to do where the communicator has ended.
  void deregister(void *registered);

  /// Takes the handle away, which somebody else is to destroy or abort.
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
