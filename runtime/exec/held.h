//===- held.h - what outlives a run, by name --------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_HELD_H
#define MESHPLAN_RUNTIME_EXEC_HELD_H

#include "runtime/artifact/artifact.h"
#include "runtime/artifact/vector_range.h"

#include <map>
#include <string>

namespace meshplan {

/// Names of the values that outlive a run of a program, by index into Program.values: "parameter w",
/// "state w.exp_avg", "accumulator w.gradient". Programs number their values separately, so a session finds the tensors
/// that they share by these names. A parameter is named by its first name.
inline std::map<int, std::string> heldNames(const artifact::Program &program) {
  std::map<int, std::string> names;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    names[parameter.value()] = "parameter " + parameter.names()->Get(0)->str();
  for (const artifact::State &state : elementsOf(program.states()))
    names[state.value()] = "state " + state.name()->str();
  for (const artifact::Accumulator &accumulator : elementsOf(program.accumulators()))
    names[accumulator.value()] = "accumulator " + accumulator.name()->str();
  return names;
}

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_HELD_H
