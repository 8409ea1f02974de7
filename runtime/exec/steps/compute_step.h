//===- compute_step.h - running an operator ---------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_COMPUTE_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_COMPUTE_STEP_H

#include "runtime/exec/rank_view.h"
#include "runtime/exec/steps/step.h"

#include <memory>

namespace meshplan {

/// A step that calls an operator and checks that its results have the shapes and dtypes of the schedule. `instruction`
/// is a Compute; the artifact must outlive the step.
Expected<std::unique_ptr<Step>> prepareCompute(const RankView &view, const artifact::Instruction &instruction);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_COMPUTE_STEP_H
