//===- memory_pool.cpp - the memory of one rank ---------------------------===//
//
// A pool keeps freed blocks, because a step allocates the same sizes as the step before. The rule is: memory in use
// plus kept blocks stay below 1.25 times the peak. So the memory of a process follows from the peak that the compiler
// predicts, and a quarter of it is room for sizes that differ from step to step.
//
// Example: the peak is 100 MiB, and 80 are in use. Up to 45 MiB of freed blocks stay; beyond that the blocks that have
// been free longest are given up, since a block that the last steps did not need is hardly needed by the next one.
//
// What is given up goes to the block that is allocated at this moment, page by page, and only the rest to the system:
// the system fills fresh pages with zeros, which takes longer than most operators on them.
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

static bool isMapped(MemoryPool::Block block) { return block.capacity >= hugePageBytes; }

static void giveToSystem(MemoryPool::Block block) {
  if (isMapped(block))
    munmap(block.address, block.capacity);
  else
    std::free(block.address);
}

static std::byte *addressOf(MemoryPool::Block block, size_t offset) {
  return static_cast<std::byte *>(block.address) + offset;
}

/// Moves a huge page to where another one is mapped. If the system cannot, a fresh page is there, and false is
/// returned.
static bool movePage(std::byte *from, std::byte *to) {
  if (mremap(from, hugePageBytes, hugePageBytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED)
    return true;
  // Before it failed, the system may have removed what was mapped there.
  if (mmap(to, hugePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    throw std::bad_alloc();
  return false;
}

/// Moves whole huge pages of `given` to `target`, from the offset `filled` on, and gives the rest of `given` to the
/// system. Returns how far `target` is filled then.
static size_t movePages(MemoryPool::Block given, MemoryPool::Block target, size_t filled) {
  size_t moved = 0;
  auto fits = [&] { return moved + hugePageBytes <= given.capacity && filled + hugePageBytes <= target.capacity; };
  // One by one: pages that were moved before may be several maps, of which systems before Linux 6.17 move only one.
  while (fits() && movePage(addressOf(given, moved), addressOf(target, filled))) {
    moved += hugePageBytes;
    filled += hugePageBytes;
  }
  if (moved < given.capacity)
    munmap(addressOf(given, moved), given.capacity - moved);
  return filled;
}

/// A new block, with the pages of the blocks that are `given` up.
static MemoryPool::Block takeFromSystem(size_t bytes, std::vector<MemoryPool::Block> &given) {
  MemoryPool::Block block;
  block.capacity = roundUp(bytes, bytes >= smallestKept ? pageBytes : alignment);
  block.address = isMapped(block) ? mapPages(block.capacity) : std::aligned_alloc(alignment, block.capacity);
  if (!block.address)
    throw std::bad_alloc();
  size_t filled = 0;
  if (isMapped(block))
    std::erase_if(given, [&](const MemoryPool::Block &each) {
      bool moves = isMapped(each) && filled + hugePageBytes <= block.capacity;
      filled = moves ? movePages(each, block, filled) : filled;
      return moves;
    });
  return block;
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

/// Discards what exceeds the limit of the blocks that have been free longest. Of a large block only as many pages go as
/// needed: the others would have to be filled with zeros when they come back.
void MemoryPool::discardAbove(int64_t limit, std::vector<Block> &discarded) {
  size_t count = 0;
  for (; count < keptBlocks.size() && currentBytes + keptBytes > limit; ++count) {
    Block &oldest = keptBlocks[count];
    size_t excess = roundUp(static_cast<size_t>(currentBytes + keptBytes - limit), hugePageBytes);
    size_t rest = oldest.capacity > excess ? (oldest.capacity - excess) / hugePageBytes * hugePageBytes : 0;
    discarded.push_back({addressOf(oldest, rest), oldest.capacity - rest});
    keptBytes -= static_cast<int64_t>(oldest.capacity - rest);
    if (rest > 0) {
      oldest.capacity = rest;
      break;
    }
  }
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
  auto giveBack = [&] {
    for (const Block &each : discarded)
      giveToSystem(each);
  };
  try {
    if (!block.address)
      block = takeFromSystem(bytes + overhead, discarded);
  } catch (const std::bad_alloc &) {
    giveBack();
    std::lock_guard lock(mutex);
    currentBytes -= static_cast<int64_t>(bytes);
    throw;
  }
  giveBack();
  return block;
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
