//===- message.h - control messages between ranks ---------------*- C++ -*-===//
//
// The control messages between ranks, and their encoding. Independent of MPI.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_MESSAGE_H
#define MESHPLAN_RUNTIME_COMM_MPI_MESSAGE_H

#include "runtime/base/hash.h"
#include "runtime/comm/collective.h"

#include <compare>
#include <variant>

namespace meshplan {

/// Identifies one collective of the run. Every participating rank computes the same key.
struct ExchangeKey {
  Hash group{};                             ///< hash of the group's name, ranks, and number among equal groups
  std::pair<int64_t, int64_t> pair{-1, -1}; ///< see Participants
  int64_t number = 0;                       ///< counts the collectives of this group, or of the pair in it

  auto operator<=>(const ExchangeKey &) const = default;
};

/// The sender has started a collective. It receives data for it under `tag`, and reduced data under `tag` + 1.
struct Announcement {
  ExchangeKey key;
  int64_t tag = 0;
  Collective collective; ///< without buffers
};

/// The sender has ended the run.
struct AbortNotice {
  Status cause;
};

/// The sender's body has returned. No collective follows.
struct Leaving {};

/// Asks whether the receiver's progress thread is alive. It answers even while its rank computes.
struct Question {};
struct Answer {};

using Message = std::variant<Announcement, AbortNotice, Leaving, Question, Answer>;

std::vector<std::byte> encode(const Message &message);

/// `corrupted` if the bytes are not a message of this version of the runtime.
Expected<Message> decode(std::span<const std::byte> bytes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_MESSAGE_H
