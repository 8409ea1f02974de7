//===- communicator.h - collectives between ranks ----------------*- C++ -*-===//
//
// The asynchronous interface that every backend implements, over plain buffers.
//
// A World is one rank's view of all ranks of a run; a Group is its view of some
// of them (a communicator). A start function describes a collective and returns
// at once; the data has moved when wait returns. Between the two the input must
// not change and the output must not be touched; both must stay allocated.
//
// All ranks of a group start the same collectives in the same order; they may
// wait in any order. Sends and receives are ordered for each pair of ranks.
//
// Float sums add in the order of the indices within the group, so that their
// bits are the same on every rank and every CPU backend. f16 and bf16 are added
// in f32 and rounded once. Integer sums wrap around. max and min give NaN if an
// element is NaN.
//
// Failures name rank, collective, sequence number, origin and the peers that
// did not arrive. Any failure aborts the whole world, so that every other rank
// ends too: what it waits for, and what it starts afterwards, returns `aborted`
// or `peerLost` with the first failure's message.
//
// A backend for buffers on devices (nccl) differs in this: its calls enqueue. A
// collective runs when the work enqueued before its start is done; wait lets the
// work that is enqueued afterwards run after the collective, and does not block
// the rank. Whether all went well, and what time-outs are for, shows at
// World::synchronize, which the host needs before it looks at elements. Sends
// and receives of a group are in one order for all pairs. Sums are added and
// rounded as the library does it, max and min of floats are refused because the
// library drops NaN, and ranks that disagree are not told apart from late ones.
// A barrier joins the ranks, not their devices. Small messages between hosts go
// over World::host.
//
// Thread safety: a World, its Groups and their collectives belong to the thread
// of their rank; only World::abort and World::failure may be called from any
// thread.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_COMMUNICATOR_H
#define MESHPLAN_RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/comm/collective.h"
#include "runtime/comm/collective_log.h"

#include <chrono>
#include <memory>

namespace meshplan {

/// A collective that was started. Destroying it before wait aborts the world
/// first, so that no peer reads or writes buffers that go away: declare it
/// after its buffers.
class PendingCollective {
public:
  virtual ~PendingCollective() = default;

  /// Returns when the collective is done on this rank, or fails: `timeout` when
  /// a peer has not started it within `limit`, `invalid` when the peers do not
  /// agree on it, `peerLost` or `aborted` when the run has ended. A later call
  /// returns the same.
  virtual Status wait(std::chrono::milliseconds limit) = 0;

  /// wait with the time-out of the world.
  virtual Status wait() = 0;

  /// Ranks that are not known to have started it; none once it has ended.
  virtual std::vector<int64_t> missing() = 0;
};

using Pending = std::unique_ptr<PendingCollective>;

/// Waits for what a start function returned, or returns its failure.
Status waitFor(Expected<Pending> pending);

/// A communicator knows a buffer as long as this exists, which is not longer than the buffer.
class Registration {
public:
  virtual ~Registration() = default;
};

/// This rank's view of one communicator.
class Group {
public:
  virtual ~Group() = default;

  const std::string &name() const { return groupName; }
  /// Ranks of the world, in the order of their indices in this group.
  std::span<const int64_t> ranks() const { return groupRanks; }
  int64_t size() const { return static_cast<int64_t>(groupRanks.size()); }
  int64_t index() const { return ownIndex; }

  /// Whether the backend reduces so. Where it does not, start is `unsupported`.
  virtual bool reduces(DType dtype, Reduction reduction) const { return true; }

  /// Tells the communicator of memory that World::allocateBuffer gave and that its collectives use again and again. A
  /// backend that registers nothing gives null.
  virtual Expected<std::unique_ptr<Registration>> registerBuffer(void *buffer, int64_t bytes) {
    return std::unique_ptr<Registration>();
  }

  /// Twin of ncclAllReduce. `input` and `output` are the same or do not overlap.
  Expected<Pending> startAllReduce(const void *input, void *output, int64_t count, DType dtype, Reduction reduction,
                                   CollectiveLabel label = {});

