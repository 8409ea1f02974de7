//===- collective_step.h - collectives --------------------------*- C++ -*-===//
//
// Starts and finishes a collective. Communicators move runs of memory: a row-major tensor, or the tensors that a
// PackRun has concatenated; see packing.h.
//
// A max or min that the group does not support is computed here from gathered addends.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H

#include "runtime/exec/moves/pieces.h"
#include "runtime/exec/steps/start_step.h"

namespace meshplan {

/// The pieces of a Start; `group` is that of its communicator. A failure names the collective; see piecesOf.
Expected<std::shared_ptr<const Pieces>> preparePieces(const RankView &view, const artifact::Instruction &instruction,
                                                      const Group &group);

/// The step of a Start. `isCopied` says that a PackRun has copied what it sends. `instruction` and `group` must outlive
/// the step. `corrupted` if pieces do not follow one another in a tensor that is not packed, or is packed in place.
Expected<std::unique_ptr<StartStep>> prepareStart(const RankView &view, const artifact::Instruction &instruction,
                                                  std::shared_ptr<const Pieces> pieces, bool isCopied, Group &group);

/// The step of a Start with counts: an exchange of rows (exchange_step.cpp). `instruction` and `group` must outlive it.
std::unique_ptr<StartStep> makeExchange(const RankView &view, const artifact::Instruction &instruction, Group &group);

/// The step of a Start that gathers features of rows (row_gather_step.cpp). `instruction` and `group` must outlive it.
std::unique_ptr<StartStep> makeRowGather(const RankView &view, const artifact::Instruction &instruction,
                                         const Pieces &pieces, Group &group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_COLLECTIVE_STEP_H
