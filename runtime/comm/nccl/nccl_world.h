//===- nccl_world.h - a rank's view of ranks with devices -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_NCCL_NCCL_WORLD_H
#define MESHPLAN_RUNTIME_COMM_NCCL_NCCL_WORLD_H

#include "runtime/comm/nccl/nccl_communicator.h"
#include "runtime/comm/nccl/run_nccl.h"

#include <deque>
#include <thread>

namespace meshplan {

class NcclWorld final : public World {
public:
  /// Belongs to the calling thread and sets its device. `api` and `host` must outlive it.
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
  /// True even if the library is too old; then allocateBuffer fails with the reason.
  bool registersBuffers() const override { return true; }
  Expected<std::shared_ptr<void>> allocateBuffer(int64_t bytes) override;

  // For groups and their collectives.

  const CudaApi &cuda() const { return api.cuda; }

  /// Gives the collective to the device once NCCL has launched this rank's previous one, of any communicator: the order
  /// of the launches is the order of the starts. A failure has ended the run.
  Status start(const std::shared_ptr<Flight> &flight, const Collective &collective);

  /// Waits until NCCL has enqueued the collective, then makes the compute stream wait for it.
  Status order(Flight &flight, std::chrono::milliseconds limit);

  /// Ends the run because of `status`, and returns it.
  Status fail(Status status);

private:
  /// A communicator, and a host group that finds out which of its ranks do not arrive.
  struct Member {
    std::unique_ptr<NcclCommunicator> communicator;
    std::unique_ptr<Group> arrivals; ///< host group; see announceArrivals
    Pending arrival;
  };

  NcclWorld(const NcclApi &api, World &host, NcclDevice device) : api(api), hostWorld(host), device(device) {}

  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) override;
  Status awaitLaunch(Flight &flight, std::chrono::milliseconds limit);
  Status awaitLastLaunch();
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
  std::shared_ptr<Flight> last; // the last that was started
  bool ended = false;           // the communicators have been destroyed or aborted
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_NCCL_NCCL_WORLD_H
