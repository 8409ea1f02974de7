//===- trace.h - when each instruction ran ----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_TRACE_H
#define MESHPLAN_RUNTIME_EXEC_TRACE_H

#include "runtime/base/status.h"
#include "runtime/schema/trace_form.h"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace meshplan {

/// The operations that one rank ran, with times. Belongs to the thread of its rank; its text is sent to the rank that
/// writes all traces.
class Trace {
public:
  using Clock = std::chrono::steady_clock;

  /// `invalid` unless it is the text of a trace.
  static Expected<Trace> fromText(const std::string &text);
  std::string text() const;

  void add(trace_form::Label label, int64_t microbatch, Clock::time_point begin, Clock::time_point end) {
    events.push_back({std::move(label), microbatch, begin, end});
  }

  /// Adds to all times, because other machines have other clocks.
  void shift(Clock::duration difference);

private:
  friend Status writeTraces(const std::string &path, std::span<const Trace> traces);
  struct Event {
    trace_form::Label label;
    int64_t microbatch = 0;
    Clock::time_point begin, end;
  };
  std::vector<Event> events;
};

/// Writes the traces of ranks 0, 1, ... to one file in the form of trace_form.h. Times start at the first event of any
/// rank. `io` if the file cannot be written.
Status writeTraces(const std::string &path, std::span<const Trace> traces);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_TRACE_H
