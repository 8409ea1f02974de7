//===- program_order.cpp - the order in which the program was written -----===//

#include "compiler/scheduling/algorithms.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;

namespace {
/// Issues the operations of a problem one by one.
class ProgramOrder {
public:
  explicit ProgramOrder(const Problem &problem)
      : problem(problem), producers(problem.producers()), startedBy(problem.operations.size()) {}

  Solution solve();

private:
  void placeStarts();
  void issue(unsigned index);
  void wait(unsigned index);
  void insertFrees();

  const Problem &problem;
  std::vector<std::optional<unsigned>> producers;
  /// Collectives that start right after each operation.
  std::vector<llvm::SmallVector<unsigned, 1>> startedBy;
  std::vector<unsigned> inFlight;
  Solution solution;
};
} // namespace

/// Moves each collective up to the operation that completes what it reads. What permanent buffers feed stays where it
/// is: started at the top, its results would be held for the whole program.
void ProgramOrder::placeStarts() {
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (!operation.isCollective())
      continue;
    std::optional<unsigned> last;
    problem.forEachDependency(operation, producers, [&](unsigned other) { last = std::max(last.value_or(0), other); });
    bool afterCompute = last && !problem.operations[*last].isCollective();
    startedBy[afterCompute ? *last : index].push_back(index);
  }
}

void ProgramOrder::wait(unsigned index) {
  auto found = llvm::find(inFlight, index);
  if (found == inFlight.end())
    return;
  inFlight.erase(found);
  solution.steps.push_back({StepKind::wait, index});
}

void ProgramOrder::issue(unsigned index) {
  const Operation &operation = problem.operations[index];
  problem.forEachDependency(operation, producers, [&](unsigned other) { wait(other); });
  if (!operation.isCollective()) {
    solution.steps.push_back({StepKind::run, index});
    return;
  }
  for (unsigned other : std::vector<unsigned>(inFlight))
    if (inConflict(problem, problem.operations[other], operation))
      wait(other);
  inFlight.push_back(index);
  solution.steps.push_back({StepKind::start, index});
  if (operation.blocking)
    wait(index);
}

/// Frees each buffer after the last step that needs it: a collective needs its buffers until its wait.
void ProgramOrder::insertFrees() {
  std::vector<std::optional<size_t>> lastUse(problem.buffers.size());
  for (auto [position, step] : llvm::enumerate(solution.steps)) {
    const Operation &operation = problem.operations[step.index];
    for (unsigned buffer : operation.consumed)
      lastUse[buffer] = position;
    for (unsigned buffer : operation.produced)
      lastUse[buffer] = position;
  }
  std::vector<llvm::SmallVector<unsigned, 2>> freedAfter(solution.steps.size());
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    if (!buffer.permanent && !buffer.kept && lastUse[index])
      freedAfter[*lastUse[index]].push_back(index);
  std::vector<Step> steps;
  steps.reserve(solution.steps.size() + problem.buffers.size());
  for (auto [step, freed] : llvm::zip_equal(solution.steps, freedAfter)) {
    steps.push_back(step);
    for (unsigned buffer : freed)
      steps.push_back({StepKind::free, buffer});
  }
  solution.steps = std::move(steps);
}

Solution ProgramOrder::solve() {
  placeStarts();
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (!operation.isCollective())
      issue(index);
    for (unsigned collective : startedBy[index])
      issue(collective);
  }
  while (!inFlight.empty())
    wait(inFlight.front());
  insertFrees();
  return std::move(solution);
}

Expected<Solution> meshplan::scheduling::programOrder(const Problem &problem) {
  if (Error error = problem.check())
    return error;
  Solution solution = ProgramOrder(problem).solve();
  if (Error error = verify(problem, solution))
    return error;
  return solution;
}
