//===- bucket_step.h - a collective of several tensors -----------*- C++ -*-===//
//
// A gather of flat tensors, a reduce-scatter that makes some, or an all-reduce,
// of one tensor or of several in one piece. What one rank sends lies tensor
// after tensor, what ranks send rank after rank. A single tensor is its own
// buffer; several are packed before and unpacked after, unless they lie in one
// piece already, and so do the targets that they land in.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_BUCKET_STEP_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_BUCKET_STEP_H

#include "runtime/exec/steps/start_step.h"

namespace meshplan {

/// `instruction` is a Start of which isBucket is true; it and `group` must outlive the step. `corrupted` where the
/// ranks of the group do not hold the pieces of its tensors.
Expected<std::unique_ptr<StartStep>> prepareBucket(const RankView &view, const artifact::Instruction &instruction,
                                                   Group &group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_BUCKET_STEP_H
