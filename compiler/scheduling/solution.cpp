//===- solution.cpp - names of steps, all rules together ------------------===//

#include "compiler/scheduling/choices.h"
#include "llvm/ADT/Twine.h"

using namespace meshplan::scheduling;
using llvm::Error;

std::string meshplan::scheduling::describe(const Problem &problem, Step step) {
  auto named = [&](const char *verb, const auto &table) {
    std::string name = step.index < table.size() ? table[step.index].name : std::to_string(step.index);
    return (llvm::Twine(verb) + name).str();
  };
  switch (step.kind) {
  case StepKind::run:
    return named("run ", problem.operations);
  case StepKind::start:
    return named("start ", problem.operations);
  case StepKind::wait:
    return named("wait ", problem.operations);
  case StepKind::free:
    return named("free ", problem.buffers);
  }
  return "";
}

Error meshplan::scheduling::verify(const Problem &problem, const Solution &solution) {
  if (!solution.choices.empty()) {
    llvm::Expected<Resolution> resolved = resolve(problem, solution.choices);
    if (!resolved)
      return resolved.takeError();
    return verify(resolved->problem, {solution.steps});
  }
  if (Error error = verifyLifetimes(problem, solution))
    return error;
  return verifyMemory(problem, solution);
}

Error meshplan::scheduling::verify(llvm::ArrayRef<Coordinate> coordinates) {
  for (const Coordinate &coordinate : coordinates)
    // verifyOrder() reads the steps as those of the problem itself.
    if (const Choices &choices = coordinate.solution.choices; !choices.empty())
      return llvm::createStringError(
          "coordinate '" + coordinate.name + "': V10: its list has " + llvm::Twine(choices.merged.size()) +
          " merges and " + llvm::Twine(choices.split.size()) + " splits, must have none: resolve() them first");
    else if (Error error = verify(coordinate.problem, coordinate.solution))
      return llvm::createStringError("coordinate '" + coordinate.name + "': " + llvm::toString(std::move(error)));
  return verifyOrder(coordinates);
}
