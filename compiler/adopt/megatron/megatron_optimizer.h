//===- megatron_optimizer.h - batch, optimizer and schedules ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_OPTIMIZER_H
#define MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_OPTIMIZER_H

#include "compiler/adopt/megatron/flag_values.h"

namespace meshplan {

/// Reads the batch sizes into `plan.training`, and with '--lr' the optimizer, its schedule, clipping and the check of
/// gradients, with Megatron's own defaults. Parts that the language defines differently become a note or a warning.
/// Reports wrong values. Pure.
void readMegatronOptimizer(const FlagValues &values, AdoptedPlan &plan);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_ADOPT_MEGATRON_MEGATRON_OPTIMIZER_H
