//===- transport.h - bytes between processes --------------------*- C++ -*-===//
//
// Sends and receives bytes between processes; the only code that does so with MPI. All operations are asynchronous and
// use the transport's own buffers, so MPI never holds the caller's memory, even after a failure. For one thread.
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

  /// `communicator` must return errors and must not be used by other code.
  explicit Transport(MPI_Comm communicator);
  Transport(const Transport &) = delete;
  Transport &operator=(const Transport &) = delete;

  /// Operations still in flight after a failure are abandoned: their buffers are leaked, since MPI may use them.
  ~Transport();

  int64_t rank() const { return ownRank; }
  int64_t size() const { return rankCount; }

  /// Data tags are 1, 2, ..., lastTag().
  int64_t lastTag() const { return tagBound; }

  /// Sends a message of any length to the peer's MessageHandler.
  Status sendMessage(int64_t to, std::span<const std::byte> bytes);

  /// Sends data that the peer receives with the same tag and size. Data of one pair and tag stays in order.
  Status send(int64_t to, int64_t tag, Buffer buffer, Sent sent);
  Status receive(int64_t from, int64_t tag, int64_t size, Received received);

  /// Allocates a buffer for data.
  Buffer allocate(int64_t size) { return Buffer::allocate(size, pool); }

  /// Lets MPI make progress and calls the handlers of finished operations. True if there were any. The first failure of
  /// a handler is returned.
  Expected<bool> poll(const MessageHandler &onMessage);

  /// Number of control messages that MPI has not completed yet.
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
