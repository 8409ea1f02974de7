//===- instruction_uses.h - what an instruction reads and makes -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_ARTIFACT_INSTRUCTION_USES_H
#define MESHPLAN_RUNTIME_ARTIFACT_INSTRUCTION_USES_H

#include "runtime/schema/needed_steps.h"
#include "runtime/schema/schedule_generated.h"

namespace meshplan {

/// The values of an instruction, as indices into Program.values. What is written in place of a value reads it. Nothing
/// for a wait, whose values belong to its start, and for a free. The instruction need not be verified: the indices may
/// not exist, but none is negative.
StepUses usesOf(const artifact::Instruction &instruction);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_ARTIFACT_INSTRUCTION_USES_H
