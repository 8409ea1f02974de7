//===- bucket_step.h - coalesced collectives --------------------*- C++ -*-===//
//
// A coalesced collective: an all-gather of flat tensors, a reduce-scatter into flat tensors, or an all-reduce, of one
// tensor or of several. The buffer of one rank has its tensors one after the other; the buffers of ranks follow in rank
// order. packing.h has an example, and decides whether the tensors are copied into and out of buffers.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_BUCKET_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_BUCKET_STEP_H

#include "runtime/exec/steps/start_step.h"

namespace meshplan {

/// `instruction` is a Start for which isBucket is true; it and `group` must outlive the step. `corrupted` if the ranks
/// of the group do not hold the runs of its tensors.
Expected<std::unique_ptr<StartStep>> prepareBucket(const RankView &view, const artifact::Instruction &instruction,
                                                   Group &group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_BUCKET_STEP_H
