//===- megatron.h - the flags of Megatron-LM --------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_H
#define MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_H

#include "compiler/adopt/adopted_plan.h"

namespace meshplan {

/// Reads a command line of pretrain_gpt.py: sizes, what data-parallel ranks share, precision, recomputation, batch and
/// optimizer, with Megatron's own defaults where a flag is left out. Styles are not said there. Reports unknown flags,
/// wrong values, and what plans do not have yet; empty after an error. Pure.
std::optional<AdoptedPlan> adoptMegatron(const SourceBuffer &source, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_H
