//===- asked_outputs.cpp - a program for some of its outputs --------------===//

#include "compiler/scheduling/asked_outputs.h"
#include "runtime/schema/needed_steps.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;

/// For each operation, whether the asked outputs need it.
static std::vector<bool> neededOperations(const Problem &problem, const llvm::BitVector &asked) {
  std::vector<meshplan::StepUses> uses;
  for (const Operation &operation : problem.operations)
    uses.push_back({{operation.consumed.begin(), operation.consumed.end()},
                    {operation.produced.begin(), operation.produced.end()},
                    !operation.overwritten.empty()});
  std::vector<bool> isRead(asked.size());
  for (unsigned buffer : asked.set_bits())
    isRead[buffer] = true;
  return meshplan::neededSteps(uses, std::move(isRead));
}

Solution meshplan::scheduling::forOutputs(const Problem &problem, const Solution &solution,
                                          const llvm::BitVector &asked) {
  std::vector<bool> needed = neededOperations(problem, asked);
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
