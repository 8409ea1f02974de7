//===- search.cpp - the solver `search` -----------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/solvers/choice_search.h"
#include "compiler/scheduling/solvers/window_search.h"

using namespace meshplan::scheduling;
using llvm::Expected;

Expected<Solution> meshplan::scheduling::search(const Problem &problem) {
  if (llvm::Error error = problem.check())
    return error;
  Expected<Decision> decision = searchChoices(problem, ChoiceEffort::many);
  if (!decision)
    return decision.takeError();
  const Problem &resolved = decision->resolution.problem;
  CostTable costs(resolved);
  DependencyTable dependencies(resolved);
  SearchBudget budget;
  IssueOrder order = improve(resolved, costs, dependencies, decision->orders.front(), budget);
  Solution solution{insertFrees(resolved, order.steps), std::move(decision->choices)};
  if (llvm::Error error = verify(problem, solution))
    return error;
  return solution;
}
