//===- permutation_test.cpp - a shuffled order without a table ------------===//

#include "runtime/dataset/permutation.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <set>

namespace meshplan {
namespace {

std::vector<int64_t> orderOf(int64_t size, const ShuffleKey &key) {
  Permutation permutation(size, key);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < size; ++i)
    order.push_back(permutation.at(i));
  return order;
}

TEST(Permutation, HasEveryIndexOnce) {
  // All small sizes; primes, squares, powers of two and their neighbours.
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size <= 130; ++size)
    sizes.push_back(size);
  sizes.insert(sizes.end(), {255, 256, 257, 997, 1023, 1024, 1025, 4096, 4097, 65521, 65536, 65537, 131101});
  for (int64_t size : sizes) {
    std::vector<bool> seen(size);
    for (int64_t index : orderOf(size, {static_cast<uint64_t>(size), 0, 3}))
      seen.at(index) = true;
    EXPECT_EQ(std::ranges::count(seen, true), size);
  }
}

TEST(Permutation, SizesAboveThirtyTwoBits) {
  for (int64_t size : {(int64_t(1) << 32) + 1, int64_t(10'000'000'019), (int64_t(1) << 62) + 5, INT64_MAX}) {
    Permutation permutation(size, {5, 0, 0});
    std::set<int64_t> seen;
    int64_t high = 0;
    for (int64_t i = 0; i < 5000; ++i) {
      int64_t index = permutation.at(size - 1 - i);
      ASSERT_GE(index, 0);
      ASSERT_LT(index, size);
      ASSERT_TRUE(seen.insert(index).second) << size << " " << i;
      high += index >= size / 2;
    }
    // 5000 fair coins: 2500 with a standard deviation of 35.
    EXPECT_NEAR(high, 2500, 5 * 35) << size;
  }
}

TEST(Permutation, EveryPartOfTheKeyChangesTheOrder) {
  std::set<std::vector<int64_t>> orders;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (uint64_t stream = 0; stream < 10; ++stream)
      for (uint64_t epoch = 0; epoch < 10; ++epoch)
        orders.insert(orderOf(50, {seed, stream, epoch}));
  EXPECT_EQ(orders.size(), 1000u);
  EXPECT_EQ(orderOf(50, {1, 2, 3}), orderOf(50, {1, 2, 3}));
}

TEST(Permutation, EveryIndexIsEquallyOftenInEveryPlace) {
  // Each of the size x size cells has `epochs / size` on average. The chi-square sum has (size - 1)^2 degrees of
  // freedom: its mean is that number and its standard deviation the root of twice that.
  for (int64_t size : {2, 3, 5, 7, 10, 16, 17, 31}) {
    constexpr int64_t epochs = 5000;
    std::vector<int64_t> counts(size * size);
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      Permutation permutation(size, {9, 0, static_cast<uint64_t>(epoch)});
      for (int64_t place = 0; place < size; ++place)
        ++counts[place * size + permutation.at(place)];
    }
    double mean = double(epochs) / size, sum = 0, freedom = double(size - 1) * (size - 1);
    for (int64_t count : counts)
      sum += (count - mean) * (count - mean) / mean;
    EXPECT_LT(sum, freedom + 5 * std::sqrt(2 * freedom)) << size;
  }
}

TEST(Permutation, SmallSizesHaveAllOrders) {
  std::set<std::vector<int64_t>> orders;
  for (uint64_t epoch = 0; epoch < 2000; ++epoch)
    orders.insert(orderOf(4, {0, 0, epoch}));
  EXPECT_EQ(orders.size(), 24u);
}

TEST(Permutation, NeighboursAreStrangers) {
  // The correlation of n independent pairs has a standard deviation of 1 / sqrt(n) around 0.
  constexpr int64_t size = 20'011;
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<int64_t> order = orderOf(size, {3, 0, epoch}), later = orderOf(size, {3, 0, epoch + 1});
    double inOrder = 0, withPlace = 0, withLater = 0, variance = (double(size) * size - 1) / 12;
    auto centred = [](int64_t index) { return index - (size - 1) / 2.0; };
    for (int64_t i = 0; i < size; ++i) {
      inOrder += centred(order[i]) * centred(order[(i + 1) % size]) / variance / size;
      withPlace += centred(order[i]) * centred(i) / variance / size;
      withLater += centred(order[i]) * centred(later[i]) / variance / size;
    }
    for (double correlation : {inOrder, withPlace, withLater})
      EXPECT_LT(std::abs(correlation), 5 / std::sqrt(size));
  }
}

TEST(Permutation, PlacesInPartsAreSpreadAlike) {
  // The first tenth of the order, in ten parts of the data: 1000 each with a standard deviation of 30.
  Permutation permutation(100'000, {4, 0, 0});
  std::array<int64_t, 10> parts = {};
  for (int64_t i = 0; i < 10'000; ++i)
    ++parts[permutation.at(i) / 10'000];
  for (int64_t count : parts)
    EXPECT_NEAR(count, 1000, 5 * 30);
}

} // namespace
} // namespace meshplan
