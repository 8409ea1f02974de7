#include "runtime/tensor/memory.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <thread>

using namespace meshplan;

TEST(MemoryPoolTest, LargeBlocksAreKeptAndUsedAgain) {
  MemoryPool pool;
  MemoryPool::Block first = pool.allocate(1 << 20), second = pool.allocate(1 << 20);
  pool.release(first, 1 << 20);
  EXPECT_EQ(pool.current(), 1 << 20);
  EXPECT_EQ(pool.kept(), 1 << 20);
  // A slightly smaller block is close enough; a much smaller or a larger one is not.
  MemoryPool::Block small = pool.allocate(1 << 19), close = pool.allocate((1 << 20) - 5000);
  EXPECT_NE(small.address, first.address);
  EXPECT_EQ(close.address, first.address);
  EXPECT_EQ(close.capacity, first.capacity);
  EXPECT_EQ(pool.kept(), 0);
  for (auto [block, bytes] :
       {std::pair(second, 1 << 20), std::pair(small, 1 << 19), std::pair(close, (1 << 20) - 5000)})
    pool.release(block, bytes);
}

TEST(MemoryPoolTest, SmallBlocksGoBack) {
  MemoryPool pool;
  pool.release(pool.allocate(1000), 1000);
  EXPECT_EQ(pool.kept(), 0);
  EXPECT_EQ(pool.peak(), 1000);
}

TEST(MemoryPoolTest, KeepsNoMoreThanAQuarterAboveThePeak) {
  constexpr int64_t mebi = 1 << 20;
  MemoryPool pool;
  std::vector<MemoryPool::Block> blocks;
  for (int i = 1; i <= 8; ++i)
    blocks.push_back(pool.allocate(i * mebi));
  for (int i = 1; i <= 8; ++i)
    pool.release(blocks[i - 1], i * mebi);
  EXPECT_EQ(pool.kept(), 36 * mebi);
  // None of the kept blocks fits; the oldest are freed so that 20 + kept is at most 45, of the fifth its end.
  MemoryPool::Block large = pool.allocate(20 * mebi);
  EXPECT_LE(pool.current() + pool.kept(), 45 * mebi);
  EXPECT_EQ(pool.kept(), (2 + 6 + 7 + 8) * mebi);
  pool.release(large, 20 * mebi);
}

/// Bytes of a block that the system has filled.
static size_t residentBytes(MemoryPool::Block block) {
  constexpr size_t pageBytes = 4096;
  std::vector<unsigned char> isResident(block.capacity / pageBytes);
  EXPECT_EQ(mincore(block.address, block.capacity, isResident.data()), 0);
  return pageBytes * std::ranges::count_if(isResident, [](unsigned char page) { return page & 1; });
}

TEST(MemoryPoolTest, PagesOfBlocksThatAreGivenUpAreUsedAgain) {
  constexpr size_t mebi = 1 << 20;
  MemoryPool pool;
  std::vector<MemoryPool::Block> blocks;
  for (int i = 0; i < 3; ++i) {
    blocks.push_back(pool.allocate(9 * mebi));
    memset(blocks.back().address, i, 9 * mebi);
  }
  for (MemoryPool::Block block : blocks)
    pool.release(block, 9 * mebi);
  // 27 MiB are kept and the limit is 33.75, so that 13.25 are given up: 4 pages of 2 MiB of one block and 3 of another.
  MemoryPool::Block large = pool.allocate(20 * mebi);
  EXPECT_EQ(residentBytes(large), 14 * mebi);
  EXPECT_LE(pool.current() + pool.kept(), 34 * int64_t(mebi));
  memset(large.address, 7, 20 * mebi);
  // What has been moved is moved again.
  pool.release(large, 20 * mebi);
  MemoryPool::Block larger = pool.allocate(24 * mebi);
  EXPECT_GE(residentBytes(larger), 16 * mebi);
  memset(larger.address, 8, 24 * mebi);
  EXPECT_EQ(static_cast<std::byte *>(larger.address)[24 * mebi - 1], std::byte(8));
  pool.release(larger, 24 * mebi);
}

TEST(MemoryPoolTest, BlocksAreAlignedAndUsable) {
  MemoryPool pool;
  for (size_t bytes : {1, 100, 70000, 3000000}) {
    MemoryPool::Block block = pool.allocate(bytes, 64);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block.address) % 64, 0u);
    ASSERT_GE(block.capacity, bytes + 64);
    memset(block.address, 1, bytes + 64);
    pool.release(block, bytes);
  }
  EXPECT_EQ(pool.peak(), 3000000);
}

