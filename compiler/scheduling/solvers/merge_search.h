//===- merge_search.h - which collectives are merged ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_MERGE_SEARCH_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_MERGE_SEARCH_H

#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/solvers/candidates.h"

namespace meshplan::scheduling {

/// One way to merge, the problem in which it is decided, and orders of that problem.
struct Merged {
  std::vector<std::vector<unsigned>> lists;
  Resolution resolution;
  std::vector<IssueOrder> orders; ///< listCandidates(); the fastest first

  int64_t makespan() const { return orders.front().makespan; }
};

/// How much is tried.
enum class MergeEffort {
  few,  ///< none, those of `program`, and small collectives in buckets of two sizes, while computing waits
  many, ///< also more sizes, and, where few collectives may be merged, whether each of them joins the one before
};

/// The merges of the solver `program`: of each Mergeable that has a limit, members in the order of the problem up to
/// the limit. What would make the problem cyclic is not merged.
std::vector<std::vector<unsigned>> programMerges(const Problem &problem);

/// The fastest way to merge of those that are tried. Of ways that are equally fast the one of `program` is taken, else
/// the one that was found first. Fails if no order was found that keeps to the memory limit.
llvm::Expected<Merged> searchMerges(const Problem &problem, MergeEffort effort);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_MERGE_SEARCH_H
