//===- buffer.h - bytes on their way -----------------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H
#define MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace meshplan {

/// Memory of the backend's own, aligned for every dtype.
struct Buffer {
  std::unique_ptr<std::byte[]> data;
  int64_t size = 0;

  static Buffer allocate(int64_t size) { return {std::make_unique_for_overwrite<std::byte[]>(size), size}; }
  std::span<const std::byte> bytes() const { return {data.get(), static_cast<size_t>(size)}; }
};

/// Bytes of a chunk, in which all data moves: a multiple of every element size.
inline constexpr int64_t chunkBytes = 256 << 10;

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_MPI_BUFFER_H
