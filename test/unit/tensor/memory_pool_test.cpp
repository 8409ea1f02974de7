#include "runtime/tensor/memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshplan;

namespace {

class MemoryTest : public testing::Test {
protected:
  MemoryTest() { installPoolAllocator(); }
  std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>();
};

} // namespace

TEST_F(MemoryTest, CountsCurrentAndPeak) {
  PoolScope scope(pool);
  {
    at::Tensor a = at::empty({1000}, at::kFloat);
    EXPECT_EQ(pool->current(), 4000);
    at::Tensor b = at::empty({500}, at::kFloat);
    EXPECT_EQ(pool->current(), 6000);
  }
  EXPECT_EQ(pool->current(), 0);
  EXPECT_EQ(pool->peak(), 6000);
}

TEST_F(MemoryTest, CountsTemporariesOfOperators) {
  at::Tensor x = at::randn({64, 64});
  PoolScope scope(pool);
  at::Tensor y = at::silu(x + x);
  EXPECT_EQ(pool->current(), 64 * 64 * 4);
  EXPECT_EQ(pool->peak(), 2 * 64 * 64 * 4);
}

TEST_F(MemoryTest, ViewsAllocateNothing) {
  at::Tensor x = at::randn({64, 64});
  PoolScope scope(pool);
  at::Tensor view = x.view({32, 128}).transpose(0, 1).narrow(0, 1, 2);
  EXPECT_EQ(pool->peak(), 0);
}

TEST_F(MemoryTest, BlockBelongsToTheRankThatMadeIt) {
  auto other = std::make_shared<MemoryPool>();
  at::Tensor tensor;
  std::thread([&] {
    PoolScope scope(other);
    tensor = at::empty({100}, at::kDouble);
  }).join();
  EXPECT_EQ(other->current(), 800);
  PoolScope scope(pool);
  tensor.reset();
  EXPECT_EQ(other->current(), 0);
  EXPECT_EQ(pool->peak(), 0);
}

TEST_F(MemoryTest, PoolLivesAsLongAsItsBlocks) {
  at::Tensor tensor;
  {
    PoolScope scope(std::make_shared<MemoryPool>());
    tensor = at::ones({100}, at::kDouble);
  }
  EXPECT_EQ(tensor.sum().item<double>(), 100.0);
}

TEST_F(MemoryTest, ScopesNest) {
  auto inner = std::make_shared<MemoryPool>();
  PoolScope scope(pool);
  at::Tensor a, b;
  {
    PoolScope innerScope(inner);
    a = at::empty({10}, at::kByte);
  }
  b = at::empty({20}, at::kByte);
  EXPECT_EQ(inner->current(), 10);
  EXPECT_EQ(pool->current(), 20);
}

TEST_F(MemoryTest, ElementsStayAligned) {
  for (int64_t bytes : {1, 63, 64, 65, 4096, 1 << 20})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at::empty({bytes}, at::kByte).data_ptr()) % 64, 0u);
  EXPECT_EQ(at::empty({0}).data_ptr(), nullptr);
}

TEST(MemoryPoolTest, LargeBlocksAreKeptAndUsedAgain) {
  MemoryPool pool;
  MemoryPool::Block first = pool.allocate(1 << 20), second = pool.allocate(1 << 20);
  pool.release(first, 1 << 20);
  EXPECT_EQ(pool.current(), 1 << 20);
  EXPECT_EQ(pool.kept(), 1 << 20);
  // A little smaller is close enough, a lot smaller or larger is not.
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
  // None of the kept blocks fits; the oldest leave so that 20 + kept is at most 45.
  MemoryPool::Block large = pool.allocate(20 * mebi);
  EXPECT_LE(pool.current() + pool.kept(), 45 * mebi);
  EXPECT_EQ(pool.kept(), (6 + 7 + 8) * mebi);
  pool.release(large, 20 * mebi);
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
