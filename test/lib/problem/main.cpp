//===- main.cpp - meshplan-problem ----------------------------------------===//
//
// Solves a scheduling problem in text form, or verifies the steps in the file.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/scheduling/simulate.h"
#include "test/lib/problem/problem_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {
struct Options {
  StringRef schedule = "program", file;
  bool times = false;
};
} // namespace

static Expected<Solution> solveOrVerify(ProblemText &text, StringRef schedule) {
  if (!text.solution) {
    const NamedSolver *solver = findSolver(schedule);
    if (!solver)
      return llvm::createStringError("there is no schedule '" + schedule + "', there are " + namesOfSolvers());
    return solver->solve(text.problem);
  }
  if (Error error = text.problem.check())
    return error;
  if (Error error = verify(text.problem, *text.solution))
    return error;
  return *text.solution;
}

static void printPeaks(const Problem &problem, const Solution &solution) {
  for (auto [rankClass, peak] : llvm::enumerate(profileMemory(problem, solution).peaks)) {
    llvm::outs() << "peak of rank class " << rankClass << ": " << peak.bytes << " bytes";
    if (!solution.steps.empty())
      llvm::outs() << " at " << describe(problem, solution.steps[peak.step]);
    llvm::outs() << '\n';
  }
}

static void printTimes(const Problem &problem, const Solution &solution) {
  Timeline timeline = simulate(problem, solution);
  for (auto [operation, interval, exposed] :
       llvm::zip_equal(problem.operations, timeline.operations, timeline.exposed)) {
    llvm::outs() << operation.name << " on " << problem.lanes[operation.lane].name << ": " << interval.begin << " to "
                 << interval.end;
    if (exposed != 0)
      llvm::outs() << ", exposed " << exposed;
    llvm::outs() << '\n';
  }
  for (auto [lane, busy, exposed] : llvm::zip_equal(problem.lanes, timeline.busy, timeline.exposedOfLane))
    llvm::outs() << "lane " << lane.name << ": busy " << busy << ", exposed " << exposed << '\n';
  llvm::outs() << "waits for the host: " << timeline.waitsForHost << '\n';
  llvm::outs() << "makespan: " << timeline.makespan << '\n';
}

static Error run(const Options &options) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.file);
  if (!buffer)
    return llvm::errorCodeToError(buffer.getError());
  Expected<ProblemText> text = parseProblem((*buffer)->getBuffer());
  if (!text)
    return text.takeError();
  if (!text->coordinates.empty()) {
    for (const Coordinate &coordinate : text->coordinates)
      if (Error error = coordinate.problem.check())
        return error;
    if (Error error = verify(text->coordinates))
      return error;
    llvm::outs() << "the lists of " << text->coordinates.size() << " coordinates are correct\n";
    return Error::success();
  }
  Expected<Solution> solution = solveOrVerify(*text, options.schedule);
  if (!solution)
    return solution.takeError();
  Expected<Resolution> resolved = resolve(text->problem, solution->choices);
  if (!resolved)
    return resolved.takeError();
  solution->choices = {};
  for (Step step : solution->steps)
    llvm::outs() << describe(resolved->problem, step) << '\n';
  printPeaks(resolved->problem, *solution);
  if (options.times)
    printTimes(resolved->problem, *solution);
  return Error::success();
}

int main(int argc, char **argv) {
  Options options;
  llvm::ArrayRef<char *> arguments(argv + 1, argv + argc);
  for (; arguments.size() > 1; arguments = arguments.drop_front())
    if (arguments.front() == StringRef("--times"))
      options.times = true;
    else if (arguments.front() == StringRef("--schedule"))
      options.schedule = (arguments = arguments.drop_front()).front();
    else
      break;
  if (arguments.size() != 1) {
    llvm::errs() << "usage: meshplan-problem [--schedule NAME] [--times] FILE\n";
    return 2;
  }
  options.file = arguments.front();
  if (Error error = run(options)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
