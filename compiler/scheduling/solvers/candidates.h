//===- candidates.h - solutions to choose from or start with ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_CANDIDATES_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_CANDIDATES_H

#include "compiler/scheduling/solvers/least_memory.h"
#include "compiler/scheduling/solvers/list_order.h"

namespace meshplan::scheduling {

/// Issues operations in this order, with waits as late as possible. None if that exceeds the memory limit.
std::optional<IssueOrder> walkOrder(const Problem &problem, const CostTable &costs, const DependencyTable &dependencies,
                                    llvm::ArrayRef<unsigned> operations);

/// Correct orders of a checked problem, the fastest first: list scheduling under all rules, and program order if it
/// keeps to the memory limit; if none of these does, the order of leastMemoryOrder without overlap. Fails if
/// leastMemoryOrder does.
llvm::Expected<std::vector<IssueOrder>> listCandidates(const Problem &problem, const CostTable &costs,
                                                       const DependencyTable &dependencies);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_CANDIDATES_H
