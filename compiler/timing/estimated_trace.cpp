//===- estimated_trace.cpp - the estimated timeline as a trace ------------===//

#include "compiler/timing/estimated_trace.h"

#include <deque>

using namespace meshplan;
using trace_form::Event;

std::string meshplan::estimatedTrace(const StepTimes &step, const std::string &machine) {
  std::vector<Event> events;
  std::deque<trace_form::Label> waits; // events refer to labels, which must not move
  for (const ProgramRun &run : step.runs)
    for (const TimedOperation &operation : run.program->operations) {
      events.push_back(
          {&operation.label, run.microbatch, run.begin + operation.time.begin, run.begin + operation.time.end});
      if (operation.wait.length() == 0)
        continue;
      trace_form::Label wait = operation.label;
      wait.isWait = true;
      waits.push_back(std::move(wait));
      events.push_back(
          {&waits.back(), run.microbatch, run.begin + operation.wait.begin, run.begin + operation.wait.end});
    }
  return trace_form::textOf({.isEstimated = true, .machine = machine}, {&events, 1});
}
