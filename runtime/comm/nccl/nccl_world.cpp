//===- nccl_world.cpp - a rank's view of ranks with devices ---------------===//
//
// One collective, on the host and on the two streams of the device:
//
//   host                                   compute stream           the communicator's stream
//   start: record `ready`                  the input's operators
//          let the collective wait for it                           waits for `ready`
//          launch, record `done`           other operators          kernel, then `done`
//   wait:  let the compute stream wait     waits for `done`
//   later operators are enqueued           they read the output
//   synchronize: poll `done` of each flight, then the compute stream
//
// The host never blocks in NCCL or CUDA. It polls, and looks at each turn for the failure of another rank, for an error
// of NCCL, and at the clock: a kernel that waits for a dead peer never ends by itself. The reason of a failure reaches
// the rank through the world of the hosts.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/nccl/nccl_world.h"

#include "runtime/comm/failures.h"
#include "runtime/comm/nccl/api.h"
#include "runtime/comm/nccl/backoff.h"
#include "runtime/comm/nccl/nccl_group.h"

#include <algorithm>

using namespace meshplan;

using Clock = std::chrono::steady_clock;

// Ending a communicator may hang if a peer has died; then the process must continue, to report.
static constexpr std::chrono::milliseconds longestEnd = std::chrono::seconds(5);
// NCCL notices a dead rank first. The hosts learn the reason a little later.
static constexpr std::chrono::milliseconds hearsay = std::chrono::seconds(1);
// At a time-out: how long a rank that is only slightly later than the others has to show up, so that it is not blamed.
static constexpr std::chrono::milliseconds longestInquiry = std::chrono::seconds(2);

Expected<std::unique_ptr<NcclWorld>> NcclWorld::create(const NcclApi &api, World &host, NcclDevice device) {
  std::string what = "rank " + std::to_string(host.rank());
  int version = 0;
  MESHPLAN_RETURN_IF_ERROR(ncclStatus(api, api.getVersion(&version)));
  if (Status status = checkNcclVersion(version); !status.ok())
    return status.withContext(what);
  if (Status status = cudaStatus(api.cuda, api.cuda.setDevice(device.index)); !status.ok())
    return status.withContext(what + ": GPU " + std::to_string(device.index));
  return std::unique_ptr<NcclWorld>(new NcclWorld(api, host, device));
}

NcclWorld::~NcclWorld() {
  if (ended)
    return;
  // After a failure a peer may never come to the collective that destroying is.
  if (!hostWorld.failure().ok())
    abortCommunicators();
  else
    // As long as a collective may take, since it waits for the peers in the same way.
    (void)endCommunicators(api.commDestroy, std::max(longestEnd, hostWorld.timeout()));
}

/// False if it took longer than `limit`. All communicators are ended in one NCCL group, because ending is collective,
/// and peers may list them in another order.
bool NcclWorld::endCommunicators(ncclResult_t (*end)(ncclComm_t), std::chrono::milliseconds limit) {
  ended = true;
  std::vector<ncclComm_t> handles;
  for (Member &member : members)
    if (ncclComm_t handle = member.communicator->release())
      handles.push_back(handle);
  if (handles.empty())
    return true;
  // Captures by value: the thread may outlive this object.
  return runFor(limit, [api = api, index = device.index, end, handles = std::move(handles)] {
    (void)api.cuda.setDevice(index);
    (void)api.groupStart();
    for (ncclComm_t handle : handles)
      (void)end(handle);
    (void)api.groupEnd();
  });
}

void NcclWorld::abortCommunicators() {
  if (ended)
    return;
  std::chrono::milliseconds limit = std::clamp(hostWorld.timeout(), std::chrono::milliseconds(100), longestEnd);
  if (!endCommunicators(api.commAbort, limit))
    return;
  // The kernels have been told to stop. Their buffers may be freed when they have stopped.
  (void)pollFor(limit, [&] {
    removeDone();
    return std::ranges::none_of(flights, [](const auto &flight) { return flight->launched; });
  });
}

