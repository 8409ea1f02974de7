//===- exchange.cpp - one collective of its ranks -------------------------===//

#include "runtime/comm/threads/exchange.h"

#include "runtime/comm/reduce.h"

#include <cstring>

namespace meshplan {

Exchange::Exchange(std::vector<int64_t> ranks, std::vector<int64_t> indices, int64_t number)
    : memberRanks(std::move(ranks)), memberIndices(std::move(indices)), ownNumber(number), parts(memberRanks.size()),
      claimed(memberRanks.size(), false), unclaimed(size()) {}

bool Exchange::arrive(int64_t slot, Collective collective, std::string_view group) {
  // Under the lock of the run. The last arrival checks all parts, so no rank moves data before all agree.
  parts[slot] = std::move(collective);
  if (++arrived < size())
    return false;
  movedIn.begin = std::chrono::steady_clock::now();
  std::vector<Participant> participants;
  for (int64_t i = 0; i < size(); ++i)
    participants.push_back({memberRanks[i], memberIndices[i], &*parts[i]});
  disagreement = checkAgreement(participants, group);
  return true;
}

void Exchange::reportMoved() {
  if (++moved == size())
    movedIn.end = std::chrono::steady_clock::now();
}

std::vector<int64_t> Exchange::missing() const {
  std::vector<int64_t> ranks;
  for (int64_t i = 0; i < size(); ++i)
    if (!parts[i])
      ranks.push_back(memberRanks[i]);
  return ranks;
}

std::optional<int64_t> Exchange::claimPiece(int64_t own) {
  if (unclaimed == 0)
    return std::nullopt;
  // Start with this rank's piece, so that the ranks work on different pieces.
  int64_t slot = own;
  while (claimed[slot])
    slot = (slot + 1) % size();
  claimed[slot] = true;
  --unclaimed;
  return slot;
}

static bool isReduction(const Collective &collective) {
  return collective.kind == CollectiveKind::allReduce || collective.kind == CollectiveKind::reduceScatter;
}

int64_t Exchange::bytes() const {
  int64_t elements = 0;
  for (int64_t slot = 0; slot < size(); ++slot) {
    const Collective &own = *parts[slot];
    if (isReduction(own))
      // Each element of the piece is read from every member.
      elements += size() * sentPiece(own, size(), memberIndices[slot], memberIndices[slot]).count;
    else
      for (int64_t from : memberIndices)
        elements += receivedPiece(own, memberIndices[slot], from).count;
  }
  return elements * dtypeSize(parts.front()->dtype);
}

void Exchange::movePiece(int64_t slot) const {
  if (isReduction(*parts[slot]))
    reducePiece(slot);
  else
    copyPiece(slot);
}

void Exchange::reducePiece(int64_t slot) const {
  const Collective &own = *parts[slot];
  Piece piece = sentPiece(own, size(), memberIndices[slot], memberIndices[slot]);
  if (piece.count == 0)
    return;
  int64_t offset = piece.offset * dtypeSize(own.dtype);
  // One thread reduces the piece for all ranks, and writes it to all outputs of an all-reduce. Output and input of a
  // rank may be one buffer: the piece reads and writes the same range of each, and no other piece touches that range.
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  for (const std::optional<Collective> &part : parts) {
    inputs.push_back(static_cast<const std::byte *>(part->input) + offset);
    if (own.kind == CollectiveKind::allReduce)
      outputs.push_back(static_cast<std::byte *>(part->output) + offset);
  }
  if (own.kind == CollectiveKind::reduceScatter)
    outputs.push_back(own.output);
  // In group order for every piece, so that the sum has the same bits on all ranks and in all runs.
  reduceInOrder(inputs, outputs, piece.count, own.dtype, own.reduction);
}

void Exchange::copyPiece(int64_t slot) const {
  const Collective &own = *parts[slot];
  int64_t elementSize = dtypeSize(own.dtype);
  for (int64_t from = 0; from < size(); ++from) {
    Piece target = receivedPiece(own, memberIndices[slot], memberIndices[from]);
    if (target.count == 0)
      continue;
    const Collective &sender = *parts[from];
    Piece source = sentPiece(sender, size(), memberIndices[from], memberIndices[slot]);
    const std::byte *input = static_cast<const std::byte *>(sender.input) + source.offset * elementSize;
    std::byte *output = static_cast<std::byte *>(own.output) + target.offset * elementSize;
    if (input != output) // the root of a broadcast works in place
      std::memcpy(output, input, static_cast<size_t>(target.count * elementSize));
  }
}

} // namespace meshplan
