//===- solution.h - an order of steps, and whether it is correct *- C++ -*-===//
//
// The solution of a problem: the steps that every rank issues, in order. verify() is independent of the algorithm that
// found it and runs on every solution.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLUTION_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLUTION_H

#include "compiler/scheduling/problem.h"

namespace meshplan::scheduling {

enum class StepKind {
  run,   ///< issues an operation that is not a collective
  start, ///< issues a collective
  wait,  ///< later steps may use the result of a collective and overwrite its input
  free,  ///< frees a buffer after its last use
};

struct Step {
  StepKind kind = StepKind::run;
  unsigned index = 0; ///< an operation, or a buffer for `free`

  bool operator==(const Step &) const = default;
};

struct Solution {
  std::vector<Step> steps;
};

/// A step as messages and the text form write it: "start gather".
std::string describe(const Problem &problem, Step step);

/// Fails, with the rule's label (V1 to V8) and both sides in the message, if the solution of a checked problem is
/// wrong:
/// - V1 an operation runs once, by the steps of its kind; V2 a collective is started once and then waited for once;
/// - V3 an operation begins when everything that it depends on is over;
/// - V4 no buffer is used after it was freed; V5 only live temporaries that nothing in flight uses are freed; V6 every
///   temporary that is not kept is freed;
/// - V7 collectives of one communicator run in the same order on all members: two of them are in flight together only
///   on one stream; V8 the same for two communicators that share more than one rank, whose members could otherwise wait
///   for each other in a cycle.
llvm::Error verify(const Problem &problem, const Solution &solution);

/// Rules V1 to V6; V7 and V8.
llvm::Error verifyLifetimes(const Problem &problem, const Solution &solution);
llvm::Error verifyCollectives(const Problem &problem, const Solution &solution);

/// True if two collectives must not be in flight together: they are on different streams, and their communicators are
/// the same or share more than one rank.
bool inConflict(const Problem &problem, const Operation &first, const Operation &second);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLUTION_H
