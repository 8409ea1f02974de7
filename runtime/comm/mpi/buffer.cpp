//===- buffer.cpp - memory of chunks --------------------------------------===//

#include "runtime/comm/mpi/buffer.h"

#include <utility>

using namespace meshplan;

Memory ChunkPool::take() {
  if (kept.empty())
    return std::make_unique_for_overwrite<std::byte[]>(chunkBytes);
  Memory chunk = std::move(kept.back());
  kept.pop_back();
  return chunk;
}

Buffer Buffer::allocate(int64_t size, std::shared_ptr<ChunkPool> pool) {
  if (size != chunkBytes)
    pool = nullptr;
  Memory memory = pool ? pool->take() : std::make_unique_for_overwrite<std::byte[]>(size);
  return Buffer(std::move(memory), size, std::move(pool));
}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  // The previous memory goes with `other`, whose destructor returns it to the pool.
  std::swap(memory, other.memory);
  std::swap(byteCount, other.byteCount);
  std::swap(pool, other.pool);
  return *this;
}

Buffer::~Buffer() {
  if (pool && memory)
    pool->giveBack(std::move(memory));
}
