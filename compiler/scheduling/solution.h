//===- solution.h - an order of steps, and whether it is correct *- C++ -*-===//
//
// The solution of a problem: the steps that every rank issues, in order. verify() is independent of the algorithm that
// found it and runs on every solution.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLUTION_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLUTION_H

#include "compiler/scheduling/problem.h"
#include "llvm/ADT/ArrayRef.h"

namespace meshplan::scheduling {

enum class StepKind {
  run,   ///< issues an operation of the compute lane
  start, ///< issues an operation of another lane
  wait,  ///< later steps may use the result of a started operation and overwrite its input
  free,  ///< frees a buffer after its last use
};

struct Step {
  StepKind kind = StepKind::run;
  unsigned index = 0; ///< an operation, or a buffer for `free`

  bool operator==(const Step &) const = default;
};

/// What is decided besides the order.
struct Choices {
  /// Operations of the problem that become one each: members of one Mergeable.
  std::vector<std::vector<unsigned>> merged;
  /// What is split into parts: indices into Problem::splittables, ascending.
  std::vector<unsigned> split;

  bool operator==(const Choices &) const = default;
  bool empty() const { return merged.empty() && split.empty(); }
};

struct Solution {
  /// Name operations of the problem that resolve() (choices.h) makes of `choices`: the problem itself if it is empty.
  std::vector<Step> steps;
  Choices choices;
};

/// A step as messages and the text form write it: "start gather".
std::string describe(const Problem &problem, Step step);

/// Fails if the solution of a checked problem is wrong. The message has the rule's label (V1 to V6, V9 to V11) and what
/// is required:
/// - V1 an operation runs once, by the steps of its kind; V2 an asynchronous one is started once and then waited for
///   once, a blocking one before anything else is issued;
/// - V3 an operation begins when everything that it depends on is over;
/// - V4 no buffer is used after it was freed; V5 only live temporaries that nothing in flight uses are freed; V6 every
///   temporary that is not kept is freed;
/// - V9 the memory limit holds;
/// - V10 what is merged may be; V11 what is split may be.
llvm::Error verify(const Problem &problem, const Solution &solution);

/// A pipeline coordinate: the list that all its ranks issue.
struct Coordinate {
  std::string name;
  Problem problem;
  Solution solution;
};

/// The rules above for each coordinate, whose solutions have no choices, and that no backend can deadlock:
/// - V7 each instance is issued once by every coordinate that takes part in it, and these agree on who does;
/// - V8 the order in which all lists issue instances is acyclic.
///
/// V8 is sufficient. Take an order that all lists agree with, and in it the first instance that is not over. All that
/// its coordinates issue before it is over, so no wait holds them, and no lane is occupied: it begins everywhere and
/// ends. This needs a backend that begins the operations of a lane in the order of issue, and in which an operation
/// does not stop earlier ones from making progress: `threads`, `mpi`, and NCCL with NCCL_LAUNCH_ORDER_IMPLICIT.
/// Ranks of one coordinate issue one list, so collectives between them cannot make a cycle. The size of the proof is
/// coordinates times instances, whatever the number of ranks.
llvm::Error verify(llvm::ArrayRef<Coordinate> coordinates);

/// Parts of verify(): rules V1 to V6; V7 and V8; V9. The solutions have no choices.
llvm::Error verifyLifetimes(const Problem &problem, const Solution &solution);
llvm::Error verifyOrder(llvm::ArrayRef<Coordinate> coordinates);
llvm::Error verifyMemory(const Problem &problem, const Solution &solution);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLUTION_H
