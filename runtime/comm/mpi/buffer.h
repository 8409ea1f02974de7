//===- buffer.h - bytes on their way -----------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H
#define MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace meshplan {

/// Bytes of a chunk, in which all data moves: a multiple of every element size.
inline constexpr int64_t chunkBytes = 256 << 10;

using Memory = std::unique_ptr<std::byte[]>;

/// Memory of chunks for their next use: fresh pages from the system cost more than the copy. For one thread.
class ChunkPool {
public:
  Memory take();
  void giveBack(Memory chunk) { kept.push_back(std::move(chunk)); }

private:
  std::vector<Memory> kept; // as many as were on their way at the same time
};

/// Memory of the backend's own, aligned for every dtype. A chunk goes back to its pool at the end.
class Buffer {
public:
  static Buffer allocate(int64_t size, std::shared_ptr<ChunkPool> pool = nullptr);

  Buffer(Buffer &&) = default;
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer();

  std::byte *data() const { return memory.get(); }
  int64_t size() const { return byteCount; }
  std::span<const std::byte> bytes() const { return {memory.get(), static_cast<size_t>(byteCount)}; }

  /// Nobody frees the memory any more.
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
