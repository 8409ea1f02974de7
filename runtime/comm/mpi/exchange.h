//===- exchange.h - a rank's part in one collective -------------*- C++ -*-===//
//
// One rank's part in one collective. Twin of Exchange in threads. It collects the announcements of the peers; when all
// have started and agree, it sends and receives pieces.
//
// All-reduce and reduce-scatter: a rank receives its piece of every input and adds them in the order of the group,
// chunk by chunk. For all-reduce it sends the reduced chunks on while later chunks still arrive.
//
// Example: an all-reduce of 10 elements by 2 ranks. Rank 0 reduces elements 0-4, rank 1 elements 5-9. In phase 0
// (`tag`) rank 1 sends its elements 0-4 to rank 0, and rank 0 its elements 5-9 to rank 1. In phase 1 (`tag` + 1) each
// sends its sums to the other.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_EXCHANGE_H
#define MESHPLAN_RUNTIME_COMM_MPI_EXCHANGE_H

#include "runtime/comm/agreement.h"
#include "runtime/comm/mpi/message.h"
#include "runtime/comm/mpi/reduced_piece.h"
#include "runtime/comm/mpi/streams.h"
#include "runtime/comm/mpi/ticket.h"

#include <deque>
#include <optional>

namespace meshplan {

/// A collective as started by the rank's thread.
struct StartedCollective {
  ExchangeKey key;
  std::string group;          ///< name
  std::vector<int64_t> ranks; ///< world ranks, parallel to participants.indices
  Participants participants;
  Collective collective;
};

/// For the progress thread only.
class MpiExchange : public std::enable_shared_from_this<MpiExchange> {
public:
  /// Receives data for this rank under `tag` and `tag` + 1.
  MpiExchange(Transport &transport, StartedCollective started, int64_t tag);

  const ExchangeKey &key() const { return started.key; }
  std::span<const int64_t> ranks() const { return started.ranks; }
  const std::shared_ptr<Ticket> &ticket() const { return ownTicket; }

  /// The announcement that the peers receive.
  Announcement announcement() const;

  /// Takes the announcement of a peer. `internal` if this collective does not expect one from it.
  Status arrive(int64_t rank, Announcement announcement);

  /// Called after the constructor and after each arrival. Starts to move data once all ranks have announced it.
  Status proceed();

  bool done() const { return ownTicket->finished(); }

  /// No caller's buffer is used afterwards.
  void cancel(const Status &cause);

private:
  int64_t size() const { return static_cast<int64_t>(started.ranks.size()); }
  int64_t ownSlot() const { return started.participants.slot; }
  const Collective &own() const { return started.collective; }
  bool reduces() const {
    return own().kind == CollectiveKind::allReduce || own().kind == CollectiveKind::reduceScatter;
  }
  Piece sent(int64_t slot) const;     // range of the own input for the rank in `slot`, in bytes
  Piece received(int64_t slot) const; // range of the own output from it, in bytes
  Status checkArrived() const;
  Status begin();
  void prepareCopies();
  void prepareReduction();
  StreamEnd end(int64_t slot, int64_t tag) { return {transport, weak_from_this(), started.ranks[slot], tag}; }
  void addOut(int64_t slot, const std::byte *data, int64_t total);
  void addIn(int64_t slot, int64_t phase, int64_t total, InStream::OnChunk onChunk);
  InStream::OnChunk copyTo(std::byte *target);
  Status reduceReady();
  Status moved();

  Transport &transport;
  StartedCollective started;
  int64_t tag;
  std::shared_ptr<Ticket> ownTicket;
  std::vector<std::optional<Announcement>> announcements; // by slot; the own entry stays empty
  int64_t arrived = 1;
  bool begun = false, cancelled = false;
  std::deque<OutStream> outs, results; // `results` sends the reduced piece to the peers
  std::deque<InStream> ins;
  size_t addends = 0; // the first ones of `ins` receive addends for `reduced`
  ReducedPiece reduced;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_EXCHANGE_H
