//===- rounds.cpp - repeated measurements on all ranks --------------------===//
//
// Ranks measure together, since a collective or a shared memory is used by all of them at once. A case is timed between
// barriers, and its time in a round is the mean over the ranks. All cases of a round come before any of them is
// repeated: a machine that is busy for a second then disturbs one round of many cases, and the median over rounds does
// not see it.
//
//===----------------------------------------------------------------------===//

#include "runtime/calibrate/rounds.h"

#include "runtime/comm/gather.h"
#include "runtime/tensor/device.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace meshplan;
using Json = nlohmann::json;

using Clock = std::chrono::steady_clock;

/// Short cases are repeated until they take so long, because the clock and the barriers cost microseconds.
static constexpr double leastSeconds = 2e-3;
static constexpr int mostRepeats = 500, fewestRounds = 3, mostRounds = 15;

Status meshplan::finishWork(World &world) {
  MESHPLAN_RETURN_IF_ERROR(synchronizeCompute());
  return world.synchronize();
}

/// Seconds for one of `repeats` executions on this rank. All ranks begin at the same time.
static Expected<double> timeOf(World &world, Group &all, const Case &each, int repeats) {
  MESHPLAN_RETURN_IF_ERROR(waitFor(all.startBarrier()));
  Clock::time_point begin = Clock::now();
  for (int repeat = 0; repeat < repeats; ++repeat)
    MESHPLAN_RETURN_IF_ERROR(each.work());
  MESHPLAN_RETURN_IF_ERROR(finishWork(world));
  return std::chrono::duration<double>(Clock::now() - begin).count() / repeats;
}

/// How often each case is repeated in a round, and how many rounds there are: decided on rank 0, because collectives
/// need the same numbers on all ranks.
static Json planRounds(std::vector<double> &seconds, double budget) {
  std::vector<int> repeats;
  double round = 0;
  for (double each : seconds) {
    repeats.push_back(std::clamp(static_cast<int>(leastSeconds / std::max(each, 1e-9)), 1, mostRepeats));
    round += each * repeats.back();
  }
  int rounds = std::clamp(static_cast<int>(budget / std::max(round, 1e-9)), fewestRounds, mostRounds);
  return {{"repeats", repeats}, {"rounds", rounds}};
}

static Measurement summary(std::vector<double> rounds) {
  std::ranges::sort(rounds);
  auto at = [&](double share) {
    return rounds[static_cast<size_t>(share * static_cast<double>(rounds.size() - 1) + 0.5)];
  };
  double median = at(0.5);
  return {median, (at(0.75) - at(0.25)) / 2 / median};
}

Expected<std::vector<Measurement>> meshplan::measureCases(World &world, std::vector<Case> &cases,
                                                          double budgetSeconds) {
  MESHPLAN_ASSIGN_OR_RETURN(auto all, world.host().createWorldGroup("world"));
  // The first execution of a case allocates and touches memory; the second one is what decides on repeats.
  std::vector<double> first;
  for (Case &each : cases) {
    MESHPLAN_RETURN_IF_ERROR(timeOf(world, *all, each, 1).status());
    MESHPLAN_ASSIGN_OR_RETURN(double seconds, timeOf(world, *all, each, 1));
    first.push_back(seconds);
  }
  std::string text = planRounds(first, budgetSeconds).dump();
  MESHPLAN_RETURN_IF_ERROR(shareFromFirst(world, text, "the rounds"));
  Json plan = Json::parse(text);
  std::vector<int> repeats = plan["repeats"];
  Json own = Json::array();
  for (int round = 0; round < plan["rounds"]; ++round)
    for (size_t index = 0; index < cases.size(); ++index) {
      MESHPLAN_ASSIGN_OR_RETURN(double seconds, timeOf(world, *all, cases[index], repeats[index]));
      own.push_back(seconds);
    }
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<std::string> texts, gatherAtFirst(world, own.dump()));
  std::vector<Measurement> measurements;
  if (texts.empty())
    return measurements;
  std::vector<double> sums(own.size());
  for (const std::string &each : texts) {
    std::vector<double> seconds = Json::parse(each);
    for (size_t index = 0; index < sums.size(); ++index)
      sums[index] += seconds[index];
  }
  for (size_t index = 0; index < cases.size(); ++index) {
    std::vector<double> rounds;
    for (size_t at = index; at < sums.size(); at += cases.size())
      rounds.push_back(sums[at] / static_cast<double>(texts.size()));
    measurements.push_back(summary(std::move(rounds)));
  }
  return measurements;
}
