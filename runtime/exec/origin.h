//===- origin.h - where an instruction comes from ----------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_ORIGIN_H
#define MESHPLAN_RUNTIME_EXEC_ORIGIN_H

#include "runtime/schema/schedule_generated.h"

#include <optional>
#include <string>

namespace meshplan {

/// "smollm2.plan:12:5 rowwise tp, module model.layers.0.mlp": what is known of
/// it; empty when nothing is.
std::string originText(const artifact::Schedule &schedule, const artifact::Instruction &instruction);

/// The same of an index into Schedule.origins; empty for -1.
std::string originText(const artifact::Schedule &schedule, int origin);

/// The index of the instruction behind which a value is there; nothing for what the program starts with. Of what a
/// collective gives, its wait.
std::optional<size_t> instructionThatMakes(const artifact::Program &program, int value);

/// The value of which this one has elements, as they are or in another type: behind a view, a copy, padding, a slice or
/// a collective. -1 where an operator computes it, or nothing makes it.
int valueBehind(const artifact::Program &program, int value);

/// The input of which a value has elements in that way; null for none.
const artifact::Port *inputBehind(const artifact::Program &program, int value);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_ORIGIN_H
