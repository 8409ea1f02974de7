//===- search.cpp - the solver `search` -----------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/solvers/merge_search.h"
#include "compiler/scheduling/solvers/window_search.h"

using namespace meshplan::scheduling;
using llvm::Expected;

Expected<Solution> meshplan::scheduling::search(const Problem &problem) {
  if (llvm::Error error = problem.check())
    return error;
  Expected<Merged> merged = searchMerges(problem, MergeEffort::many);
  if (!merged)
    return merged.takeError();
  const Problem &resolved = merged->resolution.problem;
  CostTable costs(resolved);
  DependencyTable dependencies(resolved);
  SearchBudget budget;
  IssueOrder order = improve(resolved, costs, dependencies, merged->orders.front(), budget);
  Solution solution{insertFrees(resolved, order.steps), merged->lists};
  if (llvm::Error error = verify(problem, solution))
    return error;
  return solution;
}
