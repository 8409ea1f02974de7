//===- exchange.h - a rank's part in one collective --------------*- C++ -*-===//
//
// Twin of Exchange in threads, seen from one rank: collects what the peers
// announce, and when all have started and agree, sends and receives pieces.
//
// All-reduce and reduce-scatter: a rank gets its piece of every input, adds
// them in the order of the group, chunk by chunk, and, for all-reduce, sends
// the result on while later chunks still arrive.
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

/// A collective as the rank's thread starts it.
struct StartedCollective {
  ExchangeKey key;
  std::string group;          ///< name
  std::vector<int64_t> ranks; ///< of the world, parallel to participants.indices
  Participants participants;
  Collective collective;
};

/// For the thread of communication only.
class MpiExchange : public std::enable_shared_from_this<MpiExchange> {
public:
  /// Data for this rank comes under `tag` and `tag` + 1.
  MpiExchange(Transport &transport, StartedCollective started, int64_t tag);

  const ExchangeKey &key() const { return started.key; }
  std::span<const int64_t> ranks() const { return started.ranks; }
  const std::shared_ptr<Ticket> &ticket() const { return ownTicket; }

  /// What the peers are told.
  Announcement announcement() const;

  /// Takes the announcement of a peer. `invalid` when the rank takes no part.
  Status arrive(int64_t rank, Announcement announcement);

  /// Call after the constructor and each arrival: begins to move data once all have arrived.
  Status proceed();

  bool done() const { return ownTicket->finished(); }

  /// No buffer of the caller is touched after this.
  void cancel(const Status &cause);

private:
  int64_t size() const { return static_cast<int64_t>(started.ranks.size()); }
  int64_t ownSlot() const { return started.participants.slot; }
  const Collective &own() const { return started.collective; }
  bool reduces() const {
    return own().kind == CollectiveKind::allReduce || own().kind == CollectiveKind::reduceScatter;
  }
  Piece sent(int64_t slot) const;     // bytes of the own input for the rank in `slot`
  Piece received(int64_t slot) const; // bytes of the own output from it
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
  std::vector<std::optional<Announcement>> announcements; // by slot; the own one is never there
  int64_t arrived = 1;
  bool begun = false, cancelled = false;
  std::deque<OutStream> outs, results; // `results`: the reduced piece, to the peers
  std::deque<InStream> ins;
  size_t addends = 0; // the first of `ins` are for `reduced`
  ReducedPiece reduced;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_EXCHANGE_H
