//===- distribution_test.cpp - draws of a distribution by their index -----===//
//
// Draws are checked against the intended distribution: mean and variance within 5 of their own standard deviations, and
// the largest distance of the distribution functions (Kolmogorov) within 2.3 / sqrt(n), which a correct generator
// exceeds in one of 20,000 draws. The seed fixes the draws: a test that passes once passes always.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/initial/distribution.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace meshplan;
using artifact::InitKind;

namespace {

constexpr size_t count = 200000;

double normalPart(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

artifact::InitT table(InitKind kind) {
  artifact::InitT init;
  init.kind = kind;
  return init;
}

std::vector<double> drawn(const artifact::InitT &init, size_t size = count, uint64_t first = 0, uint64_t seed = 1,
                          const char *name = "w") {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::CreateInit(builder, &init));
  std::vector<double> numbers(size);
  ElementDraws(*flatbuffers::GetRoot<artifact::Init>(builder.GetBufferPointer()), seed, name).draw(first, numbers);
  return numbers;
}

double meanOf(const std::vector<double> &numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

/// The mean of the numbers' powers around a mean.
double momentOf(const std::vector<double> &numbers, double mean, double power) {
  double sum = 0;
  for (double number : numbers)
    sum += std::pow(number - mean, power);
  return sum / static_cast<double>(numbers.size());
}

/// The largest distance between the numbers' empirical distribution function and `part`.
double distanceFrom(std::vector<double> numbers, const std::function<double(double)> &part) {
  std::ranges::sort(numbers);
  double largest = 0, size = static_cast<double>(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    largest = std::max({largest, std::abs(part(numbers[i]) - static_cast<double>(i) / size),
                        std::abs(part(numbers[i]) - static_cast<double>(i + 1) / size)});
  return largest;
}

/// `fourth` is the fourth central moment, from which the standard deviation of the variance follows.
void expectDistribution(const std::vector<double> &numbers, double mean, double variance, double fourth,
                        const std::function<double(double)> &part) {
  double size = static_cast<double>(numbers.size());
  EXPECT_NEAR(meanOf(numbers), mean, 5 * std::sqrt(variance / size));
  EXPECT_NEAR(momentOf(numbers, mean, 2), variance, 5 * std::sqrt((fourth - variance * variance) / size));
  EXPECT_LT(distanceFrom(numbers, part), 2.3 / std::sqrt(size));
}

/// A relative error e of x changes the part below a small x by x * x * e: e is 1e-15, plus the error of the complement.
TEST(NormalQuantile, IsTheInverse) {
  for (double p : {1e-300, 1e-100, 1e-16, 1e-9, 1e-5, 0.001, 0.0749, 0.0751, 0.2, 0.4, 0.5})
    EXPECT_NEAR(normalPart(normalQuantile(p)) / p, 1, 1e-15 * (4 + std::pow(normalQuantile(p), 2))) << p;
  EXPECT_EQ(normalQuantile(0.5), 0);
  EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-15);
  EXPECT_NEAR(normalQuantile(0.8413447460685429), 1, 1e-15);
  for (double p : {0.25, 0.0625, std::ldexp(1.0, -40)})
    EXPECT_EQ(normalQuantile(1 - p), -normalQuantile(p)) << p;
}

TEST(ElementDrawsTest, Constant) {
  artifact::InitT init = table(InitKind::constant);
  init.value = -1.5;
  EXPECT_THAT(drawn(init, 3000), testing::Each(-1.5));
}

TEST(ElementDrawsTest, Uniform) {
  artifact::InitT init = table(InitKind::uniform);
  init.low = -1;
  init.high = 3;
  std::vector<double> numbers = drawn(init);
  EXPECT_GT(*std::ranges::min_element(numbers), -1);
  EXPECT_LT(*std::ranges::max_element(numbers), 3);
  expectDistribution(numbers, 1, 16.0 / 12, 256.0 / 80, [](double x) { return (x + 1) / 4; });
}

TEST(ElementDrawsTest, Normal) {
  artifact::InitT init = table(InitKind::normal);
  init.mean = 0.5;
  init.std = 0.02;
  double variance = 0.02 * 0.02;
  expectDistribution(drawn(init), 0.5, variance, 3 * variance * variance,
                     [](double x) { return normalPart((x - 0.5) / 0.02); });
}

/// Computes mean, variance and fourth moment from the density by Simpson's rule.
void expectTruncated(double mean, double std, double low, double high) {
  artifact::InitT init = table(InitKind::truncated_normal);
  init.mean = mean;
  init.std = std;
  init.low = low;
  init.high = high;
  constexpr int parts = 20000;
  auto integral = [&](const std::function<double(double)> &of) {
    double sum = 0, width = (high - low) / parts;
    for (int i = 0; i <= parts; ++i) {
      double x = low + i * width, z = (x - mean) / std;
      sum += (i == 0 || i == parts ? 1 : i % 2 ? 4 : 2) * of(x) * std::exp(-0.5 * z * z);
    }
    return sum * width / 3;
  };
  double all = integral([](double) { return 1; }), middle = integral([](double x) { return x; }) / all;
  double variance = integral([&](double x) { return std::pow(x - middle, 2); }) / all;
  double fourth = integral([&](double x) { return std::pow(x - middle, 4); }) / all;
  // Mirrored, so that parts far above the mean keep their precision.
  auto below = [&](double x) { return normalPart((x - mean) / std); };
  auto above = [&](double x) { return normalPart((mean - x) / std); };
  auto part = [&](double x) {
    return low > mean ? (above(low) - above(x)) / (above(low) - above(high))
                      : (below(x) - below(low)) / (below(high) - below(low));
  };
  std::vector<double> numbers = drawn(init);
  EXPECT_GE(*std::ranges::min_element(numbers), low);
  EXPECT_LE(*std::ranges::max_element(numbers), high);
  expectDistribution(numbers, middle, variance, fourth, part);
}

TEST(ElementDrawsTest, TruncatedNormal) {
  expectTruncated(0, 0.02, -0.04, 0.04);
  expectTruncated(1, 2, 0.5, 4);
  expectTruncated(0, 1, 6, 7);
  expectTruncated(0, 1, -7, -6);
}

TEST(ElementDrawsTest, ElementsFollowFromTheirNumber) {
  artifact::InitT init = table(InitKind::normal);
  init.std = 1;
  std::vector<double> whole = drawn(init, 5000);
  for (auto [first, size] : {std::pair<size_t, size_t>{0, 1}, {1, 3}, {1023, 2}, {1500, 2100}, {4999, 1}})
    EXPECT_EQ(drawn(init, size, first), std::vector<double>(whole.begin() + first, whole.begin() + first + size));
  EXPECT_EQ(drawn(init, 8, uint64_t(1) << 40), drawn(init, 8, uint64_t(1) << 40)) << "beyond 32 bits";
  EXPECT_NE(drawn(init, 8, uint64_t(1) << 40), drawn(init, 8));
}

/// Correlations of independent numbers have a standard deviation of 1 / sqrt(n).
TEST(ElementDrawsTest, SeedsAndNamesAndNeighboursAreIndependent) {
  artifact::InitT init = table(InitKind::normal);
  init.std = 1;
  std::vector<double> own = drawn(init);
  auto correlation = [&](const std::vector<double> &other) {
    return std::inner_product(own.begin(), own.end(), other.begin(), 0.0) / count;
  };
  double bound = 5 / std::sqrt(double(count));
  EXPECT_LT(std::abs(correlation(drawn(init, count, 0, 2))), bound);
  EXPECT_LT(std::abs(correlation(drawn(init, count, 0, 1, "v"))), bound);
  EXPECT_LT(std::abs(correlation(drawn(init, count, 1))), bound);
}

} // namespace