void NcclWorld::abort(Status cause) {
  hostWorld.abort(std::move(cause));
  // Another thread leaves this to the rank, which learns of the abort at its next wait or start.
  if (std::this_thread::get_id() == owner)
    abortCommunicators();
}

Status NcclWorld::fail(Status status) {
  abort(status);
  return status;
}

Expected<std::unique_ptr<Group>> NcclWorld::makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) {
  MESHPLAN_RETURN_IF_ERROR(awaitLastLaunch());
  MESHPLAN_ASSIGN_OR_RETURN(auto hosts, hostWorld.createGroup(ranks, name));
  MESHPLAN_ASSIGN_OR_RETURN(auto arrivals, hostWorld.createGroup(ranks, name + " arrivals"));
  auto communicator = NcclCommunicator::create(api, hostWorld, *hosts, device.compute);
  if (!communicator)
    return fail(communicator.status());
  Member &member = members.emplace_back(*std::move(communicator), std::move(arrivals));
  return std::unique_ptr<Group>(std::make_unique<NcclGroup>(*this, *member.communicator, std::move(hosts)));
}

Expected<std::shared_ptr<void>> NcclWorld::allocateBuffer(int64_t bytes) {
  const std::string what = "rank " + std::to_string(rank()) + ": a buffer of " + std::to_string(bytes) + " bytes";
  if (!api.registersBuffers())
    return Status(StatusCode::unsupported,
                  what +
                      ": this NCCL cannot register buffers; help: install 2.19 or newer, or remove 'register buffers'");
  void *memory = nullptr;
  if (Status status = ncclStatus(api, api.memAlloc(&memory, static_cast<size_t>(bytes))); !status.ok())
    return status.withContext(what);
  return std::shared_ptr<void>(memory, [release = api.memFree](void *own) { (void)release(own); });
}

Status NcclWorld::start(const std::shared_ptr<Flight> &flight, const Collective &collective) {
  if (Status cause = failure(); !cause.ok()) {
    abortCommunicators();
    return abortedFailure(flight->what, {}, cause);
  }
  // Keeps the list of flights short in runs that rarely synchronize.
  removeDone();
  MESHPLAN_RETURN_IF_ERROR(awaitLastLaunch());
  if (Status status = flight->communicator.start(flight, collective); !status.ok())
    return fail(status.withContext(flight->what));
  flights.push_back(flight);
  last = flight;
  return Status();
}

Status NcclWorld::order(Flight &flight, std::chrono::milliseconds limit) {
  MESHPLAN_RETURN_IF_ERROR(awaitLaunch(flight, limit));
  // From here on the compute stream follows the collective. So its buffers may be freed by the host while it runs: what
  // reuses their memory is enqueued on the compute stream later.
  if (Status status = flight.done.orderBefore(device.compute); !status.ok())
    return fail(status.withContext(flight.what));
  return Status();
}

/// Returns when NCCL has launched the collective.
Status NcclWorld::awaitLaunch(Flight &flight, std::chrono::milliseconds limit) {
  if (flight.launched)
    return Status();
  if (ended)
    return abortedFailure(flight.what, {}, failure());
  Progressing launched = false;
  bool known = pollFor(limit, [&] {
    launched = flight.communicator.isLaunched();
    return !launched || *launched || !failure().ok();
  });
  if (!launched)
    return fail(launched.status().withContext(flight.what));
  if (*launched)
    return Status();
  return known ? fail(abortedFailure(flight.what, {}, failure())) : late(flight.communicator, flight.what, limit);
}

/// Calls of NCCL return before the launch, which another thread of NCCL makes. So the launches of two communicators
/// have the order of the calls only if the first is known when the second is called.
Status NcclWorld::awaitLastLaunch() { return last ? awaitLaunch(*last, timeout()) : Status(); }

void NcclWorld::removeDone() {
  // A flight that is not launched has no event to pass and stays.
  std::erase_if(flights, [](const auto &flight) {
    auto passed = flight->done.hasPassed();
    return passed && *passed;
  });
}

