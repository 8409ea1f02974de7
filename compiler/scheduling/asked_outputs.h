//===- asked_outputs.h - a program for some of its outputs ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_ASKED_OUTPUTS_H
#define MESHPLAN_COMPILER_SCHEDULING_ASKED_OUTPUTS_H

#include "compiler/scheduling/solution.h"
#include "llvm/ADT/BitVector.h"

namespace meshplan::scheduling {

/// What a rank runs where the caller takes only some of what is kept (runtime/exec/steps/asked_outputs.h): operations
/// that only the others need are left out, and what else of them is made is freed behind its last use. `asked` are
/// buffers. The solution is a verified one; the answer is for profileMemory, and no longer frees only what it has made.
Solution forOutputs(const Problem &problem, const Solution &solution, const llvm::BitVector &asked);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_ASKED_OUTPUTS_H
