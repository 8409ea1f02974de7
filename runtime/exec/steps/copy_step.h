//===- copy_step.h - packing and unpacking for collectives ------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_COPY_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_COPY_STEP_H

#include "runtime/exec/moves/pieces.h"
#include "runtime/exec/steps/step.h"

namespace meshplan {

/// `instruction` is a PackRun, or an UnpackRun, for the collective of these pieces, which the step keeps. `corrupted`
/// for an unpack in place whose pieces do not follow one another.
Expected<std::unique_ptr<Step>> preparePack(const RankView &view, const artifact::Instruction &instruction,
                                            std::shared_ptr<const Pieces> pieces);
Expected<std::unique_ptr<Step>> prepareUnpack(const RankView &view, const artifact::Instruction &instruction,
                                              std::shared_ptr<const Pieces> pieces);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_COPY_STEP_H
