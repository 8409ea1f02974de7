//===- nccl_communicator.cpp - an NCCL communicator -----------------------===//

#include "runtime/comm/nccl/nccl_communicator.h"

#include "runtime/base/names.h"
#include "runtime/comm/failures.h"
#include "runtime/comm/nccl/api.h"
#include "runtime/comm/nccl/backoff.h"

using namespace meshplan;

/// How long a start polls for its own launch; most launches are done by then.
static constexpr std::chrono::milliseconds launchPatience{2};

Expected<std::unique_ptr<NcclCommunicator>> NcclCommunicator::create(const NcclApi &api, World &host, Group &hosts,
                                                                     cudaStream_t compute) {
  MESHPLAN_ASSIGN_OR_RETURN(DeviceStream stream, DeviceStream::create(api.cuda));
  std::unique_ptr<NcclCommunicator> communicator(new NcclCommunicator(api, hosts, compute, std::move(stream)));
  Status connected = communicator->connect(host, hosts);
  if (!connected.ok() && communicator->handle) {
    // Aborting may hang if a peer has died.
    ncclComm_t left = communicator->release();
    (void)runFor(std::chrono::seconds(1), [abort = api.commAbort, left] { (void)abort(left); });
  }
  if (!connected.ok())
    return connected;
  return communicator;
}

Status NcclCommunicator::connect(World &host, Group &hosts) {
  // The id contains the address at which the ranks connect. Rank 0 of the group creates it, and the hosts distribute
  // it.
  ncclUniqueId id = {};
  Status made = index == 0 ? ncclStatus(api, api.getUniqueId(&id)) : Status();
  std::string what = "rank " + std::to_string(host.rank()) + ": making the communicator '" + ownName + "'";
  if (!made.ok())
    return made.withContext(what);
  const CollectiveLabel label{.sequence = -1, .origin = "making the communicator"};
  MESHPLAN_RETURN_IF_ERROR(waitFor(hosts.startBroadcast(&id, sizeof(id), DType::u8, 0, label)));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  // A blocking call would hang if a peer has died, and could not be aborted.
  config.blocking = 0;
  ncclResult_t begun =
      api.commInitRankConfig(&handle, static_cast<int>(hosts.size()), id, static_cast<int>(index), &config);
  if (Status status = ncclStatus(api, begun); !status.ok())
    return status.withContext(what);
  // Creation needs all ranks, so it is polled with the world's time-out and ends when the hosts hear of a failure.
  Progressing launched = false;
  bool ended = pollFor(host.timeout(), [&] {
    launched = isLaunched();
    // A failure of another rank ends the waiting too, since that rank never connects.
    return !launched || *launched || !host.failure().ok();
  });
  if (!launched)
    return launched.status().withContext(what);
  if (*launched)
    return Status();
  if (!ended)
    return Status::error(StatusCode::timeout, what, ": time-out after ",
                         std::chrono::duration<double>(host.timeout()).count(), " s: NCCL has not connected ",
                         rankList(members));
  return abortedFailure(what, {}, host.failure());
}

namespace {
class NcclRegistration final : public Registration {
public:
  NcclRegistration(NcclCommunicator &communicator, void *registered)
      : communicator(communicator), registered(registered) {}
  ~NcclRegistration() override { communicator.deregister(registered); }

private:
  NcclCommunicator &communicator;
  void *registered;
};
} // namespace

Expected<std::unique_ptr<Registration>> NcclCommunicator::registerBuffer(void *buffer, int64_t bytes) {
  void *registered = nullptr;
  ncclResult_t code = api.commRegister(handle, buffer, static_cast<size_t>(bytes), &registered);
  if (Status status = ncclStatus(api, code, handle); !status.ok())
    return status.withContext("registering " + std::to_string(bytes) + " bytes with '" + ownName + "'");
  return std::unique_ptr<Registration>(std::make_unique<NcclRegistration>(*this, registered));
}

void NcclCommunicator::deregister(void *registered) {
  if (handle)
    // After an abort there is no communicator, and nothing to deregister.
    (void)api.commDeregister(handle, registered);
}

Status NcclCommunicator::asyncStatus() {
  ncclResult_t state = ncclSuccess;
  MESHPLAN_RETURN_IF_ERROR(ncclStatus(api, api.commGetAsyncError(handle, &state), handle));
  return ncclStatus(api, state, handle);
}

Progressing NcclCommunicator::isLaunched() {
  ncclResult_t state = ncclSuccess;
  MESHPLAN_RETURN_IF_ERROR(ncclStatus(api, api.commGetAsyncError(handle, &state), handle));
  MESHPLAN_RETURN_IF_ERROR(ncclStatus(api, state, handle));
  if (state == ncclInProgress)
    return false;
  // NCCL has enqueued its kernel only now. An event that was recorded earlier would have passed before the kernel
  // began.
  if (std::shared_ptr<Flight> flight = std::exchange(launching, nullptr)) {
    MESHPLAN_RETURN_IF_ERROR(flight->done.record(stream.get()));
    flight->launched = true;
  }
  return true;
}

Status NcclCommunicator::start(const std::shared_ptr<Flight> &flight, const Collective &collective) {
  // The collective reads results of the compute stream, so its own stream waits for them, without blocking the host.
  MESHPLAN_RETURN_IF_ERROR(flight->ready.record(compute));
  MESHPLAN_RETURN_IF_ERROR(flight->ready.orderBefore(stream.get()));
  LaunchTarget target{api, handle, stream.get(), static_cast<int64_t>(members.size()), index};
  MESHPLAN_RETURN_IF_ERROR(ncclStatus(api, launch(target, collective), handle));
  // NCCL accepts one call at a time, so the next start first completes this launch.
  launching = flight;
  // Not longer, because the first use of a connection waits for the peers.
  Progressing launched = false;
  (void)pollFor(launchPatience, [&] {
    launched = isLaunched();
    return !launched || *launched;
  });
  return launched.status();
}
