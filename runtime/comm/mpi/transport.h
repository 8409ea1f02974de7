//===- transport.h - bytes between processes ---------------------*- C++ -*-===//
//
// The only place that sends and receives with MPI. Everything is asynchronous
// and in buffers of its own: what MPI still holds after a failure is never the
// caller's memory. For one thread.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_TRANSPORT_H
#define MESHPLAN_RUNTIME_COMM_MPI_TRANSPORT_H

#include "runtime/base/status.h"
#include "runtime/comm/mpi/buffer.h"

#include <functional>
#include <mpi.h>
#include <vector>

namespace meshplan {

class Transport {
public:
  using Sent = std::function<Status()>;
  using Received = std::function<Status(Buffer)>;
  using MessageHandler = std::function<Status(int64_t from, std::span<const std::byte>)>;

  /// `communicator` returns its errors and is used by nobody else.
  explicit Transport(MPI_Comm communicator);
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  /// What is still on its way after a failure is given up: MPI keeps its buffers.
  ~Transport();

  int64_t rank() const { return ownRank; }
  int64_t size() const { return rankCount; }

  /// Tags of data are 1, 2, ..., lastTag().
  int64_t lastTag() const { return tagBound; }

  /// A message of any length, for the peer's MessageHandler.
  Status sendMessage(int64_t to, std::span<const std::byte> bytes);

  /// Data that the peer asks for by `receive` with the same tag and size. Data of one pair and tag stays in order.
  Status send(int64_t to, int64_t tag, Buffer buffer, Sent sent);
  Status receive(int64_t from, int64_t tag, int64_t size, Received received);

  /// For data that is sent.
  Buffer allocate(int64_t size) { return Buffer::allocate(size, pool); }

  /// Lets MPI work, and calls the handlers of what has ended. True if anything has; a handler's failure ends it.
  Expected<bool> poll(const MessageHandler &onMessage);

  /// Messages, not data, that MPI has not taken over yet.
  int64_t openMessages() const { return messagesInFlight; }
  bool idle() const { return requests.empty(); }

private:
  struct Operation {
    Buffer buffer;
    Sent sent;
    Received received;
  };

  Status start(int64_t to, int64_t tag, Buffer buffer, Sent sent);
  Status takeMessages(const MessageHandler &onMessage, bool &any);
  Status finishRequests(bool &any);

  MPI_Comm communicator;
  std::shared_ptr<ChunkPool> pool = std::make_shared<ChunkPool>();
  int64_t ownRank = 0, rankCount = 0, tagBound = 0, messagesInFlight = 0;
  std::vector<MPI_Request> requests; // parallel to `operations`
  std::vector<Operation> operations;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_TRANSPORT_H
