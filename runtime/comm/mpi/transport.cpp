//===- transport.cpp - bytes between processes ----------------------------===//

#include "runtime/comm/mpi/transport.h"

#include "runtime/comm/mpi/api.h"

#include <algorithm>

namespace meshplan {

namespace {

constexpr int messageTag = 0;

} // namespace

Transport::Transport(MPI_Comm communicator) : communicator(communicator) {
  int rank = 0, size = 0, found = 0;
  mpi().MPI_Comm_rank(communicator, &rank);
  mpi().MPI_Comm_size(communicator, &size);
  ownRank = rank;
  rankCount = size;
  int *bound = nullptr;
  mpi().MPI_Comm_get_attr(communicator, MPI_TAG_UB, &bound, &found);
  tagBound = found ? *bound : 32767; // the minimum that MPI guarantees
}

Transport::~Transport() {
  for (Operation &operation : operations)
    // MPI may still write to the buffers of unfinished requests, so their memory is leaked instead of freed.
    operation.buffer.abandon();
}

Status Transport::start(int64_t to, int64_t tag, Buffer buffer, Sent sent) {
  MPI_Request request;
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Isend, buffer.data(), static_cast<int>(buffer.size()), mpi().byte,
                               static_cast<int>(to), static_cast<int>(tag), communicator, &request);
  requests.push_back(request);
  operations.push_back({std::move(buffer), std::move(sent), nullptr});
  return Status();
}

Status Transport::sendMessage(int64_t to, std::span<const std::byte> bytes) {
  // A copy, because the caller's bytes may change before MPI has sent them.
  Buffer buffer = Buffer::allocate(static_cast<int64_t>(bytes.size()));
  std::ranges::copy(bytes, buffer.data());
  ++messagesInFlight;
  return start(to, messageTag, std::move(buffer), [this] {
    --messagesInFlight;
    return Status();
  });
}

Status Transport::send(int64_t to, int64_t tag, Buffer buffer, Sent sent) {
  return start(to, tag, std::move(buffer), std::move(sent));
}

Status Transport::receive(int64_t from, int64_t tag, int64_t size, Received received) {
  Buffer buffer = allocate(size);
  MPI_Request request;
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Irecv, buffer.data(), static_cast<int>(size), mpi().byte, static_cast<int>(from),
                               static_cast<int>(tag), communicator, &request);
  requests.push_back(request);
  operations.push_back({std::move(buffer), nullptr, std::move(received)});
  return Status();
}

Status Transport::takeMessages(const MessageHandler &onMessage, bool &any) {
  // Several messages may have arrived since the last poll. MPI_Improbe tells their length before they are received.
  for (;;) {
    int found = 0, size = 0;
    MPI_Message message;
    MPI_Status status;
    MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Improbe, MPI_ANY_SOURCE, messageTag, communicator, &found, &message, &status);
    if (!found)
      return Status();
    any = true;
    MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Get_count, &status, mpi().byte, &size);
    // Messages have any length, so each gets its own buffer instead of a chunk.
    Buffer buffer = Buffer::allocate(size);
    MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Mrecv, buffer.data(), size, mpi().byte, &message, MPI_STATUS_IGNORE);
    MESHPLAN_RETURN_IF_ERROR(onMessage(status.MPI_SOURCE, buffer.bytes()));
  }
}

Status Transport::finishRequests(bool &any) {
  if (requests.empty())
    return Status();
  int count = 0;
  // One call for all requests: MPI makes progress inside of it.
  std::vector<int> indices(requests.size());
  MESHPLAN_RETURN_IF_MPI_ERROR(MPI_Testsome, static_cast<int>(requests.size()), requests.data(), &count, indices.data(),
                               MPI_STATUSES_IGNORE);
  if (count <= 0)
    return Status();
  any = true;
  // Handlers start new operations, so finished ones are removed from the list first. MPI has set their requests to
  // null.
  std::vector<Operation> ended;
  for (int index : std::span(indices).first(count))
    ended.push_back(std::move(operations[index]));
  size_t kept = 0;
  for (size_t i = 0; i < requests.size(); ++i)
    // Swapped forward and cut off at the end, in one pass. The order of the list means nothing; that of messages is
    // kept by MPI.
    if (requests[i] != mpi().nullRequest) {
      std::swap(requests[kept], requests[i]);
      std::swap(operations[kept], operations[i]);
      ++kept;
    }
  requests.resize(kept);
  operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(kept), operations.end());
  // After a failure the run ends, so the handlers that were not called are dropped with their buffers, which MPI no
  // longer uses.
  for (Operation &operation : ended)
    MESHPLAN_RETURN_IF_ERROR(operation.sent ? operation.sent() : operation.received(std::move(operation.buffer)));
  return Status();
}

Expected<bool> Transport::poll(const MessageHandler &onMessage) {
  bool any = false;
  MESHPLAN_RETURN_IF_ERROR(takeMessages(onMessage, any));
  MESHPLAN_RETURN_IF_ERROR(finishRequests(any));
  return any;
}

} // namespace meshplan
