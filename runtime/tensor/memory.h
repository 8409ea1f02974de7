//===- memory.h - the memory of one rank ------------------------*- C++ -*-===//
//
// Counts the bytes of tensors per rank, even if several ranks share a process, including temporaries of operators.
// Keeps freed blocks for the same rank: a step needs the same sizes as the step before, and fresh pages from the system
// cost more than most operators.
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

/// The host memory of one rank. Memory in use plus kept blocks stay below 1.25 times the peak. Everything is returned
/// when the pool and its last block are gone. Thread safe.
class MemoryPool {
public:
  MemoryPool() = default;
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;
  ~MemoryPool();

  /// Bytes in use now, as requested.
  int64_t current() const;

  /// Peak memory: the largest value of `current` since construction.
  int64_t peak() const;

  /// Bytes of freed blocks kept for reuse.
  int64_t kept() const;

  /// A block of memory, aligned to 64. Its capacity may exceed the requested bytes.
  struct Block {
    void *address = nullptr;
    size_t capacity = 0;
  };

  /// Allocates a block for `bytes`, and `overhead` more that are not counted. Throws std::bad_alloc if the system has
  /// no memory.
  Block allocate(size_t bytes, size_t overhead = 0);

  /// Returns a block that was allocated with `bytes`.
  void release(Block block, size_t bytes);

private:
  Block takeKept(size_t bytes);
  void discardAbove(int64_t limit, std::vector<Block> &discarded);

  mutable std::mutex mutex;
  int64_t currentBytes = 0, peakBytes = 0, keptBytes = 0;
  std::vector<Block> keptBlocks; // oldest free first
};

/// Makes the compute library allocate host memory from the pool of the calling thread. Call before the first tensor of
/// such a thread; further calls do nothing. Thread safe.
void installPoolAllocator();

/// The memory pools of a rank: `device` has what it computes with, if its device is the CPU; `host` has what is kept in
/// the memory of the host.
struct RankPools {
  std::shared_ptr<MemoryPool> device, host;
};

/// During its lifetime, tensors created by this thread are allocated from `device`, inside a HostScope from `host`,
/// whichever thread frees them. Scopes nest. Threads without a pool use the system's memory.
class PoolScope {
public:
  explicit PoolScope(std::shared_ptr<MemoryPool> device, std::shared_ptr<MemoryPool> host = nullptr);
  PoolScope(const PoolScope &) = delete;
  PoolScope &operator=(const PoolScope &) = delete;
  ~PoolScope();

private:
  RankPools outer;
};

/// During its lifetime, allocateTensor on this thread allocates host memory, and operators on host tensors do too.
/// Create and destroy on the same thread.
class HostScope {
public:
  /// Has no effect unless `isOnHost`.
  explicit HostScope(bool isOnHost = true);
  HostScope(const HostScope &) = delete;
  HostScope &operator=(const HostScope &) = delete;
  ~HostScope();

private:
  bool outerIsHost;
};

/// True if the calling thread is in a HostScope.
bool inHostScope();

/// The pool that the calling thread allocates from now; null: the system's memory.
const std::shared_ptr<MemoryPool> &currentPool();

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_MEMORY_H
