//===- megatron.h - the flags of Megatron-LM --------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_H
#define MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_H

#include "compiler/adopt/adopted_plan.h"

namespace meshplan {

/// Reads a command line of pretrain_gpt.py: sizes, sharding over data-parallel ranks, precision, recompute, batch and
/// optimizer, with Megatron's own defaults for absent flags. Styles are not part of a command line. Reports unknown
/// flags, wrong values, and features that the language does not have yet; empty after an error. Pure.
std::optional<AdoptedPlan> adoptMegatron(const SourceBuffer &source, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_H
