//===- memory_pool.cpp - the memory of one rank ---------------------------===//
//
// A pool keeps freed blocks, because a step allocates the same sizes as the step before. The rule is: memory in use
// plus kept blocks stay below 1.25 times the peak. So the memory of a process follows from the peak that the compiler
// predicts, and a quarter of it is room for sizes that differ from step to step.
//
// Example: the peak is 100 MiB, and 80 are in use. Up to 45 MiB of freed blocks stay; beyond that the blocks that have
// been free longest go back to the system, since a block that the last steps did not need is hardly needed by the next
// one.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/memory.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

using namespace meshplan;

/// Smaller blocks are cheap to get from the system, so they are not kept.
static constexpr size_t smallestKept = size_t(64) << 10;

static constexpr size_t alignment = 64, pageBytes = 4096, hugePageBytes = size_t(2) << 20;

static size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Maps pages of its own, aligned so that the system can back them with huge pages. This is only a hint; it may be
/// ignored.
static void *mapPages(size_t capacity) {
  // More than needed by one huge page: somewhere in it lies an aligned address with enough room after it.
  size_t reserved = capacity + hugePageBytes;
  void *mapped = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::bad_alloc();
  auto *begin = static_cast<std::byte *>(mapped);
  auto *address = reinterpret_cast<std::byte *>(roundUp(reinterpret_cast<uintptr_t>(mapped), hugePageBytes));
  size_t before = static_cast<size_t>(address - begin), after = reserved - before - capacity;
  if (before > 0)
    munmap(begin, before);
  if (after > 0)
    munmap(address + capacity, after);
  // Only whole huge pages, so that no more memory is used than requested.
  (void)madvise(address, capacity / hugePageBytes * hugePageBytes, MADV_HUGEPAGE);
  return address;
}

static MemoryPool::Block takeFromSystem(size_t bytes) {
  size_t capacity = roundUp(bytes, bytes >= smallestKept ? pageBytes : alignment);
  void *address = capacity >= hugePageBytes ? mapPages(capacity) : std::aligned_alloc(alignment, capacity);
  if (!address)
    throw std::bad_alloc();
  return {address, capacity};
}

static void giveToSystem(MemoryPool::Block block) {
  if (block.capacity >= hugePageBytes)
    munmap(block.address, block.capacity);
  else
    std::free(block.address);
}

static int64_t limitOf(int64_t peak) { return peak + peak / 4; }

MemoryPool::~MemoryPool() {
  for (const Block &block : keptBlocks)
    giveToSystem(block);
}

int64_t MemoryPool::current() const {
  std::lock_guard lock(mutex);
  return currentBytes;
}

int64_t MemoryPool::peak() const {
  std::lock_guard lock(mutex);
  return peakBytes;
}

int64_t MemoryPool::kept() const {
  std::lock_guard lock(mutex);
  return keptBytes;
}

/// The smallest kept block that is large enough and wastes less than an eighth.
MemoryPool::Block MemoryPool::takeKept(size_t bytes) {
  auto best = keptBlocks.end();
  for (auto block = keptBlocks.begin(); block != keptBlocks.end(); ++block) {
    // A bound on waste keeps a small tensor from taking the block that the next large one needs.
    bool fits = block->capacity >= bytes && block->capacity <= roundUp(bytes + bytes / 8, pageBytes);
    if (fits && (best == keptBlocks.end() || block->capacity < best->capacity))
      best = block;
  }
  if (best == keptBlocks.end())
    return {};
  Block block = *best;
  keptBlocks.erase(best);
  keptBytes -= static_cast<int64_t>(block.capacity);
  return block;
}

/// Discards the blocks that have been free longest.
void MemoryPool::discardAbove(int64_t limit, std::vector<Block> &discarded) {
  size_t count = 0;
  while (count < keptBlocks.size() && currentBytes + keptBytes > limit)
    keptBytes -= static_cast<int64_t>(keptBlocks[count++].capacity);
  discarded.assign(keptBlocks.begin(), keptBlocks.begin() + static_cast<ptrdiff_t>(count));
  keptBlocks.erase(keptBlocks.begin(), keptBlocks.begin() + static_cast<ptrdiff_t>(count));
}

MemoryPool::Block MemoryPool::allocate(size_t bytes, size_t overhead) {
  std::vector<Block> discarded;
  Block block;
  {
    std::lock_guard lock(mutex);
    if (bytes + overhead >= smallestKept)
      block = takeKept(bytes + overhead);
    // Without the overhead: the peak is compared with the compiler's prediction, which counts tensors only. Counted
    // before the memory exists, so that the lock is not held during the system call; a failure takes it back.
    currentBytes += static_cast<int64_t>(bytes);
    peakBytes = std::max(peakBytes, currentBytes);
    discardAbove(limitOf(peakBytes), discarded);
  }
  // System calls are made without the lock.
  for (const Block &each : discarded)
    giveToSystem(each);
  if (block.address)
    return block;
  try {
    return takeFromSystem(bytes + overhead);
  } catch (const std::bad_alloc &) {
    std::lock_guard lock(mutex);
    currentBytes -= static_cast<int64_t>(bytes);
    throw;
  }
}

void MemoryPool::release(Block block, size_t bytes) {
  std::vector<Block> discarded;
  {
    std::lock_guard lock(mutex);
    currentBytes -= static_cast<int64_t>(bytes);
    if (block.capacity >= smallestKept) {
      keptBlocks.push_back(block);
      keptBytes += static_cast<int64_t>(block.capacity);
      discardAbove(limitOf(peakBytes), discarded);
    } else {
      discarded.push_back(block);
    }
  }
  for (const Block &each : discarded)
    giveToSystem(each);
}
