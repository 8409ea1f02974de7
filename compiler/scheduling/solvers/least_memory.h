//===- least_memory.h - an order that fits into memory ----------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_LEAST_MEMORY_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_LEAST_MEMORY_H

#include "compiler/scheduling/solvers/walker.h"

namespace meshplan::scheduling {

/// An order that keeps to the memory limit if each operation is over before the next one begins: the order of the
/// problem if it does, else one that a depth-first search finds, which first tries what frees most. Other solvers
/// return to it where they would run out of memory.
///
/// Fails with V9, the limit and the first operation that does not fit: if there is no such order, or if the search ends
/// without an answer after `mostVisited` sets of operations.
llvm::Expected<std::vector<unsigned>> leastMemoryOrder(const Problem &problem, const DependencyTable &dependencies,
                                                       unsigned mostVisited = 20000);

/// Why a problem has no solution within its memory limit: V9, the least limit that has one, and what is held where an
/// order for it holds most. Of large problems the order of the program stands for the least one. Returns `other` if
/// leastMemoryOrder finds an order for the problem.
llvm::Error explainMemory(const Problem &problem, llvm::Error other);

/// As leastMemoryOrder, but the search first tries what is most urgent (the least number). None if it ends without an
/// answer.
std::optional<std::vector<unsigned>> urgentOrder(const Problem &problem, const DependencyTable &dependencies,
                                                 llvm::ArrayRef<int64_t> urgency, unsigned mostVisited = 1000);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_LEAST_MEMORY_H
