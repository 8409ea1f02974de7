//===- trace_recorder.h - instructions as events of a trace -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_TRACE_RECORDER_H
#define MESHPLAN_RUNTIME_EXEC_TRACE_RECORDER_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/rank_view.h"
#include "runtime/exec/trace.h"

#include <map>

namespace meshplan {

/// Adds the instructions of one run of a program to a trace. The estimated timeline has the same events
/// (compiler/timing/estimated_trace.h): operators and copies, each collective, and the time in which the rank waits for
/// it. On a device these are the times of the host, which enqueues the work and does not wait for it.
class TraceRecorder {
public:
  /// Both must outlive the recorder.
  TraceRecorder(const RankView &view, int64_t microbatch, Trace &trace);

  /// The instruction at `index` has run. `moved` is for a wait.
  void add(size_t index, Trace::Clock::time_point begin, Trace::Clock::time_point end,
           const std::optional<MoveInterval> &moved);

private:
  struct Started {
    size_t index = 0;
    Trace::Clock::time_point begin;
  };

  void addWait(const artifact::Wait &wait, Trace::Clock::time_point begin, Trace::Clock::time_point end,
               const std::optional<MoveInterval> &moved);

  const RankView &view;
  int64_t microbatch;
  Trace &trace;
  std::vector<trace_form::Label> labels;                    ///< by instruction
  std::map<int64_t, Started> started;                       ///< by sequence
  std::map<std::string, Trace::Clock::time_point> laneEnds; ///< by communicator: end of its last collective
};

/// What a trace says about each instruction of a program. `what` is empty for those that it leaves out: waits, frees,
/// and copies in place.
std::vector<trace_form::Label> traceLabels(const artifact::Schedule &schedule, const artifact::Program &program);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_TRACE_RECORDER_H
