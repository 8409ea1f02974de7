//===- algorithms.h - solvers of scheduling problems ------------*- C++ -*-===//
//
// Free functions from a problem to a solution. Each checks the problem and
// verifies its answer: what it returns is correct, or an error.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_ALGORITHMS_H
#define MESHPLAN_COMPILER_SCHEDULING_ALGORITHMS_H

#include "compiler/scheduling/solution.h"

namespace meshplan::scheduling {

/// Keeps the order of the problem. A collective starts right after the operation that completes what it reads, or at
/// its own place if that is a collective or nothing; one that makes more than it reads starts no earlier than the last
/// but one such collective before it has its place. It is waited for at the first use of its result, or at the end, or
/// if it is blocking where it starts, or, if it is a reduction, as soon as those in flight hold more for themselves
/// than two of the largest. Collectives that must not be in flight together wait for each other. Buffers are freed
/// after their last use.
///
/// Linear in the size of the problem, but for the collectives in flight. Fails if the problem is inconsistent.
llvm::Expected<Solution> programOrder(const Problem &problem);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_ALGORITHMS_H
