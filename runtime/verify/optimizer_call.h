//===- optimizer_call.h - the optimizer of a schedule -----------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_OPTIMIZER_CALL_H
#define MESHPLAN_RUNTIME_VERIFY_OPTIMIZER_CALL_H

#include "runtime/artifact/artifact.h"
#include "runtime/base/status.h"
#include "runtime/tensor/optimizer.h"

#include <optional>

namespace meshplan {

/// How the gradients of a step are clipped.
struct Clipping {
  int squaredNorm = -1; ///< index into Program.values: the squared norm of all gradients
  double limit = 0;
};

/// Nullopt if the program does not clip.
std::optional<Clipping> clippingOf(const artifact::Program &program);

/// The call that updates a parameter with a gradient.
struct OptimizerCall {
  OptimizerNumbers numbers; ///< its numbers at the first step
  int held = -1;            ///< index into Program.values: the parameter, a slice of it, or its master weight
  int result = -1;          ///< index into Program.values: the updated `held`
};

/// Nullopt if no call does. `unsupported` for an optimizer that LibTorch lacks.
Expected<std::optional<OptimizerCall>> optimizerOf(const artifact::Program &program,
                                                   const artifact::Gradient &gradient);

/// The state that begins as a copy of the parameter and is updated in place (the master weight); null if there is none.
const artifact::State *masterOf(const artifact::Program &program, int parameter);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_OPTIMIZER_CALL_H
