//===- reduced_piece.h - the piece that one rank reduces --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_REDUCED_PIECE_H
#define MESHPLAN_RUNTIME_COMM_MPI_REDUCED_PIECE_H

#include "runtime/comm/mpi/buffer.h"
#include "runtime/comm/reduce.h"

#include <map>

namespace meshplan {

/// The piece that this rank reduces. Adds the chunks of all ranks in slot order, as soon as all of them have arrived.
class ReducedPiece {
public:
  ReducedPiece() = default;

  /// `input` is the rank's own addend, at `ownSlot` of `slots`; `output` may be the same buffer. Both have `bytes`
  /// bytes.
  ReducedPiece(const std::byte *input, std::byte *output, int64_t bytes, int64_t slots, int64_t ownSlot)
      : input(input), output(output), total(bytes), ownSlot(ownSlot), chunks(slots) {}

  /// Takes the chunk of another slot that begins at `offset`. Chunks may arrive in any order.
  void accept(int64_t slot, int64_t offset, Buffer chunk) { chunks[slot].emplace(offset, std::move(chunk)); }

  /// Reduces the next chunk and returns its size; 0 if an addend is missing or all chunks are done.
  int64_t reduceNext(DType dtype, Reduction reduction);

  int64_t reducedBytes() const { return reduced; }
  bool done() const { return reduced == total; }

private:
  const std::byte *input = nullptr;
  std::byte *output = nullptr;
  int64_t total = 0, reduced = 0, ownSlot = 0;
  std::vector<std::map<int64_t, Buffer>> chunks; // by slot, then by offset
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_REDUCED_PIECE_H
