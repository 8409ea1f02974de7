//===- blend_test.cpp - which data set gives the next sample --------------===//

#include "runtime/dataset/blend.h"

#include <cmath>
#include <gmock/gmock.h>
#include <numeric>
#include <random>

namespace meshplan {
namespace {

using testing::ElementsAre;

Blend blendOf(std::vector<int64_t> weights) {
  Expected<Blend> blend = Blend::create(std::move(weights));
  EXPECT_TRUE(blend.ok()) << blend.status().message();
  return *std::move(blend);
}

std::vector<size_t> partsOf(const Blend &blend, int64_t count) {
  Blend::Walk walk(blend);
  std::vector<size_t> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(walk.at(i).part);
  return parts;
}

/// The largest difference between a part's number of samples and its share, over all prefixes up to `count`.
double worstDifference(const std::vector<int64_t> &weights, int64_t count) {
  Blend blend = blendOf(weights);
  Blend::Walk walk(blend);
  double total = std::accumulate(weights.begin(), weights.end(), 0.0), worst = 0;
  std::vector<int64_t> counts(weights.size());
  for (int64_t n = 1; n <= count; ++n) {
    Blend::Entry place = walk.at(n - 1);
    EXPECT_EQ(place.turn, counts[place.part]++) << n;
    for (size_t i = 0; i < weights.size(); ++i)
      worst = std::max(worst, std::abs(weights[i] / total * n - counts[i]));
  }
  return worst;
}

TEST(Blend, WorkedOutByHand) {
  // The shares after n samples are 0.7 n and 0.3 n, met within 1/2: each step has one choice, except two in the middle.
  EXPECT_THAT(partsOf(blendOf({7, 3}), 10), ElementsAre(0, 1, 0, 0, testing::_, testing::_, 0, 0, 1, 0));
  EXPECT_THAT(partsOf(blendOf({1, 1}), 6), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(partsOf(blendOf({5}), 3), ElementsAre(0, 0, 0));
}

TEST(Blend, IsAsNearAsASequenceCanBe) {
  std::mt19937 random(1);
  std::vector<std::vector<int64_t>> cases = {
      {7, 3}, {1, 1, 1}, {1, 999'999}, {1, 1, 1, 1, 1, 1, 1, 1, 1000}, {3, 5, 7, 11}};
  for (int i = 0; i < 60; ++i) {
    std::vector<int64_t> weights(2 + random() % 12);
    for (int64_t &weight : weights)
      weight = 1 + random() % (i % 2 ? 20 : 1000);
    cases.push_back(weights);
  }
  for (const std::vector<int64_t> &weights : cases) {
    double parts = double(weights.size());
    EXPECT_LE(worstDifference(weights, 5000), 1 - 1 / (2 * parts - 2) + 1e-9) << testing::PrintToString(weights);
  }
}

TEST(Blend, RepeatsWithThePeriod) {
  Blend blend = blendOf({600'000, 300'000, 100'000});
  EXPECT_EQ(blend.period(), 10);
  std::vector<size_t> parts = partsOf(blend, 30);
  for (size_t i = 10; i < parts.size(); ++i)
    EXPECT_EQ(parts[i], parts[i - 10]);
  EXPECT_EQ(std::ranges::count(parts, size_t(1)), 9);
}

TEST(Blend, AnyPositionIsReachedFromAnyOther) {
  Blend blend = blendOf({5, 2, 6});
  Blend::Walk inOrder(blend);
  std::vector<Blend::Entry> places;
  for (int64_t i = 0; i < 200; ++i)
    places.push_back(inOrder.at(i));
  std::mt19937 random(2);
  Blend::Walk jumping(blend);
  for (int i = 0; i < 500; ++i) {
    int64_t position = random() % places.size();
    ASSERT_EQ(jumping.at(position), places[position]) << position;
    ASSERT_EQ(jumping.at(position), places[position]) << "twice";
  }
}

TEST(Blend, FarPositionsNeedNoWalkFromTheStart) {
  Blend blend = blendOf({2, 1});
  Blend::Walk walk(blend);
  int64_t position = int64_t(3) << 60;
  EXPECT_EQ(walk.at(position), (Blend::Entry{0, int64_t(2) << 60}));
  EXPECT_EQ(walk.at(position + 1).part, 1u);
}

TEST(Blend, LargeWeightsDoNotOverflow) {
  int64_t most = Blend::mostWeight;
  EXPECT_LE(worstDifference({most, most - 1, 1}, 3000), 0.75 + 1e-9);
  std::vector<int64_t> many(Blend::mostParts, most);
  many.front() = most - 1;
  EXPECT_LE(worstDifference(many, 3 * Blend::mostParts), 1);
}

TEST(Blend, RefusesWhatItCannotCount) {
  EXPECT_EQ(Blend::create(std::vector<int64_t>(1025, 1)).status().message(),
            "a blend of 1025 data sets, at most 1024 possible; help: join some of them");
  EXPECT_EQ(Blend::create({(int64_t(1) << 40) + 1, 1}).status().message(),
            "weights whose ratio has more than 1099511627776 parts; help: round the weights");
}

} // namespace
} // namespace meshplan
