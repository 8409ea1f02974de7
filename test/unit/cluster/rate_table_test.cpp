//===- rate_table_test.cpp - interpolation of times -----------------------===//

#include "compiler/cluster/rate_table.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace meshplan;

namespace {

TEST(RateTable, IsExactAtItsSizes) {
  RateTable table{{1000, 3000, 1e6}, {2e-6, 5e-6, 1e-3}};
  for (size_t index = 0; index < table.sizes.size(); ++index)
    EXPECT_EQ(table.at(table.sizes[index], 1e-9), table.seconds[index]);
}

TEST(RateTable, IsLinearBetweenSizes) {
  RateTable table{{1000, 3000}, {2e-6, 6e-6}};
  EXPECT_DOUBLE_EQ(table.at(1500, 0), 3e-6);
}

TEST(RateTable, AFixedTimeAndARateAreReproduced) {
  auto seconds = [](double bytes) { return 20e-6 + bytes / 1e9; };
  RateTable table;
  for (double bytes : {1e3, 1e5, 1e8}) {
    table.sizes.push_back(bytes);
    table.seconds.push_back(seconds(bytes));
  }
  for (double bytes : {2e3, 7e4, 3e6, 9e7})
    EXPECT_NEAR(table.at(bytes, 20e-6), seconds(bytes), 1e-12);
}

TEST(RateTable, OutsideItsSizesTheRateStays) {
  RateTable table{{1000, 2000}, {2e-6, 3e-6}};
  EXPECT_DOUBLE_EQ(table.at(20000, 0), 3e-5);
  EXPECT_DOUBLE_EQ(table.at(500, 1e-9), 1e-6);
  EXPECT_DOUBLE_EQ(table.at(10, 1e-6), 1e-6) << "but a small size takes the least time";
  EXPECT_DOUBLE_EQ(table.at(10, 1e-3), 2e-6) << "which is not above that of the first size";
}

TEST(RateTable, NeverDecreases) {
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    RateTable table;
    double size = 1, seconds = 1e-7;
    for (int node = 0; node < 6; ++node) {
      size += 1 + random() % 1000;
      seconds += static_cast<double>(random() % 100) * 1e-7;
      table.sizes.push_back(size);
      table.seconds.push_back(seconds);
    }
    double before = 0;
    for (double at = 0; at < 2 * size; at += size / 500) {
      double now = table.at(at, 5e-7);
      EXPECT_GE(now, before);
      before = now;
    }
  }
}

/// Times that do not decrease along any axis.
ProductTable randomProducts(std::mt19937 &random) {
  ProductTable table{{1, 16, 300}, {8, 512}, {4, 64, 1024, 4096}, {}};
  size_t n = table.n.size(), k = table.k.size();
  for (size_t i = 0; i < table.m.size(); ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t l = 0; l < k; ++l) {
        double least = 1e-7;
        size_t index = table.seconds.size();
        if (i > 0)
          least = std::max(least, table.seconds[index - n * k]);
        if (j > 0)
          least = std::max(least, table.seconds[index - k]);
        if (l > 0)
          least = std::max(least, table.seconds[index - 1]);
        table.seconds.push_back(least * (1 + static_cast<double>(random() % 1000) / 100));
      }
  return table;
}

TEST(ProductTable, IsExactOnItsGrid) {
  std::mt19937 random(3);
  ProductTable table = randomProducts(random);
  size_t index = 0;
  for (double m : table.m)
    for (double n : table.n)
      for (double k : table.k)
        EXPECT_EQ(table.at({m, n, k, 1}), table.seconds[index++]);
  EXPECT_EQ(table.at({1, 8, 4, 5}), 5 * table.seconds[0]) << "each product of a batch";
}

TEST(ProductTable, NeverDecreases) {
  std::mt19937 random(5);
  for (int repeat = 0; repeat < 50; ++repeat) {
    ProductTable table = randomProducts(random);
    auto extent = [&] { return std::exp(static_cast<double>(random() % 1000) / 100); };
    for (int pair = 0; pair < 200; ++pair) {
      ProductShape small{extent(), extent(), extent()}, large = small;
      (pair % 3 == 0 ? large.m : pair % 3 == 1 ? large.n : large.k) *= 1 + static_cast<double>(random() % 100) / 50;
      EXPECT_LE(table.at(small), table.at(large) * (1 + 1e-12));
    }
  }
}

TEST(ProductTable, APowerOfTheExtentsIsReproduced) {
  auto seconds = [](double m, double n, double k) { return 1e-9 * std::pow(m, 0.9) * n * std::sqrt(k); };
  ProductTable table{{2, 200}, {3, 300}, {1, 10, 1000}, {}};
  for (double m : table.m)
    for (double n : table.n)
      for (double k : table.k)
        table.seconds.push_back(seconds(m, n, k));
  for (auto [m, n, k] : {std::array{5., 7., 3.}, {20., 250., 400.}, {150., 3., 10.}})
    EXPECT_NEAR(table.at({m, n, k, 1}) / seconds(m, n, k), 1, 1e-12);
}

TEST(ProductTable, AboveTheGridTheRateStaysAndBelowItTheTime) {
  ProductTable table{{10}, {10}, {10}, {2e-6}};
  EXPECT_DOUBLE_EQ(table.at({20, 10, 30, 1}), 12e-6);
  EXPECT_DOUBLE_EQ(table.at({1, 10, 5, 1}), 2e-6);
}

} // namespace
