//===- main.cpp - meshplan-problem ----------------------------------------===//
//
// Solves a scheduling problem in text form, or verifies the steps in the file.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/memory_profile.h"
#include "test/lib/problem/problem_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;

static Expected<Solution> solveOrVerify(ProblemText &text) {
  if (!text.solution)
    return programOrder(text.problem);
  if (Error error = text.problem.check())
    return error;
  if (Error error = verify(text.problem, *text.solution))
    return error;
  return *text.solution;
}

static Error run(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file);
  if (!buffer)
    return llvm::errorCodeToError(buffer.getError());
  Expected<ProblemText> text = parseProblem((*buffer)->getBuffer());
  if (!text)
    return text.takeError();
  Expected<Solution> solution = solveOrVerify(*text);
  if (!solution)
    return solution.takeError();
  for (Step step : solution->steps)
    llvm::outs() << describe(text->problem, step) << '\n';
  for (auto [rankClass, peak] : llvm::enumerate(profileMemory(text->problem, *solution).peaks)) {
    llvm::outs() << "peak of rank class " << rankClass << ": " << peak.bytes << " bytes";
    if (!solution->steps.empty())
      llvm::outs() << " at " << describe(text->problem, solution->steps[peak.step]);
    llvm::outs() << '\n';
  }
  return Error::success();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: meshplan-problem FILE\n";
    return 2;
  }
  if (Error error = run(argv[1])) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
