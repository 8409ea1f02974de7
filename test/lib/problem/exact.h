//===- exact.h - the optimum of a small problem -----------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_EXACT_H
#define MESHPLAN_TEST_LIB_PROBLEM_EXACT_H

#include "compiler/scheduling/solution.h"

namespace meshplan::scheduling {

/// The least makespan that any solution without merges has, by branch and bound over runs, starts and waits: every
/// list that keeps rules V1 to V6 and V9 is covered. At each point either an operation is issued or one in flight is
/// waited for. It does not branch where there is nothing to decide: buffers are freed after their last use, and what is
/// over is waited for at once; neither takes time. Shares simulate() and profileMemory() with the compiler and nothing
/// else.
///
/// None if no solution is below `bound` (the makespan of a known one, plus one), or if it takes more than `mostNodes`;
/// `nodes` tells the two apart. Problems have no time to issue.
std::optional<int64_t> exactMakespan(const Problem &problem, int64_t bound, uint64_t mostNodes, uint64_t &nodes);

/// The same by plain enumeration of all lists, without any of the savings; for a handful of operations.
std::optional<int64_t> enumeratedMakespan(const Problem &problem);

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_EXACT_H
