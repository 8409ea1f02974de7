//===- asked_outputs.cpp - a program for some of its outputs --------------===//

#include "compiler/scheduling/asked_outputs.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;

/// The operations that the asked outputs depend on, and all operations that write in place: their effect is visible
/// after the program.
static llvm::BitVector neededOperations(const Problem &problem, const llvm::BitVector &asked) {
  // Backwards, so that all readers of a buffer are known before its producer is reached.
  llvm::BitVector buffers = asked, operations(problem.operations.size());
  for (size_t index = problem.operations.size(); index-- > 0;) {
    const Operation &operation = problem.operations[index];
    if (operation.overwritten.empty() &&
        llvm::none_of(operation.produced, [&](unsigned each) { return buffers[each]; }))
      continue;
    operations.set(index);
    for (unsigned buffer : operation.consumed)
      buffers.set(buffer);
  }
  return operations;
}

Solution meshplan::scheduling::forOutputs(const Problem &problem, const Solution &solution,
                                          const llvm::BitVector &asked) {
  llvm::BitVector needed = neededOperations(problem, asked);
  std::vector<std::optional<unsigned>> producers = problem.producers();
  auto isMade = [&](unsigned buffer) { return !producers[buffer] || needed[*producers[buffer]]; };
  // The last step that uses each buffer; for a collective this is its wait.
  std::vector<std::optional<size_t>> lastUse(problem.buffers.size());
  Solution left;
  for (Step step : solution.steps) {
    if (step.kind == StepKind::free ? !isMade(step.index) : !needed[step.index])
      continue;
    left.steps.push_back(step);
    if (step.kind == StepKind::free)
      continue;
    const Operation &operation = problem.operations[step.index];
    for (unsigned buffer : llvm::concat<const unsigned>(operation.consumed, operation.produced))
      lastUse[buffer] = left.steps.size() - 1;
  }
  std::vector<llvm::SmallVector<unsigned, 1>> freed(left.steps.size());
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    // An output that is not asked for is a temporary like any other, but the solution has no free for it.
    if (buffer.kept && !asked[index] && lastUse[index])
      freed[*lastUse[index]].push_back(index);
  Solution result;
  for (auto [step, buffers] : llvm::zip_equal(left.steps, freed)) {
    result.steps.push_back(step);
    for (unsigned buffer : buffers)
      result.steps.push_back({StepKind::free, buffer});
  }
  return result;
}
