//===- asked_outputs.h - a program for some of its outputs -------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_STEPS_ASKED_OUTPUTS_H
#define MESHPLAN_RUNTIME_EXEC_STEPS_ASKED_OUTPUTS_H

#include "runtime/artifact/artifact.h"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace meshplan {

/// Names of outputs.
using OutputNames = std::set<std::string, std::less<>>;

/// What a rank runs where the caller takes only some outputs. All ranks ask for the same: collectives are left out too.
/// The compiler plans with it (compiler/scheduling/asked_outputs.h).
struct NeededSteps {
  std::vector<bool> instructions;           ///< by index: what the others need alone is not
  std::map<size_t, std::vector<int>> freed; ///< by instruction: other outputs of which it is the last use
};

/// Of a verified program. What changes a value in its place is needed, whatever is asked for.
NeededSteps stepsFor(const artifact::Program &program, const OutputNames &asked);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_ASKED_OUTPUTS_H
