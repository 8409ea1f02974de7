//===- verify_collectives.cpp - rules V7 and V8 of a solution -------------===//
//
// All ranks issue the same list, so collectives of one stream run in one order everywhere. Two streams run
// concurrently: their collectives may run in either order, and in different orders on different ranks. If both need the
// same peers, the ranks would wait for each other forever.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/solution.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Twine;

bool meshplan::scheduling::inConflict(const Problem &problem, const Operation &first, const Operation &second) {
  if (first.stream == second.stream)
    return false;
  return first.communicator == second.communicator ||
         problem.communicators[*first.communicator].overlaps(problem.communicators[*second.communicator]);
}

static Error conflict(const Problem &problem, const Operation &first, const Operation &second) {
  bool same = first.communicator == second.communicator;
  const std::string &one = problem.communicators[*first.communicator].name;
  const std::string &other = problem.communicators[*second.communicator].name;
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      Twine(same ? "V7" : "V8") + ": '" + first.name + "' and '" + second.name +
          "' are in flight together on streams '" + problem.streams[first.stream] + "' and '" +
          problem.streams[second.stream] + "', " +
          (same ? "both on communicator '" + one + "'"
                : "and communicators '" + one + "' and '" + other + "' share more than one rank"));
}

Error meshplan::scheduling::verifyCollectives(const Problem &problem, const Solution &solution) {
  llvm::SmallVector<unsigned> inFlight;
  for (Step step : solution.steps) {
    if (step.kind == StepKind::wait)
      llvm::erase(inFlight, step.index);
    if (step.kind != StepKind::start)
      continue;
    const Operation &started = problem.operations[step.index];
    for (unsigned other : inFlight)
      if (inConflict(problem, problem.operations[other], started))
        return conflict(problem, problem.operations[other], started);
    inFlight.push_back(step.index);
  }
  return Error::success();
}
