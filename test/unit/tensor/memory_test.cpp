#include "runtime/tensor/memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <thread>

using namespace meshplan;

namespace {

class MemoryTest : public testing::Test {
protected:
  MemoryTest() { installMeteredAllocator(); }
  std::shared_ptr<MemoryMeter> meter = std::make_shared<MemoryMeter>();
};

} // namespace

TEST_F(MemoryTest, CountsCurrentAndPeak) {
  MeterScope scope(meter);
  {
    at::Tensor a = at::empty({1000}, at::kFloat);
    EXPECT_EQ(meter->current(), 4000);
    at::Tensor b = at::empty({500}, at::kFloat);
    EXPECT_EQ(meter->current(), 6000);
  }
  EXPECT_EQ(meter->current(), 0);
  EXPECT_EQ(meter->peak(), 6000);
  meter->restartPeak();
  EXPECT_EQ(meter->peak(), 0);
}

TEST_F(MemoryTest, CountsTemporariesOfOperators) {
  at::Tensor x = at::randn({64, 64});
  MeterScope scope(meter);
  at::Tensor y = at::silu(x + x);
  EXPECT_EQ(meter->current(), 64 * 64 * 4);
  EXPECT_EQ(meter->peak(), 2 * 64 * 64 * 4);
}

TEST_F(MemoryTest, ViewsAllocateNothing) {
  at::Tensor x = at::randn({64, 64});
  MeterScope scope(meter);
  at::Tensor view = x.view({32, 128}).transpose(0, 1).narrow(0, 1, 2);
  EXPECT_EQ(meter->peak(), 0);
}

TEST_F(MemoryTest, BlockBelongsToTheRankThatMadeIt) {
  auto other = std::make_shared<MemoryMeter>();
  at::Tensor tensor;
  std::thread([&] {
    MeterScope scope(other);
    tensor = at::empty({100}, at::kDouble);
  }).join();
  EXPECT_EQ(other->current(), 800);
  MeterScope scope(meter);
  tensor.reset();
  EXPECT_EQ(other->current(), 0);
  EXPECT_EQ(meter->current(), 0);
}

TEST_F(MemoryTest, BlockOutlivesItsMeter) {
  at::Tensor tensor;
  {
    MeterScope scope(std::make_shared<MemoryMeter>());
    tensor = at::ones({100}, at::kDouble);
  }
  EXPECT_EQ(tensor.sum().item<double>(), 100.0);
}

TEST_F(MemoryTest, ScopesNest) {
  auto inner = std::make_shared<MemoryMeter>();
  MeterScope scope(meter);
  at::Tensor a, b;
  {
    MeterScope innerScope(inner);
    a = at::empty({10}, at::kByte);
  }
  b = at::empty({20}, at::kByte);
  EXPECT_EQ(inner->current(), 10);
  EXPECT_EQ(meter->current(), 20);
}

TEST_F(MemoryTest, ElementsStayAligned) {
  for (int64_t bytes : {1, 63, 64, 65, 4096, 1 << 20})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at::empty({bytes}, at::kByte).data_ptr()) % 64, 0u);
  EXPECT_EQ(at::empty({0}).data_ptr(), nullptr);
}
