//===- window_search.h - improves an order part by part ---------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_WINDOW_SEARCH_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_WINDOW_SEARCH_H

#include "compiler/scheduling/solvers/candidates.h"

namespace meshplan::scheduling {

/// How much to search, in orders that are tried. Not in seconds: the answer must not depend on the host.
struct SearchBudget {
  unsigned candidates = 20000; ///< altogether
  unsigned ofWindow = 1500;    ///< in one window of a problem that has several
};

/// Improves an order of a checked problem by iterated local search: moves one operation to another position, keeps the
/// move if the time is less, and when no move helps makes a few random ones from a fixed seed. A problem of up to 64
/// operations is one window. In a larger one, windows are blocks of the order (repeated_blocks.h) that are improved
/// from front to back, by the time at which the next operations of the order are over. Blocks with the same kinds of
/// operations are searched once, and what was found is used on all of them. Subtracts what is tried from `budget`.
/// Returns `order` if nothing faster is found.
IssueOrder improve(const Problem &problem, const CostTable &costs, const DependencyTable &dependencies,
                   IssueOrder order, SearchBudget &budget);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_WINDOW_SEARCH_H
