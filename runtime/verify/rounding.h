//===- rounding.h - what a program rounds and its model does not -*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_ROUNDING_H
#define MESHPLAN_RUNTIME_VERIFY_ROUNDING_H

#include "runtime/artifact/artifact.h"
#include "runtime/base/status.h"

namespace meshplan {

/// The bounds of a comparison follow from what PyTorch rounds when it runs the model. `unsupported`, with the option of
/// `precision` that does it, where the program or what a step runs before it rounds more: it keeps a parameter in fewer
/// digits than `reference`, reads one with fewer (`gather`), or adds up gradients in 16 bits (`reduce`).
Status checkRounding(const artifact::Schedule &schedule, const artifact::Program &program,
                     const artifact::Program &reference);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_ROUNDING_H
