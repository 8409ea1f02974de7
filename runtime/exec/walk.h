//===- walk.h - one rank of a running program -------------------*- C++ -*-===//
//
// One rank of a running program: the prepared instructions, and the values of one run. What outlives the run is in the
// session (session.h), which several walks share.
//
// All ranks of the world create a Walk for the same program and run it equally often. A Walk belongs to the thread of
// its rank, which should hold a ComputeScope.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_WALK_H
#define MESHPLAN_RUNTIME_EXEC_WALK_H

#include "runtime/artifact/deferred.h"
#include "runtime/exec/batch.h"
#include "runtime/exec/numbers/settings.h"
#include "runtime/exec/outputs.h"
#include "runtime/exec/session.h"
#include "runtime/exec/trace_recorder.h"

#include <functional>
#include <map>

namespace meshplan {

/// notFound, with the existing names, if the schedule has no such program.
Expected<const artifact::Program *> findProgram(const artifact::Schedule &schedule, std::string_view name);

/// The program of a role that an artifact has once. `notFound` without one.
Expected<const artifact::Program *> findProgram(const artifact::Schedule &schedule, artifact::ProgramRole role);

/// Observes values during a run as soon as the rank has them, including those freed before its end. A tensor keeps its
/// elements while it is held, unless the program overwrites the value in place.
struct Observer {
  std::vector<int> values; ///< indices into Program.values; only values made by instructions are seen
  std::function<void(int value, const Tensor &tensor)> see;
};

class Walk {
public:
  /// Looks up every operator of the program, and makes or finds what the session holds for it. Runs read their inputs
  /// from `batch`. With `asked`, only these outputs are computed.
  static Expected<std::unique_ptr<Walk>> create(std::shared_ptr<Session> session, std::shared_ptr<Batch> batch,
                                                const artifact::Program &program, const OutputNames *asked = nullptr);

  /// Sets a number of the run, such as the learning rate; see Settings::set.
  Status setNumber(std::string_view name, double number) { return settings.set(name, number); }

  /// The settings of the program.
  Settings &numbers() { return settings; }

  /// The optimizer counts the steps of this parameter (its first name) only after `steps` effective steps, because its
  /// states begin there: its call gets a smaller argument `step`. No effect on a parameter without states.
  void countFrom(std::string_view parameter, int64_t steps);

  /// The next run belongs to this step and this microbatch, both counted from 0.
  Status begin(int64_t step, int64_t microbatch);

  /// Registers an action that the last instance calls once: before the first instruction that updates a parameter or a
  /// state in place, or at its end. Until then, parameters and states are unchanged. If the action fails, the run ends.
  void beforeUpdates(std::function<Status()> action) { updatesBegin = std::move(action); }

  /// Runs the last instance of the program, or its only one. A failure ends the run of all ranks. A training step
  /// updates parameters and states in place and increments the step count. Returns when the device is done.
  Status run(Trace *trace = nullptr, const Observer *observer = nullptr);

  /// Runs an instance that is not the last one of its timeline: without what only the last one does. That of microbatch
  /// 0 also does what only the first one does, for all. Of the updates, it takes those of accumulators. On a device,
  /// what it computes may still be in progress when this returns. What it defers is run by the next instance, the next
  /// run of this walk; until then collectives may be in flight.
  Status runEarlier(Trace *trace = nullptr);

  /// Frees the values of the last run: its outputs, and views of the batch. What the session holds stays.
  void forgetRun() { values.assign(held.size(), Tensor()); }

  /// The rank's shard of an output of the last run, or of another value that the run has not freed, by index into
  /// Program.values.
  const Tensor &valueOf(int value) const { return values[value]; }

  /// The rank's view of the program.
  const RankView &view() const { return rank; }

  std::shared_ptr<Session> session() const { return owner; }

  /// Writes this rank's shards of the outputs of the last run; `prefix` is prepended to their names.
  Status writeOutputs(const SafetensorsWriter &writer, const std::string &prefix = "") const {
    return writeOutputParts(rank, values, writer, prefix);
  }

  /// Writes this rank's shards of the current parameters and states.
  Status writeHeld(const SafetensorsWriter &writer) const { return writeHeldParts(rank, heldValues(), writer); }

  /// The rank's shard of the current parameter or state of this name. `notFound` for an unknown name.
  Expected<Tensor> current(std::string_view name) const;

  /// As `current`, by index into Program.values.
  const Tensor &heldValue(int value) const { return *held[value]; }

  /// Bytes copied in all runs to pack tensors before collectives and to unpack them afterwards.
  int64_t packedBytes() const;

  /// Seconds that the host has waited for collectives in all runs: the exposed communication. On a GPU the host does
  /// not wait, so this is not meaningful there.
  double waitedSeconds() const;

  /// Number of the next step, counted from 0.
  int64_t steps() const { return stepsDone; }

private:
  Walk(std::shared_ptr<Session> session, const artifact::Program &program)
      : owner(std::move(session)), rank(owner->viewOf(program)), deferred(program), isMadeFirst(madeByFirst(program)),
        settings(program) {}

  std::vector<Tensor> heldValues() const;
  void takeUpdates(bool isLast);
  Status beginUpdates() const { return updatesBegin ? updatesBegin() : Status(); }
  Status runStep(size_t index, TraceRecorder *recorder);
  Status runUpdate(size_t index, int64_t uncounted, TraceRecorder *recorder);
  void beginValues();
  Status resume(size_t steps, size_t &next);
  Status setMicrobatch(int64_t number, std::span<const size_t> steps);
  bool runs(size_t index, bool isLast) const;
  Status runInstance(bool isLast, Trace *trace, const Observer *observer);
  Status runSteps(bool isLast, Trace *trace, const Observer *observer);
  Status finish();

  std::shared_ptr<Session> owner; // first: the steps use its communicators
  RankView rank;
  HeldTensors held;           // by index into Program.values
  std::vector<Tensor> values; // by index into Program.values
  std::vector<std::unique_ptr<Step>> program;
  std::vector<artifact::When> when; // by index into `program`: the instances that run it at this index
  DeferredInstructions deferred;
  std::vector<bool> isMadeFirst; // by index into Program.values: the first instance makes it for all
  std::vector<size_t> resumes;   // by index into `program`: how many deferred steps of the instance before it runs
  size_t firstUpdate = 0;        // index into `program`
  std::vector<const artifact::Update *> updates, accumulations; // all, and those of accumulators
  std::function<Status()> updatesBegin;
  Settings settings;
  std::map<size_t, int64_t> uncounted; // by index into `program`: steps that an optimizer call does not count
  int64_t stepsDone = 0;
  int64_t microbatchNumber = 0; ///< of the next run
  /// Of this step, if it is traced: a collective may start in one instance and end in the next.
  std::unique_ptr<TraceRecorder> recorder;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_WALK_H
