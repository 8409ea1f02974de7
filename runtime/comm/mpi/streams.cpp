//===- streams.cpp - moving one piece between two ranks -------------------===//

#include "runtime/comm/mpi/streams.h"

#include <algorithm>
#include <cstring>

using namespace meshplan;

Status OutStream::allow(int64_t bytes) {
  available = bytes;
  return pump();
}

Status OutStream::pump() {
  while (!cancelled && inFlight < chunkWindow && copied < available) {
    int64_t size = std::min(chunkBytes, total - copied);
    // Copied, although MPI could send from the caller's memory: a send cannot be undone, and after an abort the caller
    // frees that memory at once.
    Buffer chunk = end.transport.allocate(size);
    std::memcpy(chunk.data(), data + copied, static_cast<size_t>(size));
    copied += size;
    ++inFlight;
    // The callback holds the owner: a cancelled exchange must outlive its chunks in flight.
    MESHPLAN_RETURN_IF_ERROR(end.transport.send(end.peer, end.tag, std::move(chunk), [this, owner = end.owner.lock()] {
      --inFlight;
      return pump();
    }));
    MESHPLAN_RETURN_IF_ERROR(onMove());
  }
  return Status();
}

Status InStream::pump() {
  // Counted until it is released, not until it has arrived: chunks that wait for a slow peer's addend hold memory, and
  // the sender must not run ahead of them.
  while (!cancelled && asked < total && asked - released < chunkWindow * chunkBytes) {
    int64_t offset = asked, size = std::min(chunkBytes, total - asked);
    asked += size;
    MESHPLAN_RETURN_IF_ERROR(
        end.transport.receive(end.peer, end.tag, size, [this, owner = end.owner.lock(), offset](Buffer chunk) {
          return cancelled ? Status() : onChunk(offset, std::move(chunk));
        }));
  }
  return Status();
}

Status InStream::release(int64_t bytes) {
  released += bytes;
  return pump();
}