TEST(MemoryPoolTest, NoMemory) {
  MemoryPool pool;
  EXPECT_THROW((void)pool.allocate(size_t(1) << 60), std::bad_alloc);
  EXPECT_EQ(pool.current(), 0);
}

namespace {

/// Blocks filled with a mark each, so that the test notices one that is allocated twice.
class MarkedBlocks {
public:
  MarkedBlocks(MemoryPool &pool, unsigned seed) : pool(pool), generator(seed), mark(static_cast<uint8_t>(seed)) {}

  /// Allocates or frees a block of up to 4 MiB.
  void step();

  void finish() {
    while (!taken.empty())
      giveBack();
  }

  int64_t sum = 0, largest = 0;

private:
  struct Taken {
    MemoryPool::Block block;
    size_t bytes, overhead;
    uint8_t mark;
  };

  void giveBack();

  MemoryPool &pool;
  std::mt19937 generator;
  uint8_t mark;
  std::vector<Taken> taken;
};

void MarkedBlocks::step() {
  if (taken.empty() || (taken.size() < 12 && generator() % 2 == 0)) {
    Taken next;
    next.bytes = size_t(1) << (generator() % 22);
    next.bytes += generator() % next.bytes;
    next.overhead = generator() % 2 * 64;
    next.block = pool.allocate(next.bytes, next.overhead);
    next.mark = ++mark;
    EXPECT_GE(next.block.capacity, next.bytes + next.overhead);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(next.block.address) % 64, 0u);
    std::memset(next.block.address, next.mark, next.bytes + next.overhead);
    taken.push_back(next);
    sum += static_cast<int64_t>(next.bytes);
    largest = std::max(largest, sum);
  } else {
    std::swap(taken[generator() % taken.size()], taken.back());
    giveBack();
  }
}

void MarkedBlocks::giveBack() {
  const Taken &last = taken.back();
  auto *begin = static_cast<const uint8_t *>(last.block.address);
  bool untouched =
      std::all_of(begin, begin + last.bytes + last.overhead, [&](uint8_t byte) { return byte == last.mark; });
  EXPECT_TRUE(untouched) << "another block overlaps this one";
  pool.release(last.block, last.bytes);
  sum -= static_cast<int64_t>(last.bytes);
  taken.pop_back();
}

} // namespace

TEST(MemoryPoolTest, AnyOrderOfBlocks) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    MemoryPool pool;
    MarkedBlocks blocks(pool, seed);
    for (int i = 0; i < 400; ++i) {
      blocks.step();
      EXPECT_EQ(pool.current(), blocks.sum);
      EXPECT_EQ(pool.peak(), blocks.largest);
      EXPECT_LE(pool.current() + pool.kept(), pool.peak() + pool.peak() / 4);
      EXPECT_GE(pool.kept(), 0);
    }
    blocks.finish();
    EXPECT_EQ(pool.current(), 0);
  }
}

TEST(MemoryPoolTest, ThreadsShareAPool) {
  MemoryPool pool;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&pool, seed] {
      MarkedBlocks blocks(pool, 50 * seed);
      for (int i = 0; i < 200; ++i)
        blocks.step();
      blocks.finish();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(pool.current(), 0);
  EXPECT_LE(pool.kept(), pool.peak() + pool.peak() / 4);
}

TEST(MemoryPoolTest, OfTheKeptBlocksTheSmallestThatFits) {
  constexpr size_t kibi = 1 << 10;
  MemoryPool pool;
  std::vector<MemoryPool::Block> blocks;
  for (size_t size : {112, 100, 104, 108})
    blocks.push_back(pool.allocate(size * kibi));
  for (size_t i = 0; i < 4; ++i)
    pool.release(blocks[i], std::vector<size_t>{112, 100, 104, 108}[i] * kibi);
  for (size_t expected : {2, 3, 0}) {
    blocks.push_back(pool.allocate(101 * kibi));
    EXPECT_EQ(blocks.back().address, blocks[expected].address);
  }
  for (size_t i = 4; i < blocks.size(); ++i)
    pool.release(blocks[i], 101 * kibi);
}

TEST(MemoryPoolTest, TheOverheadIsNotCounted) {
  MemoryPool pool;
  MemoryPool::Block block = pool.allocate(1000, 64);
  EXPECT_EQ(pool.current(), 1000);
  EXPECT_GE(block.capacity, 1064u);
  pool.release(block, 1000);
  EXPECT_EQ(pool.current(), 0);
  EXPECT_EQ(pool.peak(), 1000);
}
