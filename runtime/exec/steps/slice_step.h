//===- slice_step.h - slicing a replicated value ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_SLICE_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_SLICE_STEP_H

#include "runtime/exec/rank_view.h"
#include "runtime/exec/steps/step.h"

#include <memory>

namespace meshplan {

/// Makes a view if the slice is one range in each dim, else a copy. `instruction` is a Slice.
Expected<std::unique_ptr<Step>> prepareSlice(const RankView &view, const artifact::Instruction &instruction);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_SLICE_STEP_H
