//===- exchange.cpp - a rank's part in one collective ---------------------===//

#include "runtime/comm/mpi/exchange.h"

#include <algorithm>
#include <cstring>

namespace meshplan {

namespace {

Piece inBytes(Piece piece, DType dtype) { return {piece.offset * dtypeSize(dtype), piece.count * dtypeSize(dtype)}; }

std::vector<int64_t> without(std::vector<int64_t> ranks, int64_t slot) {
  ranks.erase(ranks.begin() + slot);
  return ranks;
}

} // namespace

MpiExchange::MpiExchange(Transport &transport, StartedCollective collective, int64_t tag)
    : transport(transport), started(std::move(collective)), tag(tag),
      ownTicket(std::make_shared<Ticket>(without(started.ranks, started.participants.slot))),
      announcements(started.ranks.size()) {}

Announcement MpiExchange::announcement() const {
  Announcement announcement{started.key, tag, own()};
  // Addresses of this process mean nothing to another one.
  announcement.collective.input = nullptr;
  announcement.collective.output = nullptr;
  return announcement;
}

Status MpiExchange::arrive(int64_t rank, Announcement announcement) {
  auto found = std::find(started.ranks.begin(), started.ranks.end(), rank);
  int64_t slot = found - started.ranks.begin();
  // A second announcement, or one of a rank outside the group, is a defect of the protocol and not of the user's
  // program.
  if (found == started.ranks.end() || slot == ownSlot() || announcements[slot])
    return Status::error(StatusCode::internal, "rank ", rank, " announced ", describe(announcement.collective, ""),
                         " to ranks that do not expect it");
  announcements[slot] = std::move(announcement);
  ++arrived;
  Progress progress;
  for (int64_t i = 0; i < size(); ++i)
    if (i != ownSlot() && !announcements[i])
      progress.missing.push_back(started.ranks[i]);
  ownTicket->update(std::move(progress));
  return Status();
}

Status MpiExchange::proceed() {
  // Called after every arrival; only the last one lets data move.
  if (begun || cancelled || done() || arrived < size())
    return Status();
  if (Status status = checkArrived(); !status.ok()) {
    ownTicket->finish(status); // the rank's wait ends the run
    return Status();
  }
  return begin();
}

Status MpiExchange::checkArrived() const {
  std::vector<Participant> participants;
  for (int64_t slot = 0; slot < size(); ++slot)
    participants.push_back({started.ranks[slot], started.participants.indices[slot],
                            slot == ownSlot() ? &own() : &announcements[slot]->collective});
  return checkAgreement(participants, started.group);
}

Piece MpiExchange::sent(int64_t slot) const {
  const std::vector<int64_t> &indices = started.participants.indices;
  return inBytes(sentPiece(own(), size(), indices[ownSlot()], indices[slot]), own().dtype);
}

Piece MpiExchange::received(int64_t slot) const {
  const std::vector<int64_t> &indices = started.participants.indices;
  return inBytes(receivedPiece(own(), indices[ownSlot()], indices[slot]), own().dtype);
}

void MpiExchange::addOut(int64_t slot, const std::byte *data, int64_t total) {
  if (total > 0)
    // In a deque, which never moves its elements: the callbacks of chunks in flight hold the address of their stream.
    outs.emplace_back(end(slot, announcements[slot]->tag), data, total, total, [this] { return moved(); });
}

void MpiExchange::addIn(int64_t slot, int64_t phase, int64_t total, InStream::OnChunk onChunk) {
  if (total > 0)
    ins.emplace_back(end(slot, tag + phase), total, std::move(onChunk));
}

InStream::OnChunk MpiExchange::copyTo(std::byte *target) {
  size_t number = ins.size(); // index of the stream that addIn appends next
  return [this, number, target](int64_t offset, Buffer chunk) {
    std::memcpy(target + offset, chunk.data(), static_cast<size_t>(chunk.size()));
    MESHPLAN_RETURN_IF_ERROR(ins[number].release(chunk.size()));
    return moved();
  };
}

Status MpiExchange::begin() {
  if (reduces())
    prepareReduction();
  else
    prepareCopies();
  // Streams may complete while others are being added, which must not count as the end.
  begun = true;
  // Receives are posted first, so that no sent chunk arrives unexpected and is buffered by MPI.
  for (InStream &stream : ins)
    MESHPLAN_RETURN_IF_ERROR(stream.pump());
  for (OutStream &stream : outs)
    MESHPLAN_RETURN_IF_ERROR(stream.pump());
  return reduceReady();
}

void MpiExchange::prepareCopies() {
  const std::byte *input = static_cast<const std::byte *>(own().input);
  std::byte *output = static_cast<std::byte *>(own().output);
  for (int64_t slot = 0; slot < size(); ++slot) {
    Piece out = sent(slot), in = received(slot);
    if (slot != ownSlot()) {
      // The peer's piece has its own stream, whose chunks are copied directly to their location in the output.
      addIn(slot, 0, in.count, copyTo(output + in.offset));
      addOut(slot, input + out.offset, out.count);
    } else if (in.count > 0 && input + out.offset != output + in.offset) {
      std::memcpy(output + in.offset, input + out.offset, static_cast<size_t>(in.count));
    }
  }
}

void MpiExchange::prepareReduction() {
  const std::byte *input = static_cast<const std::byte *>(own().input);
  std::byte *output = static_cast<std::byte *>(own().output);
  // Both kinds begin with a reduce-scatter. All-reduce then distributes the reduced pieces in place of the output.
  // Input and output may be one buffer: a result for a chunk overwrites the addend that this rank sent for the same
  // chunk, and its sender could compute it only after that addend had arrived, so it was copied from the buffer before.
  bool everywhere = own().kind == CollectiveKind::allReduce;
  Piece piece = sent(ownSlot());
  std::byte *result = everywhere ? output + piece.offset : output;
  reduced = ReducedPiece(input + piece.offset, result, piece.count, size(), ownSlot());
  for (int64_t slot = 0; slot < size(); ++slot) {
    if (slot == ownSlot())
      continue;
    addIn(slot, 0, piece.count, [this, slot](int64_t offset, Buffer chunk) {
      reduced.accept(slot, offset, std::move(chunk));
      return reduceReady();
    });
    addOut(slot, input + sent(slot).offset, sent(slot).count);
  }
  // The streams after these receive results of the other ranks, which are copied and not reduced.
  addends = ins.size();
  for (int64_t slot = 0; everywhere && slot < size(); ++slot) {
    if (slot == ownSlot())
      continue;
    // What this rank sends to `slot` as addends is what `slot` reduces, so the results have the same offset and size.
    addIn(slot, 1, sent(slot).count, copyTo(output + sent(slot).offset));
    if (piece.count > 0)
      results.emplace_back(end(slot, announcements[slot]->tag + 1), result, piece.count, 0, [this] { return moved(); });
  }
}

Status MpiExchange::reduceReady() {
  while (int64_t bytes = reduced.reduceNext(own().dtype, own().reduction)) {
    // Only now are further chunks received. This bounds the memory for chunks that wait for a slow peer.
    for (size_t i = 0; i < addends; ++i)
      MESHPLAN_RETURN_IF_ERROR(ins[i].release(bytes));
    for (OutStream &stream : results)
      MESHPLAN_RETURN_IF_ERROR(stream.allow(reduced.reducedBytes()));
  }
  return moved();
}

Status MpiExchange::moved() {
  if (!begun || cancelled || done())
    return Status();
  // Every movement restarts the time-out, and names the peers that the rank still waits for.
  Progress progress{.moving = true, .missing = {}};
  auto add = [&](const auto &streams) {
    for (const auto &stream : streams)
      if (!stream.done())
        progress.missing.push_back(stream.peer());
  };
  add(outs);
  add(ins);
  add(results);
  if (progress.missing.empty() && reduced.done()) {
    ownTicket->finish(Status());
    return Status();
  }
  // A peer has up to four streams, and its name belongs into the message once.
  std::ranges::sort(progress.missing);
  progress.missing.erase(std::unique(progress.missing.begin(), progress.missing.end()), progress.missing.end());
  ownTicket->update(std::move(progress));
  return Status();
}

void MpiExchange::cancel(const Status &cause) {
  // Set first: callbacks of the streams that are cancelled below must not finish the ticket.
  cancelled = true;
  for (std::deque<OutStream> *streams : {&outs, &results})
    for (OutStream &stream : *streams)
      stream.cancel();
  for (InStream &stream : ins)
    stream.cancel();
  ownTicket->abort(cause);
}

} // namespace meshplan
