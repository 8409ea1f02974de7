//===- reduced_piece.cpp - the piece that one rank reduces ----------------===//

#include "runtime/comm/mpi/reduced_piece.h"

#include <algorithm>

using namespace meshplan;

int64_t ReducedPiece::reduceNext(DType dtype, Reduction reduction) {
  int64_t size = std::min(chunkBytes, total - reduced);
  if (size == 0)
    return 0;
  std::vector<const void *> addends;
  for (int64_t slot = 0; slot < static_cast<int64_t>(chunks.size()); ++slot) {
    if (slot == ownSlot) {
      addends.push_back(input + reduced);
      continue;
    }
    // Addition must follow slot order for equal bits on all ranks, so a missing addend blocks the later ones.
    auto chunk = chunks[slot].find(reduced);
    if (chunk == chunks[slot].end())
      return 0;
    addends.push_back(chunk->second.data());
  }
  void *target = output + reduced;
  reduceInOrder(addends, std::span(&target, 1), size / dtypeSize(dtype), dtype, reduction);
  // Before the next receives are posted (reduceReady), so that these take the memory of this chunk from the pool.
  for (auto &ofSlot : chunks)
    ofSlot.erase(reduced);
  reduced += size;
  return size;
}
