//===- choices.h - what a solution may decide besides the order -*- C++ -*-===//
//
// A problem leaves open:
// - the order of computing, where collectives start and where they are waited for: the steps of a solution. How far
//   ahead a gather may start is not a number; it follows from the memory limit, because its result is allocated where
//   it starts. Operation::blocking forbids the choice for one operation.
// - which collectives are merged: Problem::mergeables, and Choices::merged.
// - which products and collectives are split into parts, and into how many: Problem::splittables, and Choices::split.
//
// A choice is a change of the problem. resolve() makes the problem in which it is decided, and everything else
// (verification, simulation, memory) sees only that one. A choice that is added later has the same three parts: what is
// possible is a list in Problem, what is chosen is a list in Choices, and resolve() applies it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_CHOICES_H
#define MESHPLAN_COMPILER_SCHEDULING_CHOICES_H

#include "compiler/scheduling/solution.h"

namespace meshplan::scheduling {

/// What an operation that comes of a split does for the operation of the original problem.
struct SplitPart {
  unsigned splittable = 0; ///< index into Problem::splittables
  unsigned member = 0;     ///< index into Splittable::members
  /// From 0; none for the operation that joins all parts.
  std::optional<unsigned> part;

  bool operator==(const SplitPart &) const = default;
};

/// A problem without open choices.
struct Resolution {
  Problem problem;
  /// By operation of `problem`: the operations of the original problem that it replaces. A copy has those of the
  /// collective that it copies for. A part has the operation that is split, and so has the one that joins the parts.
  std::vector<std::vector<unsigned>> members;
  /// By operation of `problem`; none if it replaces whole operations.
  std::vector<std::optional<SplitPart>> splits;
};

/// Merges operations of a checked problem: each list of `merged` becomes one operation. It is asynchronous as they are,
/// with the largest of their latencies, and the sum of their transfers, of which Mergeable::once counts once. It begins
/// when all their inputs are there, and all results are there when it is over. The copies that it needs are operations
/// of the compute lane, and their buffers come after those of the problem. A merged operation has the position of the
/// last of its members; other operations keep their order, except those that depend on one that moved.
///
/// Then splits: each member of a Splittable becomes its parts, at its position. A part reads that part of the results
/// of other members, a view of its rows of SplitMember::rows, and all else that its operation reads. Where an operation
/// outside reads a result, or the caller does, the last part is followed by an operation that joins them, and that
/// produces the buffer of the original problem. Otherwise the first part produces it, with the size of a part. Buffers
/// of other parts, and views, come last.
///
/// Fails with V10 if a list has fewer than two operations, is not part of one Mergeable, exceeds its limit, shares an
/// operation with another list, or if its operations depend on each other. Fails with V11 if a split does not exist, or
/// shares an operation with another split or with a merge.
llvm::Expected<Resolution> resolve(const Problem &problem, const Choices &choices);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_CHOICES_H
