//===- choice_search.h - what is merged and what is split -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_CHOICE_SEARCH_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_CHOICE_SEARCH_H

#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/solvers/candidates.h"

namespace meshplan::scheduling {

/// Choices, the problem in which they are decided, and orders of that problem.
struct Decision {
  Choices choices;
  Resolution resolution;
  std::vector<IssueOrder> orders; ///< listCandidates(); the fastest first

  int64_t makespan() const { return orders.front().makespan; }
};

/// How much is tried.
enum class ChoiceEffort {
  /// Merges: none, those of `program`, and small collectives in buckets of two sizes, while computing waits. Splits:
  /// none, and those of collectives that computing waits for.
  few,
  /// Also more sizes of buckets, whether each of a few collectives joins the one before, and whether each of a few
  /// splits is left out.
  many,
};

/// The merges of the solver `program`: of each Mergeable that has a limit, members in the order of the problem up to
/// the limit. What would make the problem cyclic is not merged.
std::vector<std::vector<unsigned>> programMerges(const Problem &problem);

/// The fastest choices of those that are tried. Of choices that are equally fast those of `program` are taken, else
/// those that were found first. Fails if no order was found that keeps to the memory limit.
llvm::Expected<Decision> searchChoices(const Problem &problem, ChoiceEffort effort);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_CHOICE_SEARCH_H
