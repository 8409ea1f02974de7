//===- origin.h - origins of instructions -----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_ORIGIN_H
#define MESHPLAN_RUNTIME_EXEC_ORIGIN_H

#include "runtime/schema/schedule_generated.h"

#include <optional>
#include <string>

namespace meshplan {

/// "smollm2.plan:12:5 rowwise tp, module model.layers.0.mlp": what is known of the origin; empty if nothing is.
std::string originText(const artifact::Schedule &schedule, const artifact::Instruction &instruction);

/// "smollm2.plan:12:5 rowwise tp": the statement of an index into Schedule.origins; empty if there is none.
std::string statementText(const artifact::Schedule &schedule, int origin);

/// As originText above for an index into Schedule.origins; empty for -1.
std::string originText(const artifact::Schedule &schedule, int origin);

/// The index of the instruction after which a value exists (for a collective, its wait); nullopt if the program starts
/// with the value.
std::optional<size_t> producingInstruction(const artifact::Program &program, int value);

/// The value that this one has its elements from, through one view, copy, padding, dtype conversion, slice or
/// collective. -1 if an operator computes it, or no instruction makes it.
int sourceOf(const artifact::Program &program, int value);

/// The input that a value has its elements from, through any number of such steps; null if there is none.
const artifact::Port *inputSourceOf(const artifact::Program &program, int value);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_ORIGIN_H
