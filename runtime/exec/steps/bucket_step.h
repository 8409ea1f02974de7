//===- bucket_step.h - coalesced collectives --------------------*- C++ -*-===//
//
// A coalesced collective: an all-gather of flat tensors, a reduce-scatter into flat tensors, or an all-reduce, of one
// tensor or of several. The buffer of one rank has its tensors one after the other; the buffers of ranks follow in rank
// order. A single tensor is its own buffer. Several tensors are packed before and unpacked after, unless they (or the
// targets that they are received into) are adjacent in memory.
//
// Example: all-gather of flat A (3 elements per rank) and B (2 per rank) over 2 ranks. Rank 0 sends A0 B0, rank 1 sends
// A1 B1. Both receive A0 B0 A1 B1 and unpack it to A = A0 A1 and B = B0 B1.
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
