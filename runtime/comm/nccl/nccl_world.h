//===- nccl_world.h - a rank's view of ranks with devices --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_NCCL_WORLD_H
#define MESHPLAN_RUNTIME_COMM_NCCL_NCCL_WORLD_H

#include "runtime/comm/nccl/nccl_communicator.h"
#include "runtime/comm/nccl/run_nccl.h"

#include <deque>
#include <thread>

namespace meshplan {

class NcclWorld final : public World {
public:
  /// Belongs to the calling thread, whose device is set. `api` and `host` must outlive it.
  static Expected<std::unique_ptr<NcclWorld>> create(const NcclApi &api, World &host, NcclDevice device);
  ~NcclWorld() override;

  int64_t rank() const override { return hostWorld.rank(); }
  int64_t size() const override { return hostWorld.size(); }
  std::chrono::milliseconds timeout() const override { return hostWorld.timeout(); }
  World &host() override { return hostWorld; }
  Status failure() override { return hostWorld.failure(); }
  void abort(Status cause) override;
  using World::synchronize;
  Status synchronize(std::chrono::milliseconds limit) override;
  /// Also where the library is too old, which `allocateBuffer` says.
  bool registersBuffers() const override { return true; }
  Expected<std::shared_ptr<void>> allocateBuffer(int64_t bytes) override;

  // For groups and their collectives.

  const CudaApi &cuda() const { return api.cuda; }

  /// Gives the collective to the device once NCCL has taken what the communicator was given before. A failure has
  /// ended the run.
  Status start(const std::shared_ptr<Flight> &flight, const Collective &collective);

  /// Waits until NCCL has enqueued it, and lets the compute stream wait for it.
  Status order(Flight &flight, std::chrono::milliseconds limit);

  /// Ends the run because of `status`, which is returned.
  Status fail(Status status);

private:
  /// What is needed to find out who does not arrive.
  struct Member {
    std::unique_ptr<NcclCommunicator> communicator;
    std::unique_ptr<Group> arrivals; ///< of the hosts
    Pending arrival;
  };

  NcclWorld(const NcclApi &api, World &host, NcclDevice device) : api(api), hostWorld(host), device(device) {}

  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) override;
  Status awaitLaunch(NcclCommunicator &communicator, const std::string &what, std::chrono::milliseconds limit);
  Status awaitFirst(std::chrono::milliseconds limit);
  Status awaitCompute();
  Status check(Flight &flight);
  Status late(const NcclCommunicator &communicator, const std::string &what, std::chrono::milliseconds limit);
  void announceArrivals();
  void removeDone();
  void abortCommunicators();
  bool endCommunicators(ncclResult_t (*end)(ncclComm_t), std::chrono::milliseconds limit);

  const NcclApi &api;
  World &hostWorld;
  NcclDevice device;
  std::thread::id owner = std::this_thread::get_id();
  std::deque<Member> members; // groups refer to them
  std::deque<std::shared_ptr<Flight>> flights;
  bool ended = false; // the communicators are gone
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_NCCL_WORLD_H
