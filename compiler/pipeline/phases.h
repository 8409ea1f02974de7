//===- phases.h - the phases of the compiler by name ------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_PIPELINE_PHASES_H
#define MESHPLAN_COMPILER_PIPELINE_PHASES_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace meshplan {

/// In the order in which they run. `--emit=NAME` prints the IR after one.
enum class Phase {
  import,        ///< archive and plan become the plan dialect; masks and the loss take a form that can be sharded
  place,         ///< statements become shardings of arguments and layouts at borders
  differentiate, ///< the training step: gradients of the loss
  propagate,     ///< every value gets a sharding
  partition,     ///< reshards become collectives, calls their form on a rank
  group,         ///< units and buckets: which collectives are coalesced, and when they start
  schedule,      ///< streams, start and wait, communicators, lifetimes
};

llvm::StringRef phaseName(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
/// The phase after this one. `phase` must not be the last.
Phase nextPhase(Phase phase);
/// Names of all phases, in order, for messages.
llvm::StringRef phaseNames();

} // namespace meshplan

#endif // MESHPLAN_COMPILER_PIPELINE_PHASES_H
