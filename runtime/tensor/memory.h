//===- memory.h - bytes that a rank holds ------------------------*- C++ -*-===//
//
// Counts the memory of tensors per rank, temporaries inside of operators
// included, where several ranks share a process.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_TENSOR_MEMORY_H
#define MESHPLAN_RUNTIME_TENSOR_MEMORY_H

#include <atomic>
#include <cstdint>
#include <memory>

namespace meshplan {

/// Counter of one rank. A block counts for the meter of the thread that
/// allocated it, whoever frees it. Thread safe.
class MemoryMeter {
public:
  /// Bytes that are allocated now.
  int64_t current() const { return currentBytes.load(std::memory_order_relaxed); }

  /// Largest value of `current` since construction or the last restart.
  int64_t peak() const { return peakBytes.load(std::memory_order_relaxed); }

  void restartPeak() { peakBytes.store(current(), std::memory_order_relaxed); }

  void add(int64_t bytes);
  void remove(int64_t bytes) { currentBytes.fetch_sub(bytes, std::memory_order_relaxed); }

private:
  std::atomic<int64_t> currentBytes = 0, peakBytes = 0;
};

/// Makes the compute library's host memory countable. Call before the first
/// tensor of a metered thread; later calls do nothing. Thread safe.
void installMeteredAllocator();

/// While it exists, what this thread allocates counts for `meter`. Scopes nest.
class MeterScope {
public:
  explicit MeterScope(std::shared_ptr<MemoryMeter> meter);
  MeterScope(const MeterScope &) = delete;
  MeterScope &operator=(const MeterScope &) = delete;
  ~MeterScope();

private:
  std::shared_ptr<MemoryMeter> outer;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_TENSOR_MEMORY_H
