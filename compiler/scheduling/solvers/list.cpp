//===- list.cpp - the solver `list` ---------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/simulate.h"
#include "compiler/scheduling/solvers/choice_search.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;
using llvm::Expected;

std::optional<IssueOrder> meshplan::scheduling::walkOrder(const Problem &problem, const CostTable &costs,
                                                          const DependencyTable &dependencies,
                                                          llvm::ArrayRef<unsigned> operations) {
  Walker walker(problem, costs, dependencies);
  for (unsigned operation : operations)
    if (!walker.issue(operation))
      return std::nullopt;
  if (!walker.finish())
    return std::nullopt;
  return IssueOrder{operations.vec(), walker.steps().vec(), walker.now()};
}

/// The order in which a solution issues operations.
static IssueOrder orderOf(const Problem &problem, const Solution &solution) {
  IssueOrder order;
  for (Step step : solution.steps) {
    if (step.kind != StepKind::free)
      order.steps.push_back(step);
    if (step.kind == StepKind::run || step.kind == StepKind::start)
      order.operations.push_back(step.index);
  }
  order.makespan = simulate(problem, solution).makespan;
  return order;
}

static bool isSmall(const Problem &problem) { return problem.operations.size() <= 64; }

/// The rules that are tried: all on a small problem, with disturbances; the most useful ones on a large one, where each
/// costs time.
static std::vector<ListRules> rulesFor(const Problem &problem) {
  static constexpr unsigned disturbances = 96;
  bool triesAll = isSmall(problem), isLimited = !problem.memoryLimit.empty();
  std::vector<ListRules> all;
  // Of orders that take the same time the one that is closest to the program is chosen.
  for (Urgency urgency : {Urgency::reference, Urgency::criticalPath, Urgency::lanes, Urgency::transfers})
    for (bool justInTime : {true, false})
      for (bool computeFirst : {false, true})
        if ((triesAll || (justInTime && urgency != Urgency::transfers && computeFirst == isLimited)) &&
            (!computeFirst || isLimited))
          for (bool feeds : {false, true})
            if (!feeds || urgency != Urgency::transfers)
              all.push_back({urgency, 0, computeFirst, justInTime, feeds});
  for (unsigned seed = 1; triesAll && seed <= disturbances; ++seed)
    all.push_back(
        {seed % 8 < 6 ? Urgency::criticalPath : Urgency::transfers, seed, seed % 2 == 0 && isLimited, seed % 4 < 2});
  return all;
}

Expected<std::vector<IssueOrder>> meshplan::scheduling::listCandidates(const Problem &problem, const CostTable &costs,
                                                                       const DependencyTable &dependencies) {
  std::vector<IssueOrder> candidates;
  if (Expected<Solution> program = programOrder(problem))
    candidates.push_back(orderOf(problem, *program));
  else // it may exceed the memory limit
    llvm::consumeError(program.takeError());
  bool overlaps = llvm::any_of(costs.operations, [](const Cost &cost) { return cost.isAsynchronous; });
  if (!overlaps && !candidates.empty())
    return candidates; // any order takes the same time
  // Where program order keeps to the limit, it does so too if each operation is over before the next one begins.
  Expected<std::vector<unsigned>> reference = candidates.empty()
                                                  ? leastMemoryOrder(problem, dependencies)
                                                  : Expected<std::vector<unsigned>>(candidates.front().operations);
  if (!reference)
    return reference.takeError();
  for (ListRules rules : rulesFor(problem)) {
    std::vector<int64_t> urgency = urgenciesOf(costs, dependencies, *reference, rules);
    // Under a limit, an order that fits and is close to the urgencies holds them back less.
    std::optional<std::vector<unsigned>> urgent;
    if (isSmall(problem) && !problem.memoryLimit.empty())
      urgent = urgentOrder(problem, dependencies, urgency);
    IssueOrder order = listOrder(problem, costs, dependencies, urgent ? *urgent : *reference, urgency, rules);
    // Waits that come later hold a rank up less where it is slower than the estimate.
    if (std::optional<IssueOrder> late = walkOrder(problem, costs, dependencies, order.operations))
      if (late->makespan <= order.makespan)
        order = std::move(*late);
    candidates.push_back(std::move(order));
  }
  llvm::erase_if(candidates, [&](const IssueOrder &order) {
    llvm::Error error = verify(problem, {insertFrees(problem, order.steps)});
    bool isWrong = static_cast<bool>(error);
    llvm::consumeError(std::move(error));
    return isWrong;
  });
  if (candidates.empty()) {
    // The reference waits for each operation before it begins the next one, which a walker does not.
    IssueOrder order{*reference, {}, 0};
    for (unsigned operation : *reference)
      if (costs.operations[operation].isAsynchronous)
        order.steps.insert(order.steps.end(), {{StepKind::start, operation}, {StepKind::wait, operation}});
      else
        order.steps.push_back({StepKind::run, operation});
    candidates.push_back(orderOf(problem, {order.steps}));
  }
  llvm::stable_sort(candidates,
                    [](const IssueOrder &one, const IssueOrder &other) { return one.makespan < other.makespan; });
  return candidates;
}

Expected<Solution> meshplan::scheduling::list(const Problem &problem) {
  if (llvm::Error error = problem.check())
    return error;
  Expected<Decision> decision = searchChoices(problem, ChoiceEffort::few);
  if (!decision)
    return decision.takeError();
  Solution solution{insertFrees(decision->resolution.problem, decision->orders.front().steps),
                    std::move(decision->choices)};
  if (llvm::Error error = verify(problem, solution))
    return error;
  return solution;
}
