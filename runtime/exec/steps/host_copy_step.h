//===- host_copy_step.h - copies between device and host memory -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_HOST_COPY_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_HOST_COPY_STEP_H

#include "runtime/exec/steps/start_step.h"
#include "runtime/tensor/copy_lane.h"

namespace meshplan {

/// The step of a Copy, which starts it on one of the lanes. `instruction` and `lanes` must outlive it.
std::unique_ptr<StartStep> prepareHostCopy(const RankView &view, const artifact::Instruction &instruction,
                                           CopyLanes &lanes);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_HOST_COPY_STEP_H
