//===- list_order.h - list scheduling ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_LIST_ORDER_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_LIST_ORDER_H

#include "compiler/scheduling/solvers/walker.h"

namespace meshplan::scheduling {

/// What is issued first of what may be.
enum class Urgency {
  criticalPath, ///< what is followed by the longest chain of operations, by time
  transfers,    ///< the same, where only asynchronous operations of a chain count: lanes must not be idle
  /// The same as criticalPath, where an asynchronous operation is followed by those of its lane that come later in the
  /// reference: what a lane has left to transfer, in whatever order, cannot take less time.
  lanes,
  reference, ///< what comes first in the order that fits into memory
};

/// How list scheduling chooses.
struct ListRules {
  Urgency urgency = Urgency::criticalPath;
  /// If not 0, lengths of chains are multiplied by random factors of 0.5 to 1.5 from this seed: where many chains are
  /// almost equally long, the longest one is not always the best.
  unsigned disturbance = 0;
  /// Nothing is started whose memory would keep a ready operation of the compute lane from running.
  bool computeFirst = false;
  /// A lane is given the next operation only when it would be idle before the compute lane decides again; else at once.
  bool justInTime = true;
  /// While nothing transfers, an operation that a long transfer waits for is run before more urgent ones, also if the
  /// compute lane has to wait a little for what it needs.
  bool feeds = false;
};

/// An order of issue, its runs, starts and waits, and the time they take.
struct IssueOrder {
  std::vector<unsigned> operations;
  std::vector<Step> steps;
  int64_t makespan = 0;
};

/// A number for each operation; less is more urgent. `reference` is a result of leastMemoryOrder.
std::vector<int64_t> urgenciesOf(const CostTable &costs, const DependencyTable &dependencies,
                                 llvm::ArrayRef<unsigned> reference, ListRules rules);

/// List scheduling: whenever the compute lane is free, starts what its lanes can begin, and runs what is most urgent of
/// what is ready; if nothing is, waits for what is over next. Keeps to the memory limit without dead ends: an operation
/// is issued early only if the rest can still follow `reference`, a result of leastMemoryOrder or urgentOrder.
IssueOrder listOrder(const Problem &problem, const CostTable &costs, const DependencyTable &dependencies,
                     llvm::ArrayRef<unsigned> reference, llvm::ArrayRef<int64_t> urgency, ListRules rules);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_LIST_ORDER_H
