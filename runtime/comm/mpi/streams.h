//===- streams.h - moving one piece between two ranks -----------*- C++ -*-===//
//
// Moves one piece between two ranks. A piece is sent as chunks of equal size, a few at a time, so that memory is
// bounded and no count exceeds the range of MPI's integers. The receiver posts a receive for each chunk; both sides
// split a piece in the same way.
//
// Example: a piece of 600 KiB has chunks of 256, 256 and 88 KiB. With a window of 2, both sides post the first two; the
// sender posts the third when one of its sends is done, the receiver when it has released a chunk.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_STREAMS_H
#define MESHPLAN_RUNTIME_COMM_MPI_STREAMS_H

#include "runtime/comm/mpi/transport.h"

namespace meshplan {

/// The number of chunks of one piece that are in flight at the same time.
inline constexpr int64_t chunkWindow = 2;

/// The peer of a stream, and the owner that chunks in flight keep alive.
struct StreamEnd {
  Transport &transport;
  std::weak_ptr<void> owner;
  int64_t peer, tag;
};

/// Sends bytes of the caller's memory as they become available.
class OutStream {
public:
  /// The first `available` of `total` bytes may be sent immediately. `onMove` is called whenever a chunk has been
  /// copied.
  OutStream(StreamEnd end, const std::byte *data, int64_t total, int64_t available, std::function<Status()> onMove)
      : end(std::move(end)), data(data), total(total), available(available), onMove(std::move(onMove)) {}

  int64_t peer() const { return end.peer; }
  /// True when the caller's memory is no longer needed.
  bool done() const { return copied == total; }

  /// Allows to send the first `bytes`: a multiple of chunkBytes, or all.
  Status allow(int64_t bytes);
  Status pump();
  void cancel() { cancelled = true; }

private:
  StreamEnd end;
  const std::byte *data;
  int64_t total, available, copied = 0, inFlight = 0;
  bool cancelled = false;
  std::function<Status()> onMove;
};

/// Receives a piece from a peer.
class InStream {
public:
  /// `onChunk` takes the chunk that begins at `offset`; chunks may arrive in any order. It may keep the buffer; later
  /// chunks are requested only after it calls `release`.
  using OnChunk = std::function<Status(int64_t offset, Buffer chunk)>;

  InStream(StreamEnd end, int64_t total, OnChunk onChunk)
      : end(std::move(end)), total(total), onChunk(std::move(onChunk)) {}

  int64_t peer() const { return end.peer; }
  bool done() const { return released == total; }

  /// Posts as many receives as the window allows.
  Status pump();
  /// `bytes` more are processed.
  Status release(int64_t bytes);
  void cancel() { cancelled = true; }

private:
  StreamEnd end;
  int64_t total, asked = 0, released = 0;
  bool cancelled = false;
  OnChunk onChunk;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_STREAMS_H
