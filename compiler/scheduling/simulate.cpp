//===- simulate.cpp - how long a solution takes ---------------------------===//

#include "compiler/scheduling/simulate.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;

void meshplan::scheduling::advance(Simulator &simulator, Step step) {
  switch (step.kind) {
  case StepKind::run:
    simulator.run(step.index);
    break;
  case StepKind::start:
    simulator.start(step.index);
    break;
  case StepKind::wait:
    simulator.wait(step.index);
    break;
  case StepKind::free:
    break;
  }
}

Timeline meshplan::scheduling::simulate(const Problem &problem, const Solution &solution) {
  CostTable costs(problem);
  Simulator simulator(costs);
  size_t count = problem.operations.size();
  SimulationRecord record{std::vector<Interval>(count), std::vector<int64_t>(count, 0), std::vector<Interval>(count)};
  simulator.recordInto(record);
  for (Step step : solution.steps)
    advance(simulator, step);
  Timeline timeline{std::move(record.intervals), simulator.now(),         std::vector<int64_t>(problem.lanes.size(), 0),
                    std::move(record.exposed),   std::move(record.waits), std::vector<int64_t>(problem.lanes.size(), 0),
                    record.waitsForHost};
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    timeline.busy[operation.lane] += timeline.operations[index].length();
    timeline.exposedOfLane[operation.lane] += timeline.exposed[index];
  }
  return timeline;
}
