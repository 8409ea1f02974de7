//===- walker.cpp - issues operations one by one --------------------------===//

#include "compiler/scheduling/solvers/walker.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;

DependencyTable::DependencyTable(const Problem &problem)
    : before(problem.operations.size()), after(problem.operations.size()) {
  auto producers = problem.producers();
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    auto &own = before[index];
    problem.forEachDependency(operation, producers, [&](unsigned other) { own.push_back(other); });
    llvm::sort(own);
    own.erase(llvm::unique(own), own.end());
    for (unsigned other : own)
      after[other].push_back(index);
  }
}

void Walker::wait(unsigned operation) {
  simulator.wait(operation);
  progress[operation] = Progress::over;
  llvm::erase(flying, operation);
  taken.push_back({StepKind::wait, operation});
  memory.end(operation);
}

/// Waits until the operation fits: first for what is over, then for what is over next, of those whose memory is needed.
bool Walker::makeRoom(unsigned operation) {
  while (!memory.fits(operation)) {
    std::optional<std::pair<int64_t, unsigned>> first, firstReleasing;
    for (unsigned other : flying) {
      int64_t left = 0;
      for (unsigned queued : simulator.laneOf(costs.operations[other].lane).queue) {
        left += costs.operations[queued].alone();
        if (queued == other)
          break;
      }
      if (simulator.isOver(other))
        left = 0;
      auto &best = memory.releases(other) ? firstReleasing : first;
      if (!best || left < best->first)
        best = {left, other};
    }
    if (!firstReleasing && !first)
      return false;
    wait((firstReleasing ? firstReleasing : first)->second);
  }
  return true;
}

bool Walker::issue(unsigned operation) {
  for (unsigned other : dependencies.before[operation])
    if (isInFlight(other))
      wait(other);
  if (memory.isLimited() && !makeRoom(operation))
    return false;
  memory.begin(operation);
  if (!costs.operations[operation].isAsynchronous) {
    simulator.run(operation);
    progress[operation] = Progress::over;
    taken.push_back({StepKind::run, operation});
    memory.end(operation);
    return true;
  }
  simulator.start(operation);
  progress[operation] = Progress::inFlight;
  flying.push_back(operation);
  taken.push_back({StepKind::start, operation});
  if (problem.operations[operation].blocking)
    wait(operation);
  return true;
}

bool Walker::finish() {
  while (!flying.empty())
    wait(flying.front());
  return memory.fitsAtEnd();
}

void Walker::undo(const Mark &mark) {
  for (Step step : llvm::reverse(llvm::ArrayRef(taken).drop_front(mark.steps)))
    progress[step.index] = step.kind == StepKind::wait ? Progress::inFlight : Progress::pending;
  taken.resize(mark.steps);
  simulator = mark.simulator;
  memory.undo(mark.memory);
  flying = mark.flying;
}

std::vector<Step> meshplan::scheduling::insertFrees(const Problem &problem, llvm::ArrayRef<Step> steps) {
  std::vector<std::optional<size_t>> lastUse(problem.buffers.size());
  for (auto [position, step] : llvm::enumerate(steps)) {
    const Operation &operation = problem.operations[step.index];
    for (unsigned buffer : llvm::concat<const unsigned>(operation.consumed, operation.produced))
      lastUse[buffer] = position;
  }
  std::vector<llvm::SmallVector<unsigned, 2>> freedAfter(steps.size());
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    if (!buffer.permanent && !buffer.kept && lastUse[index])
      freedAfter[*lastUse[index]].push_back(index);
  std::vector<Step> result;
  result.reserve(steps.size() + problem.buffers.size());
  for (auto [step, freed] : llvm::zip_equal(steps, freedAfter)) {
    result.push_back(step);
    for (unsigned buffer : freed)
      result.push_back({StepKind::free, buffer});
  }
  return result;
}
