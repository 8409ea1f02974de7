#include "runtime/tensor/compute_scope.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

using namespace meshplan;

static int64_t threadsOfProcess() {
  auto tasks = std::filesystem::directory_iterator("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(ComputeScopeTest, TurnsOffAutograd) {
  at::Tensor x = at::ones({2}).requires_grad_();
  ComputeScope scope(1);
  EXPECT_FALSE(at::mul(x, 2).requires_grad());
}

TEST(ComputeScopeTest, RestoresSettings) {
  int before = at::get_num_threads();
  {
    ComputeScope scope(1);
    EXPECT_EQ(at::get_num_threads(), 1);
  }
  EXPECT_EQ(at::get_num_threads(), before);
}

// Work that OpenMP, MKL and oneDNN could each split over threads starts no further thread.
TEST(ComputeScopeTest, RanksDoNotMultiplyThreads) {
  constexpr int ranks = 6;
  int64_t before = threadsOfProcess();
  std::latch started(ranks), computed(ranks), counted(1);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&] {
      ComputeScope scope(1);
      started.arrive_and_wait();
      at::Tensor x = at::randn({256, 256}), half = x.to(at::kBFloat16);
      at::mm(x, x);
      at::mm(half, half);
      at::softmax(at::randn({1024, 1024}), 1);
      computed.count_down();
      counted.wait();
    });
  computed.wait();
  int64_t running = threadsOfProcess();
  counted.count_down();
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_LE(running, before + ranks);
}

TEST(ComputeScopeTest, ThreadsPerRank) {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  EXPECT_EQ(threadsPerRank(1), cores);
  EXPECT_EQ(threadsPerRank(1000 * cores), 1);
  EXPECT_EQ(threadsPerRank(0), cores);
  EXPECT_EQ(threadsPerRank(1, cores), 1);
  EXPECT_EQ(threadsPerRank(1, 0), cores);
}

TEST(ComputeScopeTest, ABoundProcessUsesItsCoresOnly) {
  std::thread bound([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(threadsPerRank(1), 1);
  });
  bound.join();
}
