//===- verify_memory.cpp - rule V9 of a solution --------------------------===//

#include "compiler/scheduling/memory_profile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace meshplan::scheduling;
using llvm::Twine;

llvm::Error meshplan::scheduling::verifyMemory(const Problem &problem, const Solution &solution) {
  if (problem.memoryLimit.empty())
    return llvm::Error::success();
  MemoryProfile profile = profileMemory(problem, solution);
  for (auto [rankClass, peak] : llvm::enumerate(profile.peaks)) {
    if (peak.bytes <= problem.memoryLimit[rankClass])
      continue;
    std::string step = solution.steps.empty() ? "" : " at step '" + describe(problem, solution.steps[peak.step]) + "'";
    return llvm::createStringError("V9: a rank of class " + Twine(rankClass) + " holds " + Twine(peak.bytes) +
                                   " bytes" + step + ", the limit is " + Twine(problem.memoryLimit[rankClass]) + ": " +
                                   describeHeld(problem, solution, rankClass));
  }
  return llvm::Error::success();
}
