//===- trace_recorder.h - instructions as events of a trace -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_TRACE_RECORDER_H
#define MESHPLAN_RUNTIME_EXEC_TRACE_RECORDER_H

#include "runtime/comm/communicator.h"
#include "runtime/exec/rank_view.h"
#include "runtime/exec/trace.h"
#include "runtime/tensor/device_marks.h"

#include <map>

namespace meshplan {

/// Adds the instructions of the instances of a program, one after the other, to a trace. The estimated timeline has the
/// same events (compiler/timing/estimated_trace.h): operators and copies, each collective, and the time in which the
/// rank waits for it. On a GPU these are the times at which its stream passes the instructions, not those at which the
/// host enqueues them.
class TraceRecorder {
public:
  /// Both must outlive the recorder.
  TraceRecorder(const RankView &view, Trace &trace);

  /// Called before the first instruction of an instance, and after the last one; on a GPU the latter waits for it. What
  /// an instance has started may be waited for in the next one.
  Status begin(int64_t microbatch);
  Status finish();

  /// The following instructions belong to this microbatch.
  void setMicrobatch(int64_t number) { microbatch = number; }

  /// The instruction at `index` has run on this thread from `begin` to `end`. `moved` is that of a wait.
  Status add(size_t index, Trace::Clock::time_point begin, Trace::Clock::time_point end,
             const std::optional<MoveInterval> &moved);

private:
  /// An instruction of which the GPU's times are not known yet.
  struct Enqueued {
    size_t index = 0;
    int64_t microbatch = 0;
    std::optional<MoveInterval> moved;
  };

  struct Started {
    size_t index = 0;
    Trace::Clock::time_point begin;
  };

  void record(size_t index, Trace::Clock::time_point begin, Trace::Clock::time_point end,
              const std::optional<MoveInterval> &moved);
  void addWait(const artifact::Wait &wait, Trace::Clock::time_point begin, Trace::Clock::time_point end,
               const std::optional<MoveInterval> &moved);

  const RankView &view;
  int64_t microbatch = 0;
  Trace &trace;
  std::optional<DeviceMarks> marks; ///< of the instance, on a GPU: one before its first instruction, one after each
  std::vector<Enqueued> enqueued;   ///< on a GPU, by mark
  std::vector<trace_form::Label> labels;                    ///< by instruction
  std::map<int64_t, Started> started;                       ///< by sequence
  std::map<std::string, Trace::Clock::time_point> laneEnds; ///< by lane: end of its last collective or copy
};

/// What a trace says about each instruction of a program. `what` is empty for those that it leaves out: waits, frees,
/// and copies in place.
std::vector<trace_form::Label> traceLabels(const artifact::Schedule &schedule, const artifact::Program &program);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_TRACE_RECORDER_H
