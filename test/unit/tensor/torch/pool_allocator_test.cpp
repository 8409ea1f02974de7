#include "runtime/tensor/memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshplan;

namespace {

class PoolAllocatorTest : public testing::Test {
protected:
  PoolAllocatorTest() { installPoolAllocator(); }
  std::shared_ptr<MemoryPool> pool = std::make_shared<MemoryPool>();
};

} // namespace

TEST_F(PoolAllocatorTest, CountsCurrentAndPeak) {
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

TEST_F(PoolAllocatorTest, CountsTemporariesOfOperators) {
  at::Tensor x = at::randn({64, 64});
  PoolScope scope(pool);
  at::Tensor y = at::silu(x + x);
  EXPECT_EQ(pool->current(), 64 * 64 * 4);
  EXPECT_EQ(pool->peak(), 2 * 64 * 64 * 4);
}

TEST_F(PoolAllocatorTest, ViewsAllocateNothing) {
  at::Tensor x = at::randn({64, 64});
  PoolScope scope(pool);
  at::Tensor view = x.view({32, 128}).transpose(0, 1).narrow(0, 1, 2);
  EXPECT_EQ(pool->peak(), 0);
}

TEST_F(PoolAllocatorTest, BlockBelongsToTheRankThatMadeIt) {
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

TEST_F(PoolAllocatorTest, PoolLivesAsLongAsItsBlocks) {
  at::Tensor tensor;
  {
    PoolScope scope(std::make_shared<MemoryPool>());
    tensor = at::ones({100}, at::kDouble);
  }
  EXPECT_EQ(tensor.sum().item<double>(), 100.0);
}

TEST_F(PoolAllocatorTest, ScopesNest) {
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

TEST_F(PoolAllocatorTest, TheHostHasAPoolOfItsOwn) {
  auto host = std::make_shared<MemoryPool>();
  PoolScope scope(pool, host);
  EXPECT_FALSE(inHostScope());
  at::Tensor device = at::empty({10}, at::kByte), kept;
  {
    HostScope onHost;
    EXPECT_TRUE(inHostScope());
    kept = at::empty({20}, at::kByte);
    HostScope again(/*isOnHost=*/false);
    EXPECT_TRUE(inHostScope()) << "a scope of nothing changes nothing";
  }
  EXPECT_FALSE(inHostScope());
  HostScope none(/*isOnHost=*/false);
  at::Tensor other = at::empty({3}, at::kByte);
  EXPECT_EQ(pool->current(), 13);
  EXPECT_EQ(host->current(), 20);
  kept = at::Tensor();
  EXPECT_EQ(host->current(), 0) << "it goes back to where it came from";
}

TEST_F(PoolAllocatorTest, ElementsStayAligned) {
  for (int64_t bytes : {1, 63, 64, 65, 4096, 1 << 20})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at::empty({bytes}, at::kByte).data_ptr()) % 64, 0u);
  EXPECT_EQ(at::empty({0}).data_ptr(), nullptr);
}

TEST_F(PoolAllocatorTest, AGrowingTensorIsCountedOnce) {
  PoolScope scope(pool);
  at::Tensor tensor = at::arange(10, at::kByte);
  tensor.resize_({1000});
  EXPECT_EQ(pool->current(), 1000);
  EXPECT_EQ(pool->peak(), 1010) << "both lived while it was copied";
  EXPECT_TRUE(at::equal(tensor.slice(0, 0, 10), at::arange(10, at::kByte)));
}

TEST_F(PoolAllocatorTest, AThreadWithoutAPoolUsesTheSystem) {
  PoolScope scope(pool);
  at::Tensor elsewhere;
  std::thread([&] { elsewhere = at::ones({100}, at::kByte); }).join();
  {
    PoolScope without(nullptr);
    at::Tensor tensor = at::ones({1 << 20}, at::kByte);
    EXPECT_EQ(tensor.sum().item<int64_t>(), 1 << 20);
  }
  EXPECT_EQ(pool->peak(), 0);
  at::Tensor tensor = at::empty({5}, at::kByte);
  EXPECT_EQ(pool->current(), 5) << "the pool of the outer scope again";
}

TEST_F(PoolAllocatorTest, FreedMemoryIsUsedAgain) {
  PoolScope scope(pool);
  void *first = at::empty({1 << 20}, at::kByte).data_ptr();
  EXPECT_EQ(at::empty({1 << 20}, at::kByte).data_ptr(), first);
  EXPECT_EQ(pool->peak(), 1 << 20);
}

TEST_F(PoolAllocatorTest, ATensorWithoutElementsTakesNothing) {
  PoolScope scope(pool);
  at::Tensor tensor = at::empty({0, 5});
  EXPECT_EQ(pool->current(), 0);
  tensor.resize_({2});
  EXPECT_EQ(pool->current(), 8);
}

TEST_F(PoolAllocatorTest, InstalledTwiceIsInstalledOnce) {
  installPoolAllocator();
  PoolScope scope(pool);
  at::Tensor tensor = at::empty({3}, at::kByte);
  EXPECT_EQ(pool->current(), 3);
}

TEST_F(PoolAllocatorTest, MoreThanThereIs) {
  PoolScope scope(pool);
  EXPECT_THROW(at::empty({int64_t(1) << 60}, at::kByte), std::exception);
  EXPECT_EQ(pool->current(), 0);
  at::Tensor tensor = at::ones({10}, at::kByte);
  EXPECT_EQ(tensor.sum().item<int64_t>(), 10) << "the pool still works";
}
