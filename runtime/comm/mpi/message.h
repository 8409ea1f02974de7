//===- message.h - what ranks tell each other besides data -------*- C++ -*-===//
//
// Plain data and its bytes; knows nothing of MPI.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_MESSAGE_H
#define MESHPLAN_RUNTIME_COMM_MPI_MESSAGE_H

#include "runtime/base/hash.h"
#include "runtime/comm/collective.h"

#include <compare>
#include <variant>

namespace meshplan {

/// Names one collective of the run; every rank that takes part finds the same key.
struct ExchangeKey {
  Hash group{}; ///< of the group's name and ranks, and how many such groups were made before
  std::pair<int64_t, int64_t> pair{-1, -1}; ///< see Participants
  int64_t number = 0;                       ///< of the collectives of this group, or of the pair in it

  auto operator<=>(const ExchangeKey &) const = default;
};

/// The sender has started a collective, and takes data for it under `tag` and, for what was reduced, `tag` + 1.
struct Announcement {
  ExchangeKey key;
  int64_t tag = 0;
  Collective collective; ///< without buffers
};

/// The sender has ended the run.
struct AbortNotice {
  Status cause;
};

/// The sender's body has returned. Nothing follows.
struct Leaving {};

/// Is the receiver's thread of communication alive? It answers, whatever its rank does.
struct Question {};
struct Answer {};

using Message = std::variant<Announcement, AbortNotice, Leaving, Question, Answer>;

std::vector<std::byte> encode(const Message &message);

/// `corrupted` when the bytes are no message of this version of the runtime.
Expected<Message> decode(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_MESSAGE_H
