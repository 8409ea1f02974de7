//===- overlap_contracts.h - what a timeline must keep to -------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TIMING_OVERLAP_CONTRACTS_H
#define MESHPLAN_COMPILER_TIMING_OVERLAP_CONTRACTS_H

#include "compiler/frontend/bind.h"
#include "compiler/timing/step_times.h"

namespace meshplan {

/// Compares the clauses of `overlap` with the estimated times of a step. Reports each clause that does not hold at its
/// location, with the collective that is exposed longest, its window and what it would need; and a clause about
/// collectives that the step does not have, unless the plan has one rank and so no collectives at all; and a `split` of
/// which nothing can be split, and `halves` where nothing can be hidden. File 0 of the sources is the plan.
void checkOverlap(const BoundPlan &plan, const StepTimes &step, const Cluster &cluster, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TIMING_OVERLAP_CONTRACTS_H
