//===- trace_recorder.cpp - instructions as events of a trace -------------===//
//
// On a CPU an instruction runs between two readings of the clock. On a GPU it is only enqueued there, so marks are put
// into the stream between instructions, and their times are read when the program is over.
//
// A collective is two events: from its begin to its end on the lane, and the wait for it on the rank. Example: start 0
// at 1 ms, the backend begins it at 2 ms and ends it at 5 ms, and the rank waits from 4 to 5 ms. The lane has 2 to 5,
// the rank 4 to 5, and the collective is exposed for 1 ms.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/trace_recorder.h"

#include "runtime/exec/origin.h"

#include <algorithm>

using namespace meshplan;
using trace_form::Label;
using TimePoint = Trace::Clock::time_point;

/// What an instruction does, as the estimated timeline names it.
static std::string whatOf(const artifact::Instruction &instruction) {
  if (const artifact::Compute *compute = instruction.action_as_Compute())
    return compute->target()->str();
  if (const artifact::Start *start = instruction.action_as_Start())
    return artifact::EnumNameCollectiveKind(start->kind());
  if (instruction.action_as_Copy())
    return "copy";
  if (const artifact::PackRun *pack = instruction.action_as_PackRun())
    return pack->in_place() ? "" : "pack";
  if (const artifact::UnpackRun *unpack = instruction.action_as_UnpackRun())
    return unpack->in_place() ? "" : "unpack";
  return instruction.action_type() == artifact::Action::Slice ? "slice" : "";
}

/// The packed value that a copy makes for a collective, or takes apart after it; -1 for other instructions.
static int32_t packedValueOf(const artifact::Instruction &instruction) {
  if (const artifact::PackRun *pack = instruction.action_as_PackRun())
    return pack->output();
  const artifact::UnpackRun *unpack = instruction.action_as_UnpackRun();
  return unpack ? unpack->input() : -1;
}

static Label labelOf(const artifact::Schedule &schedule, const artifact::Program &program,
                     const artifact::Instruction &instruction) {
  Label label;
  label.what = whatOf(instruction);
  label.program = program.name()->str();
  label.direction = trace_form::directions.front();
  if (instruction.origin() >= 0) {
    const artifact::Origin &origin = *schedule.origins()->Get(instruction.origin());
    label.direction = trace_form::directions[static_cast<size_t>(origin.direction())];
    label.module = origin.module_() ? origin.module_()->str() : "";
    label.statement = statementText(schedule, instruction.origin());
  }
  if (const artifact::Copy *copy = instruction.action_as_Copy())
    label.memory =
        trace_form::memories[program.values()->Get(static_cast<flatbuffers::uoffset_t>(copy->output()))->host()];
  const artifact::Start *start = instruction.action_as_Start();
  if (!start)
    return label;
  label.module = start->subject() ? start->subject()->str() : "";
  label.purpose = trace_form::purposes[static_cast<size_t>(start->purpose())];
  label.communicator = schedule.communicators()->Get(start->communicator())->name()->str();
  label.bytes = start->bytes();
  return label;
}

std::vector<Label> meshplan::traceLabels(const artifact::Schedule &schedule, const artifact::Program &program) {
  std::vector<Label> labels;
  std::map<int32_t, std::string> moduleOf; // by packed value
  for (const artifact::Instruction *instruction : *program.instructions()) {
    labels.push_back(labelOf(schedule, program, *instruction));
    if (const artifact::Start *start = instruction->action_as_Start())
      for (int32_t value : {start->input(), start->output()})
        moduleOf[value] = labels.back().module;
  }
  // A copy is about the tensors of its collective.
  for (size_t index = 0; index < labels.size(); ++index) {
    int32_t value = packedValueOf(*program.instructions()->Get(static_cast<flatbuffers::uoffset_t>(index)));
    if (auto found = moduleOf.find(value); value >= 0 && found != moduleOf.end())
      labels[index].module = found->second;
  }
  return labels;
}

TraceRecorder::TraceRecorder(const RankView &view, Trace &trace)
    : view(view), trace(trace), labels(traceLabels(view.schedule(), view.program())) {}

void TraceRecorder::addWait(const artifact::Wait &wait, TimePoint begin, TimePoint end,
                            const std::optional<MoveInterval> &moved) {
  auto found = started.find(wait.sequence());
  if (found == started.end())
    return;
  Label label = labels[found->second.index];
  // A lane runs its collectives one after the other, so that one begins after the end of the one before it. Without
  // times of the backend a collective counts until its wait ends, although it may be over before.
  TimePoint &laneEnd = laneEnds[trace_form::laneOf(label)];
  TimePoint first = std::max(moved ? moved->begin : found->second.begin, laneEnd);
  TimePoint last = std::max(moved ? moved->end : end, first);
  trace.add(label, microbatch, first, last);
  laneEnd = last;
  label.isWait = true;
  trace.add(std::move(label), microbatch, begin, end);
}

Status TraceRecorder::begin(int64_t number) {
  microbatch = number;
  marks.emplace();
  return deviceOfThread().isHost() ? Status() : marks->mark();
}

Status TraceRecorder::add(size_t index, TimePoint begin, TimePoint end, const std::optional<MoveInterval> &moved) {
  if (deviceOfThread().isHost()) {
    record(index, begin, end, moved);
    return Status();
  }
  enqueued.push_back({index, microbatch, moved});
  return marks->mark();
}

Status TraceRecorder::finish() {
  if (enqueued.empty())
    return Status();
  MESHPLAN_ASSIGN_OR_RETURN(std::vector<TimePoint> times, marks->times());
  for (size_t each = 0; each < enqueued.size(); ++each) {
    microbatch = enqueued[each].microbatch;
    record(enqueued[each].index, times[each], times[each + 1], enqueued[each].moved);
  }
  enqueued.clear();
  return Status();
}

void TraceRecorder::record(size_t index, TimePoint begin, TimePoint end, const std::optional<MoveInterval> &moved) {
  const artifact::Instruction &instruction =
      *view.program().instructions()->Get(static_cast<flatbuffers::uoffset_t>(index));
  if (const artifact::Start *start = instruction.action_as_Start()) {
    started[start->sequence()] = {index, begin};
    return;
  }
  if (const artifact::Copy *copy = instruction.action_as_Copy()) {
    started[copy->sequence()] = {index, begin};
    return;
  }
  if (const artifact::Wait *wait = instruction.action_as_Wait())
    return addWait(*wait, begin, end, moved);
  if (!labels[index].what.empty())
    trace.add(labels[index], microbatch, begin, end);
}
