//===- overlap.cpp - what computing and communicating cost ----------------===//
//
// Four times in each of several rounds, so that a change of the machine's load affects all: a gather alone, operators
// alone that take about half as long, both together, and two gathers together. Together, the operators end after c
// seconds, and the gather after c + rest. It needs g seconds alone, so that in the c seconds it has done what takes
// g - rest alone.
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

static double medianOf(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
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
    MESHPLAN_RETURN_IF_ERROR(waitFor(all.startBarrier()));
    Clock::time_point begin = Clock::now();
    MESHPLAN_RETURN_IF_ERROR(work());
    MESHPLAN_RETURN_IF_ERROR(finishWork(world));
    return since(begin);
  }

  Expected<Together> together(GatherOfAll &gather, int repeats) {
    MESHPLAN_RETURN_IF_ERROR(waitFor(all.startBarrier()));
    Clock::time_point begin = Clock::now();
    MESHPLAN_ASSIGN_OR_RETURN(Pending pending, gather.start());
    MESHPLAN_RETURN_IF_ERROR(compute(repeats));
    MESHPLAN_RETURN_IF_ERROR(synchronizeCompute());
    double computed = since(begin);
    MESHPLAN_RETURN_IF_ERROR(pending->wait());
    MESHPLAN_RETURN_IF_ERROR(finishWork(world));
    return Together{computed, since(begin) - computed};
  }

  Expected<OverlapTimes> round(GatherOfAll &first, GatherOfAll &second, int repeats) {
    OverlapTimes times;
    MESHPLAN_ASSIGN_OR_RETURN(times.gather, timed([&] { return first.run(); }));
    MESHPLAN_ASSIGN_OR_RETURN(times.compute, timed([&] { return compute(repeats); }));
    MESHPLAN_ASSIGN_OR_RETURN(Together both, together(first, repeats));
    times.computeBesideGather = both.compute;
    times.rest = both.rest;
    MESHPLAN_ASSIGN_OR_RETURN(times.twoGathers, timed([&]() -> Status {
                                MESHPLAN_ASSIGN_OR_RETURN(Pending one, first.start());
                                MESHPLAN_ASSIGN_OR_RETURN(Pending other, second.start());
                                MESHPLAN_RETURN_IF_ERROR(one->wait());
                                return other->wait();
                              }));
    return times;
  }

private:
  World &world;
  Group &all;
  Case product;
};
} // namespace

static double bounded(double factor) { return std::clamp(factor, 1.0, cluster_keys::mostSlowdown); }

Slowdowns meshplan::slowdownsOf(std::span<const OverlapTimes> rounds) {
  std::vector<double> concurrent, compute, progress;
  for (const OverlapTimes &each : rounds) {
    concurrent.push_back(each.twoGathers / each.gather);
    compute.push_back(each.computeBesideGather / each.compute);
    progress.push_back((each.gather - each.rest) / each.computeBesideGather);
  }
  Slowdowns slowdowns;
  slowdowns.concurrent = bounded(medianOf(std::move(concurrent)));
  double done = medianOf(std::move(progress));
  slowdowns.communication = done <= 0 ? cluster_keys::mostSlowdown : bounded(1 / done);
  // Operators lose at most the time that the gather would have taken alone for what it has done meanwhile. What is
  // measured beyond it is other load of the machine.
  double most = done >= 1 ? cluster_keys::mostSlowdown : 1 / (1 - std::max(done, 0.0));
  slowdowns.compute = std::min(bounded(medianOf(std::move(compute))), bounded(most));
  return slowdowns;
}

Expected<Slowdowns> meshplan::measureSlowdowns(World &world) {
  if (world.size() == 1)
    return Slowdowns();
  MESHPLAN_ASSIGN_OR_RETURN(auto all, world.host().createWorldGroup("overlap"));
  MESHPLAN_ASSIGN_OR_RETURN(Case product, productCase(DType::f32, {32, 256, 2048}));
  Overlap overlap(world, *all, std::move(product));
  MESHPLAN_ASSIGN_OR_RETURN(GatherOfAll first, GatherOfAll::create(world, "first", gatheredBytes));
  MESHPLAN_ASSIGN_OR_RETURN(GatherOfAll second, GatherOfAll::create(world, "second", gatheredBytes));
  MESHPLAN_RETURN_IF_ERROR(first.run());
  MESHPLAN_RETURN_IF_ERROR(second.run());
  MESHPLAN_RETURN_IF_ERROR(overlap.compute(1));
  MESHPLAN_ASSIGN_OR_RETURN(double gather, overlap.timed([&] { return first.run(); }));
  MESHPLAN_ASSIGN_OR_RETURN(double single, overlap.timed([&] { return overlap.compute(1); }));
  std::string text = std::to_string(std::clamp(static_cast<int>(gather / 2 / single), 1, 100'000));
  MESHPLAN_RETURN_IF_ERROR(shareFromFirst(world, text, "the repeats"));
  std::vector<OverlapTimes> measured;
  for (int round = 0; round < rounds; ++round) {
    MESHPLAN_ASSIGN_OR_RETURN(OverlapTimes times, overlap.round(first, second, std::stoi(text)));
    measured.push_back(times);
  }
  return slowdownsOf(measured);
}
