//===- buffer.h - memory of chunks ------------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H
#define MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace meshplan {

/// Size of a chunk, the unit of all data transfers: a multiple of every element size.
inline constexpr int64_t chunkBytes = 256 << 10;

using Memory = std::unique_ptr<std::byte[]>;

/// Recycles the memory of chunks: fresh pages from the system cost more than the copy. For one thread.
class ChunkPool {
public:
  Memory take();
  void giveBack(Memory chunk) { kept.push_back(std::move(chunk)); }

private:
  std::vector<Memory> kept; // as many as were in flight at the same time
};

/// Memory owned by the backend, aligned for every dtype. The destructor returns a chunk to its pool.
class Buffer {
public:
  static Buffer allocate(int64_t size, std::shared_ptr<ChunkPool> pool = nullptr);

  Buffer(Buffer &&) = default;
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer();

  std::byte *data() const { return memory.get(); }
  int64_t size() const { return byteCount; }
  std::span<const std::byte> bytes() const { return {memory.get(), static_cast<size_t>(byteCount)}; }

  /// Leaks the memory, because MPI may still use it.
  void abandon() { (void)memory.release(); }

private:
  Buffer(Memory memory, int64_t size, std::shared_ptr<ChunkPool> pool)
      : memory(std::move(memory)), byteCount(size), pool(std::move(pool)) {}

  Memory memory;
  int64_t byteCount;
  std::shared_ptr<ChunkPool> pool;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H
