//===- rounding.h - programs that round more than the model -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_ROUNDING_H
#define MESHPLAN_RUNTIME_VERIFY_ROUNDING_H

#include "runtime/artifact/artifact.h"
#include "runtime/base/status.h"

namespace meshplan {

/// The error bounds of verify assume that the program rounds no more than PyTorch does for the model. `unsupported`,
/// with the option of `precision` that causes it, if the program, or one that runs before it, rounds more: it stores a
/// parameter in fewer bits than `reference` (`storage`), reads one with fewer bits (`gather`), or accumulates gradients
/// in 16 bits (`reduce`).
Status checkRounding(const artifact::Schedule &schedule, const artifact::Program &program,
                     const artifact::Program &reference);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_ROUNDING_H
