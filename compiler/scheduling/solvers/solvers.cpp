//===- solvers.cpp - solvers by name --------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;

static constexpr NamedSolver allSolvers[] = {{"program", programOrder}, {"list", list}, {"search", search}};

llvm::ArrayRef<NamedSolver> meshplan::scheduling::solvers() { return allSolvers; }

const NamedSolver *meshplan::scheduling::findSolver(llvm::StringRef name) {
  const NamedSolver *found = llvm::find_if(allSolvers, [&](const NamedSolver &solver) { return solver.name == name; });
  return found == std::end(allSolvers) ? nullptr : found;
}

std::string meshplan::scheduling::namesOfSolvers() {
  std::string names;
  for (const NamedSolver &solver : allSolvers) {
    if (&solver != std::begin(allSolvers))
      names += &solver == std::end(allSolvers) - 1 ? " and " : ", ";
    names += ("'" + solver.name + "'").str();
  }
  return names;
}