  /// Rank i gives counts[i] elements; every rank gets all of them.
  Expected<Pending> startAllGather(const void *input, void *output, std::span<const int64_t> counts, DType dtype,
                                   CollectiveLabel label = {});
  /// Every rank gives `count` elements.
  Expected<Pending> startAllGather(const void *input, void *output, int64_t count, DType dtype,
                                   CollectiveLabel label = {});

  /// Rank i gets the reduced piece i, counts[i] elements.
  Expected<Pending> startReduceScatter(const void *input, void *output, std::span<const int64_t> counts, DType dtype,
                                       Reduction reduction, CollectiveLabel label = {});
  /// Every rank gets `count` elements.
  Expected<Pending> startReduceScatter(const void *input, void *output, int64_t count, DType dtype, Reduction reduction,
                                       CollectiveLabel label = {});

  /// Sends sendCounts[i] elements to rank i and receives receiveCounts[i] from it.
  Expected<Pending> startAllToAll(const void *input, std::span<const int64_t> sendCounts, void *output,
                                  std::span<const int64_t> receiveCounts, DType dtype, CollectiveLabel label = {});

  /// Every rank sends its whole input to at most one rank and receives from at
  /// most one; -1 is none.
  Expected<Pending> startPermute(const void *input, int64_t sendCount, int64_t sendTo, void *output,
                                 int64_t receiveCount, int64_t receiveFrom, DType dtype, CollectiveLabel label = {});

  /// `buffer` of rank `root` is copied to all others.
  Expected<Pending> startBroadcast(void *buffer, int64_t count, DType dtype, int64_t root, CollectiveLabel label = {});

  Expected<Pending> startBarrier(CollectiveLabel label = {});

  /// Only the two ranks take part.
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
  std::shared_ptr<CollectiveLog> log; // of the world that has made the group
};

/// This rank's view of the run.
class World {
public:
  virtual ~World() = default;

  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  /// How long a wait without a limit of its own lasts.
  virtual std::chrono::milliseconds timeout() const = 0;

  /// All of `ranks` call it with the same arguments, this rank among them. The
  /// world must outlive the group.
  Expected<std::unique_ptr<Group>> createGroup(std::vector<int64_t> ranks, std::string name);

  /// Ends the run of all ranks because of `cause`; only the first cause counts.
  /// When it returns, no peer uses a buffer of this rank any more; on devices:
  /// this rank's device does not, and it was not waited for for ever.
  virtual void abort(Status cause) = 0;

  /// Why the run has ended early; ok while it goes on.
  virtual Status failure() = 0;

  /// The world for buffers in the memory of the host: itself, unless its buffers are on devices.
  virtual World &host() { return *this; }

  /// Returns when the device has done all that this rank has enqueued and that its collectives wait for, or fails as
  /// wait does where there is no device. `limit` is for the peers: it counts from when this rank's device got to a
  /// collective, and a collective that ends begins it anew.
  virtual Status synchronize(std::chrono::milliseconds limit) { return Status(); }
  Status synchronize() { return synchronize(timeout()); }

  /// True if communicators gain from knowing buffers beforehand.
  virtual bool registersBuffers() const { return false; }

  /// Memory for Group::registerBuffer, on the device of the calling thread; null from a backend that registers nothing.
  /// `unsupported` where the library is too old.
  virtual Expected<std::shared_ptr<void>> allocateBuffer(int64_t bytes) { return std::shared_ptr<void>(); }

  /// The group of all ranks.
  Expected<std::unique_ptr<Group>> createWorldGroup(std::string name);

  /// What this rank has started last in any group. The world for buffers on devices has a log of its own.
  CollectiveLog &log() { return *collectiveLog; }

  /// All ranks compare `hash`: ok if all gave the same, else `invalid` with the
  /// ranks that differ from rank 0, on every rank.
  Status agree(std::span<const std::byte> hash);

protected:
  virtual Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) = 0;

private:
  std::shared_ptr<CollectiveLog> collectiveLog = std::make_shared<CollectiveLog>();
};

/// The failure that started the others: the first in `statuses` that is neither
/// `aborted` nor `peerLost`, else the first; ok if there is none.
Status rootCause(std::span<const Status> statuses);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_COMMUNICATOR_H
