//===- streams.h - one piece on its way to or from a peer --------*- C++ -*-===//
//
// A piece of any size moves as chunks of one size, a few at a time, so that
// memory is bounded and no count exceeds what MPI's functions take. The
// receiver asks for chunks; both sides cut a piece in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_STREAMS_H
#define MESHPLAN_RUNTIME_COMM_MPI_STREAMS_H

#include "runtime/comm/mpi/transport.h"

namespace meshplan {

/// Chunks of one piece that are on their way at the same time.
inline constexpr int64_t chunkWindow = 2;

/// Where a stream goes, and what it is part of: chunks on their way keep `owner`.
struct StreamEnd {
  Transport &transport;
  std::weak_ptr<void> owner;
  int64_t peer, tag;
};

/// Sends bytes of the caller's memory as they become available.
class OutStream {
public:
  /// The first `available` of `total` bytes may be sent from the start. `onMove` is called when more of them have been
  /// copied.
  OutStream(StreamEnd end, const std::byte *data, int64_t total, int64_t available, std::function<Status()> onMove)
      : end(std::move(end)), data(data), total(total), available(available), onMove(std::move(onMove)) {}

  int64_t peer() const { return end.peer; }
  /// The caller's memory is not needed any more.
  bool done() const { return copied == total; }

  /// The first `bytes` may be sent: a multiple of chunkBytes, or all.
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

/// Asks a peer for a piece.
class InStream {
public:
  /// `onChunk` takes the chunk that begins at `offset`; chunks may come in any order. It may keep the buffer, and then
  /// holds back the chunks that follow until it calls `release`.
  using OnChunk = std::function<Status(int64_t offset, Buffer chunk)>;

  InStream(StreamEnd end, int64_t total, OnChunk onChunk)
      : end(std::move(end)), total(total), onChunk(std::move(onChunk)) {}

  int64_t peer() const { return end.peer; }
  bool done() const { return released == total; }

  /// Asks for as many chunks as may be on their way.
  Status pump();
  /// `bytes` more are done with.
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
