//===- estimated_trace.h - the estimated timeline as a trace ----*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TIMING_ESTIMATED_TRACE_H
#define MESHPLAN_COMPILER_TIMING_ESTIMATED_TRACE_H

#include "compiler/timing/step_times.h"

namespace meshplan {

/// The text of the trace of one rank, the one with the most work, in the form of trace_form.h. `machine` names the
/// cluster. Views are operations that take no time.
std::string estimatedTrace(const StepTimes &step, const std::string &machine);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TIMING_ESTIMATED_TRACE_H
