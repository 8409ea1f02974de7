//===- optimizer_call.h - what the optimizer of a schedule does --*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_VERIFY_OPTIMIZER_CALL_H
#define MESHPLAN_RUNTIME_VERIFY_OPTIMIZER_CALL_H

#include "runtime/artifact/artifact.h"
#include "runtime/base/status.h"
#include "runtime/tensor/optimizer.h"

#include <optional>

namespace meshplan {

/// How the gradients of a step are clipped.
struct Clipping {
  int squaredNorm = -1; ///< index into Program.values: the sum of the squares of all gradients
  double limit = 0;
};

/// Nothing when the program does not clip.
std::optional<Clipping> clippingOf(const artifact::Program &program);

/// The call that changes a parameter by a gradient.
struct OptimizerCall {
  OptimizerNumbers numbers; ///< at the first step
  int held = -1;            ///< index into Program.values: the parameter, a part of it, or its master
  int result = -1;          ///< index into Program.values: what `held` becomes
};

/// Nothing when no call does. `unsupported` for an optimizer that LibTorch does not have.
Expected<std::optional<OptimizerCall>> optimizerOf(const artifact::Program &program,
                                                   const artifact::Gradient &gradient);

/// The state that begins as the parameter and is changed in its place; null for none.
const artifact::State *masterOf(const artifact::Program &program, int parameter);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_VERIFY_OPTIMIZER_CALL_H
