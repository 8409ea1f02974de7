//===- memory.h - the memory of one rank --------------------------*- C++ -*-===//
//
// Counts the bytes of tensors per rank where several ranks share a process,
// temporaries inside of operators included, and keeps freed blocks for the same
// rank: a step asks for the sizes of the step before, and fresh pages from the
// system cost more than most operators.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_MEMORY_H
#define MESHPLAN_RUNTIME_TENSOR_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace meshplan {

/// The host memory of one rank. What it keeps of freed blocks together with what
/// is in use stays below 1.25 times the peak; all of it is given back when the
/// pool and its last block are gone. Thread safe.
class MemoryPool {
public:
  MemoryPool() = default;
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;
  ~MemoryPool();

  /// Bytes that are in use now, as asked for.
  int64_t current() const;

  /// Largest value of `current` since construction.
  int64_t peak() const;

  /// Bytes of freed blocks that wait for their next use.
  int64_t kept() const;

  /// A block of memory, aligned to 64. Its capacity may be larger than `bytes`.
  struct Block {
    void *address = nullptr;
    size_t capacity = 0;
  };

  /// A block for `bytes` and `overhead` bytes more, which are not counted. Throws
  /// std::bad_alloc when the system has no memory.
  Block allocate(size_t bytes, size_t overhead = 0);

  /// Takes back a block that was allocated with `bytes`.
  void release(Block block, size_t bytes);

private:
  Block takeKept(size_t bytes);
  void discardAbove(int64_t limit, std::vector<Block> &discarded);

  mutable std::mutex mutex;
  int64_t currentBytes = 0, peakBytes = 0, keptBytes = 0;
  std::vector<Block> keptBlocks; // in the order in which they were freed
};

/// Makes the compute library take its host memory from the pool of the calling
/// thread. Call before the first tensor of such a thread; later calls do
/// nothing. Thread safe.
void installPoolAllocator();

/// The memory of a rank: that of its device, where the device is the host, and that of the host.
struct RankPools {
  std::shared_ptr<MemoryPool> device, host;
};

/// While it exists, tensors that this thread makes live in `device`, and within a
/// HostScope in `host`, whoever frees them. Scopes nest. Threads without a pool
/// use the system's memory.
class PoolScope {
public:
  explicit PoolScope(std::shared_ptr<MemoryPool> device, std::shared_ptr<MemoryPool> host = nullptr);
  PoolScope(const PoolScope &) = delete;
  PoolScope &operator=(const PoolScope &) = delete;
  ~PoolScope();

private:
  RankPools outer;
};

/// While it exists, what allocateTensor makes on this thread lies in the memory of the host, and so does what operators
/// make of such tensors. Create and destroy on the same thread.
class HostScope {
public:
  /// Changes nothing unless `isOnHost`.
  explicit HostScope(bool isOnHost = true);
  HostScope(const HostScope &) = delete;
  HostScope &operator=(const HostScope &) = delete;
  ~HostScope();

private:
  bool outerIsHost;
};

/// True within a HostScope of the calling thread.
bool inHostScope();

/// The pool in which the calling thread makes tensors now; null is the system's memory.
const std::shared_ptr<MemoryPool> &currentPool();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_MEMORY_H
