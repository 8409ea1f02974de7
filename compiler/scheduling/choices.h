//===- choices.h - what a solution may decide besides the order -*- C++ -*-===//
//
// A problem leaves open:
// - the order of computing, where collectives start and where they are waited for: the steps of a solution. How far
//   ahead a gather may start is not a number; it follows from the memory limit, because its result is allocated where
//   it starts. Operation::blocking forbids the choice for one operation.
// - which collectives are merged: Problem::mergeables, and Solution::merged.
//
// A choice is a change of the problem. resolve() makes the problem in which it is decided, and everything else
// (verification, simulation, memory) sees only that one. A choice that is added later has the same three parts: what is
// possible is a list in Problem, what is chosen is a list in Solution, and resolve() applies it. Splitting of a product
// and the collective that depends on it into chunks fits in: the problem lists pairs of such operations with the cost
// of their parts for each number of chunks that is possible, the solution has the number for each pair, and resolve()
// replaces the two operations by two for each chunk, in a chain on each of the two lanes.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_CHOICES_H
#define MESHPLAN_COMPILER_SCHEDULING_CHOICES_H

#include "compiler/scheduling/solution.h"

namespace meshplan::scheduling {

/// A problem without open choices.
struct Resolution {
  Problem problem;
  /// By operation of `problem`: the operations of the original problem that it replaces. A copy has those of the
  /// collective that it copies for.
  std::vector<std::vector<unsigned>> members;
};

/// Merges operations of a checked problem: each list of `merged` becomes one operation. It is asynchronous as they are,
/// with the largest of their latencies, and the sum of their transfers, of which Mergeable::once counts once. It begins
/// when all their inputs are there, and all results are there when it is over. The copies that it needs are operations
/// of the compute lane, and their buffers come after those of the problem. A merged operation has the position of the
/// last of its members; other operations keep their order, except those that depend on one that moved.
///
/// Fails with V10 if a list has fewer than two operations, is not part of one Mergeable, exceeds its limit, shares an
/// operation with another list, or if its operations depend on each other.
llvm::Expected<Resolution> resolve(const Problem &problem, llvm::ArrayRef<std::vector<unsigned>> merged);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_CHOICES_H
