//===- communicator.h - collectives between ranks ---------------*- C++ -*-===//
//
// The asynchronous interface that every backend implements, over plain buffers.
//
// A World is one rank's view of all ranks of a run; a Group is its view of some of them (a communicator). A start
// function describes a collective and returns at once; the data has moved when wait returns. Between the two the input
// must not change and the output must not be touched; both must stay allocated.
//
// All ranks of a group start the same collectives in the same order; they may wait in any order. Sends and receives are
// ordered for each pair of ranks. Ranks that share several collectives, also of different groups, start them in one
// order: what the ranks start, joined at the collectives that they share, has no cycle. Two ranks that send to each
// other start one permute, or one of them receives first. The reason is a device that begins collectives in the order
// in which it was given them; `threads` checks it in builds with assertions.
//
// A started collective makes progress while the rank computes (`store`: only in the wait). Collectives of one group
// begin in the order of their starts; those of different groups move at the same time.
//
// Float sums add in the order of the indices in the group, so the bits are the same on every rank and every CPU
// backend. f16 and bf16 are added in f32 and rounded once. Integer sums wrap around. max and min give NaN if an element
// is NaN.
//
// Failures name rank, collective, sequence number, origin and the peers that did not arrive. A failure that may involve
// peers aborts the whole world, so that every other rank ends too: its pending and its later collectives return
// `aborted` or `peerLost` with the message of the first failure. A start that this rank alone refuses (`invalid`,
// `unsupported`) aborts nothing; runRank does when the rank's body returns it.
//
// A backend for device buffers (nccl) differs as follows:
// - Calls enqueue. A collective runs after the work that was enqueued before its start. wait makes later work run after
//   the collective; it does not block the rank.
// - Failures and time-outs appear at World::synchronize, which the host calls before it reads elements. Only then are
//   late ranks known: PendingCollective::missing is empty.
// - Sends and receives of a group have one order for all pairs.
// - Sums are added and rounded by the library. max and min of floats are refused, because the library drops NaN. A
//   disagreement between ranks looks like a late rank.
// - A barrier synchronizes the ranks, not their devices. Small messages between hosts use World::host.
//
// Thread safety: a World, its Groups and their collectives belong to the thread of their rank. Only World::abort and
// World::failure may be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_COMMUNICATOR_H
#define MESHPLAN_RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/comm/collective.h"
#include "runtime/comm/collective_log.h"

#include <chrono>
#include <memory>
#include <optional>

namespace meshplan {

/// When the bytes of a collective moved: from the moment at which all its ranks had started it.
struct MoveInterval {
  std::chrono::steady_clock::time_point begin, end;
};

/// A started collective. Destroying it before wait aborts the world first, so that no peer reads or writes buffers that
/// are about to be freed: declare it after its buffers.
class PendingCollective {
public:
  virtual ~PendingCollective() = default;

  /// Returns when the collective is done on this rank, or fails: `timeout` if a peer has not started it within `limit`,
  /// or if no data moves between processes for `limit`; `invalid` if the peers do not agree on it; `peerLost` or
  /// `aborted` if the run has ended. A later call returns the same.
  virtual Status wait(std::chrono::milliseconds limit) = 0;

  /// wait with the world's time-out.
  virtual Status wait() = 0;

  /// Ranks that are not known to have started it; empty once it has ended.
  virtual std::vector<int64_t> missing() = 0;

  /// After a successful wait: when its bytes moved, if the backend knows.
  virtual std::optional<MoveInterval> interval() const { return std::nullopt; }
};

using Pending = std::unique_ptr<PendingCollective>;

/// Waits for the result of a start function, or returns its failure.
Status waitFor(Expected<Pending> pending);

/// A buffer that is registered with a communicator. The registration ends with this object, which the buffer must
/// outlive.
class Registration {
public:
  virtual ~Registration() = default;
};

/// This rank's view of one communicator.
class Group {
public:
  virtual ~Group() = default;

  const std::string &name() const { return groupName; }
  /// World ranks, in the order of their indices in this group.
  std::span<const int64_t> ranks() const { return groupRanks; }
  int64_t size() const { return static_cast<int64_t>(groupRanks.size()); }
  int64_t index() const { return ownIndex; }

  /// True if the backend supports the reduction; else start returns `unsupported`.
  virtual bool reduces(DType dtype, Reduction reduction) const { return true; }

  /// Connects each pair of ranks, for kinds that move data between pairs: all-to-all, permute, send and receive. Else
  /// their first start may wait for the peers. All ranks of the group call it before they start anything. Does nothing
  /// if the backend has no connections, or has them already.
  virtual Status connectPairs() { return Status(); }

  /// Registers memory of World::allocateBuffer with the communicator, for repeated use by its collectives. Null from a
  /// backend without registration.
  virtual Expected<std::unique_ptr<Registration>> registerBuffer(void *buffer, int64_t bytes) {
    return std::unique_ptr<Registration>();
  }

  /// Twin of ncclAllReduce. `input` and `output` are the same buffer or do not overlap.
  Expected<Pending> startAllReduce(const void *input, void *output, int64_t count, DType dtype, Reduction reduction,
                                   CollectiveLabel label = {});