/// Checks for a failure while the collective is not done.
Status NcclWorld::check(Flight &flight) {
  if (Status cause = failure(); !cause.ok())
    return fail(abortedFailure(flight.what, {}, cause));
  Status status = flight.communicator.asyncStatus();
  if (status.ok())
    return status;
  if (status.code() == StatusCode::peerLost)
    (void)pollFor(std::min(hearsay, timeout()), [&] { return !failure().ok(); });
  Status cause = failure();
  return fail(cause.ok() ? status.withContext(flight.what) : abortedFailure(flight.what, {}, cause));
}

/// Returns when the oldest flight is done.
Status NcclWorld::awaitFirst(std::chrono::milliseconds limit) {
  std::shared_ptr<Flight> flight = flights.front();
  MESHPLAN_RETURN_IF_ERROR(awaitLaunch(*flight, limit));
  bool ready = false;
  Clock::time_point since;
  Backoff backoff;
  for (;; backoff.rest()) {
    auto done = flight->done.hasPassed();
    if (!done)
      return fail(done.status().withContext(flight->what));
    if (*done)
      break;
    // Checked in every turn: a kernel that waits for a dead peer never ends by itself, so a failure must abort it.
    MESHPLAN_RETURN_IF_ERROR(check(*flight));
    // Before its buffers are ready, this rank itself is late; the time-out for peers starts then.
    if (auto passed = flight->ready.hasPassed(); !ready && passed && *passed) {
      ready = true;
      since = Clock::now();
    }
    if (ready && Clock::now() > since + limit)
      return late(flight->communicator, flight->what, limit);
  }
  flights.pop_front();
  return Status();
}

/// Returns when the compute stream is done, too. The remaining work waits for no peer, so it has no time-out.
Status NcclWorld::awaitCompute() {
  const std::string what = "rank " + std::to_string(rank()) + ": waiting for the device";
  DeviceEvent last(api.cuda);
  if (Status status = last.record(device.compute); !status.ok())
    return fail(status.withContext(what));
  for (Backoff backoff;; backoff.rest()) {
    auto passed = last.hasPassed();
    if (!passed)
      return fail(passed.status().withContext(what));
    if (*passed)
      return Status();
    if (Status cause = failure(); !cause.ok())
      return fail(abortedFailure(what, {}, cause));
  }
}

Status NcclWorld::synchronize(std::chrono::milliseconds limit) {
  if (ended)
    return abortedFailure("rank " + std::to_string(rank()) + ": waiting for the device", {}, failure());
  while (!flights.empty())
    MESHPLAN_RETURN_IF_ERROR(awaitFirst(limit));
  return awaitCompute();
}

/// Announces to the hosts which collectives this rank's device waits for. All waiting ranks time out, and so announce,
/// at nearly the same time.
void NcclWorld::announceArrivals() {
  for (Member &member : members) {
    bool waits = std::ranges::any_of(
        flights, [&](const auto &each) { return &each->communicator == member.communicator.get(); });
    if (!waits || member.arrival)
      continue;
    if (auto arrival = member.arrivals->startBarrier())
      member.arrival = *std::move(arrival);
  }
}

/// The time-out of a collective: finds out which ranks have announced it and blames the others.
Status NcclWorld::late(const NcclCommunicator &communicator, const std::string &what, std::chrono::milliseconds limit) {
  announceArrivals();
  auto member = std::ranges::find(members, &communicator, [](const Member &each) { return each.communicator.get(); });
  std::vector<int64_t> missing;
  (void)pollFor(std::min(limit, longestInquiry), [&] {
    missing = member->arrival ? member->arrival->missing() : std::vector<int64_t>();
    return missing.empty() || !failure().ok();
  });
  if (Status cause = failure(); !cause.ok())
    return fail(abortedFailure(what, missing, cause));
  if (!missing.empty())
    return fail(timeoutFailure(what, limit, missing));
  // All ranks have arrived, so the kernel itself stalls: in the network or in NCCL.
  std::vector<int64_t> others = communicator.ranks();
  std::erase(others, rank());
  return fail(stalledFailure(what, limit, others));
}
