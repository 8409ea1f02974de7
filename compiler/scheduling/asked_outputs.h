//===- asked_outputs.h - a program for some of its outputs ------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_ASKED_OUTPUTS_H
#define MESHPLAN_COMPILER_SCHEDULING_ASKED_OUTPUTS_H

#include "compiler/scheduling/solution.h"
#include "llvm/ADT/BitVector.h"

namespace meshplan::scheduling {

/// What a rank runs when the caller takes only some of the kept buffers (runtime/exec/steps/asked_outputs.h): the
/// operations that these need (runtime/schema/needed_steps.h). Kept buffers that are still computed but not asked for
/// are freed after their last use. `asked` holds one bit for each buffer. `solution` must be verified. The result is
/// meant for profileMemory; it does not pass verify(), because operations are missing.
Solution forOutputs(const Problem &problem, const Solution &solution, const llvm::BitVector &asked);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_ASKED_OUTPUTS_H
