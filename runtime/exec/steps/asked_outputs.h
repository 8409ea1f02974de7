//===- asked_outputs.h - steps for some outputs only ------------*- C++ -*-===//

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

/// The instructions that a rank runs if the caller needs only some outputs (schema/needed_steps.h). All ranks must ask
/// for the same ones, because collectives are left out too. The compiler counts the memory of the same instructions.
struct NeededSteps {
  std::vector<bool> instructions;           ///< by index; false: only other outputs need it
  std::map<size_t, std::vector<int>> freed; ///< by instruction: other outputs whose last use it is
};

/// For a verified program. Instructions that overwrite values are always needed.
NeededSteps stepsFor(const artifact::Program &program, const OutputNames &asked);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_STEPS_ASKED_OUTPUTS_H