  /// Rank i contributes counts[i] elements; every rank receives all of them.
  Expected<Pending> startAllGather(const void *input, void *output, std::span<const int64_t> counts, DType dtype,
                                   CollectiveLabel label = {});
  /// As above; every rank contributes `count` elements.
  Expected<Pending> startAllGather(const void *input, void *output, int64_t count, DType dtype,
                                   CollectiveLabel label = {});

  /// Rank i receives the reduced piece i, of counts[i] elements.
  Expected<Pending> startReduceScatter(const void *input, void *output, std::span<const int64_t> counts, DType dtype,
                                       Reduction reduction, CollectiveLabel label = {});
  /// As above; every rank receives `count` elements.
  Expected<Pending> startReduceScatter(const void *input, void *output, int64_t count, DType dtype, Reduction reduction,
                                       CollectiveLabel label = {});

  /// Sends sendCounts[i] elements to rank i and receives receiveCounts[i] from it.
  Expected<Pending> startAllToAll(const void *input, std::span<const int64_t> sendCounts, void *output,
                                  std::span<const int64_t> receiveCounts, DType dtype, CollectiveLabel label = {});

  /// Every rank sends its whole input to at most one rank, and receives from at most one; -1 is none.
  Expected<Pending> startPermute(const void *input, int64_t sendCount, int64_t sendTo, void *output,
                                 int64_t receiveCount, int64_t receiveFrom, DType dtype, CollectiveLabel label = {});

  /// Copies `buffer` of rank `root` to all others.
  Expected<Pending> startBroadcast(void *buffer, int64_t count, DType dtype, int64_t root, CollectiveLabel label = {});

  Expected<Pending> startBarrier(CollectiveLabel label = {});

  /// Send and receive: only the two ranks take part.
  Expected<Pending> startSend(const void *input, int64_t count, DType dtype, int64_t to, CollectiveLabel label = {});
  Expected<Pending> startReceive(void *output, int64_t count, DType dtype, int64_t from, CollectiveLabel label = {});

protected:
  Group(std::string name, std::vector<int64_t> ranks, int64_t index)
      : groupName(std::move(name)), groupRanks(std::move(ranks)), ownIndex(index) {}

  /// `collective` has passed checkCollective.
  virtual Expected<Pending> start(Collective collective) = 0;

private:
  friend class World;
  Expected<Pending> checkAndStart(Collective collective);

  std::string groupName;
  std::vector<int64_t> groupRanks;
  int64_t ownIndex;
  std::shared_ptr<CollectiveLog> log; // of the world that created the group
};

/// This rank's view of the run.
class World {
public:
  virtual ~World() = default;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  /// The time-out of a wait without a limit of its own.
  virtual std::chrono::milliseconds timeout() const = 0;

  /// Called by all of `ranks`, this rank among them, with the same arguments. The world must outlive the group.
  Expected<std::unique_ptr<Group>> createGroup(std::vector<int64_t> ranks, std::string name);

  /// Ends the run of all ranks because of `cause`; only the first cause counts. When it returns, no peer uses a buffer
  /// of this rank any more. With device buffers, this rank's device does not; abort waits for it for a limited time
  /// only.
  virtual void abort(Status cause) = 0;

  /// Why the run has ended early; ok while it runs.
  virtual Status failure() = 0;

  /// The world for host buffers: itself, unless its buffers are on devices.
  virtual World &host() { return *this; }

  /// Waits until the device has done all work that this rank has enqueued, collectives included; fails as wait does.
  /// Returns at once if there is no device. `limit` is the time-out for peers: it counts from the moment this rank's
  /// device reaches a collective, and restarts when a collective ends.
  virtual Status synchronize(std::chrono::milliseconds limit) { return Status(); }
  Status synchronize() { return synchronize(timeout()); }

  /// True if collectives gain from registered buffers.
  virtual bool registersBuffers() const { return false; }

  /// Allocates memory for Group::registerBuffer, on the device of the calling thread; null from a backend without
  /// registration. `unsupported` if the library is too old.
  virtual Expected<std::shared_ptr<void>> allocateBuffer(int64_t bytes) { return std::shared_ptr<void>(); }

  /// The group of all ranks.
  Expected<std::unique_ptr<Group>> createWorldGroup(std::string name);

  /// The last collectives that this rank started in any group. A world for device buffers has its own log.
  CollectiveLog &log() { return *collectiveLog; }

  /// Compares `hash` over all ranks: ok if all gave the same; else `invalid` on every rank, with the ranks that differ
  /// from rank 0.
  Status agree(std::span<const std::byte> hash);

protected:
  virtual Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) = 0;

private:
  std::shared_ptr<CollectiveLog> collectiveLog = std::make_shared<CollectiveLog>();
};

/// The failure that caused the others: the first in `statuses` that is neither `aborted` nor `peerLost`, else the first
/// failure; ok if there is none.
Status rootCause(std::span<const Status> statuses);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_COMMUNICATOR_H
