//===- overlap.cpp - what computing and communicating cost ----------------===//
//
// Four times, each the median of several rounds: a gather alone, operators alone that take about half as long, both
// together, and two gathers together. Together, the operators end after c seconds, and the gather after c + rest. It
// needs g seconds alone, so that in the c seconds it has done what takes g - rest alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/calibrate/overlap.h"

#include "runtime/calibrate/collective_cases.h"
#include "runtime/calibrate/operator_cases.h"
#include "runtime/comm/gather.h"

#include <algorithm>
#include <chrono>

using namespace meshplan;

using Clock = std::chrono::steady_clock;

static constexpr int rounds = 9;
static constexpr int64_t gatheredBytes = int64_t(1) << 24;

static double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

static double medianOf(std::vector<double> seconds) {
  std::ranges::nth_element(seconds, seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2));
  return seconds[seconds.size() / 2];
}

namespace {
struct Together {
  double compute = 0, rest = 0;
};

class Overlap {
public:
  Overlap(World &world, Group &all, Case product) : world(world), all(all), product(std::move(product)) {}

  Status compute(int repeats) {
    for (int repeat = 0; repeat < repeats; ++repeat)
      MESHPLAN_RETURN_IF_ERROR(product.work());
    return Status();
  }

  template <typename Work> Expected<double> timed(Work work) {
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) {
      MESHPLAN_RETURN_IF_ERROR(waitFor(all.startBarrier()));
      Clock::time_point begin = Clock::now();
      MESHPLAN_RETURN_IF_ERROR(work());
      MESHPLAN_RETURN_IF_ERROR(finishWork(world));
      seconds.push_back(since(begin));
    }
    return medianOf(std::move(seconds));
  }

  Expected<Together> together(GatherOfAll &gather, int repeats) {
    std::vector<double> computes, rests;
    for (int round = 0; round < rounds; ++round) {
      MESHPLAN_RETURN_IF_ERROR(waitFor(all.startBarrier()));
      Clock::time_point begin = Clock::now();
      MESHPLAN_ASSIGN_OR_RETURN(Pending pending, gather.start());
      MESHPLAN_RETURN_IF_ERROR(compute(repeats));
      MESHPLAN_RETURN_IF_ERROR(synchronizeCompute());
      computes.push_back(since(begin));
      MESHPLAN_RETURN_IF_ERROR(pending->wait());
      MESHPLAN_RETURN_IF_ERROR(finishWork(world));
      rests.push_back(since(begin) - computes.back());
    }
    return Together{medianOf(std::move(computes)), medianOf(std::move(rests))};
  }

private:
  World &world;
  Group &all;
  Case product;
};
} // namespace

static double bounded(double factor) { return std::clamp(factor, 1.0, Slowdowns::mostSlowdown); }

Expected<Slowdowns> meshplan::measureSlowdowns(World &world) {
  Slowdowns slowdowns;
  if (world.size() == 1)
    return slowdowns;
  MESHPLAN_ASSIGN_OR_RETURN(auto all, world.host().createWorldGroup("overlap"));
  MESHPLAN_ASSIGN_OR_RETURN(Case product, productCase(DType::f32, {32, 256, 2048}));
  Overlap overlap(world, *all, std::move(product));
  MESHPLAN_ASSIGN_OR_RETURN(GatherOfAll first, GatherOfAll::create(world, "first", gatheredBytes));
  MESHPLAN_ASSIGN_OR_RETURN(GatherOfAll second, GatherOfAll::create(world, "second", gatheredBytes));
  MESHPLAN_RETURN_IF_ERROR(first.run());
  MESHPLAN_RETURN_IF_ERROR(second.run());
  MESHPLAN_ASSIGN_OR_RETURN(double gather, overlap.timed([&] { return first.run(); }));
  MESHPLAN_ASSIGN_OR_RETURN(double both, overlap.timed([&]() -> Status {
    MESHPLAN_ASSIGN_OR_RETURN(Pending one, first.start());
    MESHPLAN_ASSIGN_OR_RETURN(Pending other, second.start());
    MESHPLAN_RETURN_IF_ERROR(one->wait());
    return other->wait();
  }));
  MESHPLAN_ASSIGN_OR_RETURN(double single, overlap.timed([&] { return overlap.compute(1); }));
  std::string text = std::to_string(std::clamp(static_cast<int>(gather / 2 / single), 1, 100'000));
  MESHPLAN_RETURN_IF_ERROR(shareFromFirst(world, text, "the repeats"));
  int repeats = std::stoi(text);
  MESHPLAN_ASSIGN_OR_RETURN(double compute, overlap.timed([&] { return overlap.compute(repeats); }));
  MESHPLAN_ASSIGN_OR_RETURN(Together together, overlap.together(first, repeats));
  slowdowns.concurrent = bounded(both / gather);
  slowdowns.compute = bounded(together.compute / compute);
  double done = gather - together.rest;
  slowdowns.communication = done <= 0 ? Slowdowns::mostSlowdown : bounded(together.compute / done);
  return slowdowns;
}
