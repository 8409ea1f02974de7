//===- executor.h - one rank of a running program ---------------*- C++ -*-===//
//
// One rank of a running program. Twin of a process that torchrun starts per rank: holds the rank's parameters, takes
// its slices of the inputs, and runs the program any number of times.
//
// All ranks of the world create an Executor for the same program and run it equally often. An Executor belongs to the
// thread of its rank, which should hold a ComputeScope.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_EXEC_EXECUTOR_H
#define MESHPLAN_RUNTIME_EXEC_EXECUTOR_H

#include "runtime/exec/feed.h"
#include "runtime/exec/numbers/nonfinite_weights.h"
#include "runtime/exec/numbers/settings.h"
#include "runtime/exec/outputs.h"
#include "runtime/exec/prepare.h"
#include "runtime/exec/storages.h"
#include "runtime/exec/trace.h"

#include <functional>
#include <map>

namespace meshplan {

/// Sizes of the tensors that a rank holds permanently: on its device and, the last two, in host memory.
struct ResidentBytes {
  int64_t parameters = 0;
  int64_t constants = 0;
  int64_t inputs = 0;
  int64_t states = 0;
  int64_t accumulators = 0;
  int64_t hostParameters = 0;
  int64_t hostStates = 0;
};

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

class Executor {
public:
  /// Compares the schedule's hash with the other ranks, creates the communicators, looks up every operator and loads
  /// the constants. `artifact` and `world` must outlive the executor. With `asked`, only these outputs are computed.
  /// `invalid` if the world and the mesh differ in size.
  static Expected<std::unique_ptr<Executor>> create(const Artifact &artifact, const artifact::Program &program,
                                                    World &world, const OutputNames *asked = nullptr);

  /// Read the rank's slices. Both are required before `run`; inputs may be loaded again between runs.
  Status loadParameters(const Feed &feed);
  Status loadInputs(const Feed &feed);

  /// Instead of loadParameters: also reads the states, each under its own name. Reads what writeHeld wrote, under any
  /// plan of the same model.
  Status loadHeld(const Feed &feed);

  /// The parameters of which this rank has loaded non-finite elements.
  const std::vector<NonfiniteWeight> &nonfiniteParameters() const { return nonfinite; }

  /// Sets a number of the run, such as the learning rate; see Settings::set.
  Status setNumber(std::string_view name, double number) { return settings.set(name, number); }

  /// The settings of the program.
  Settings &numbers() { return settings; }

  /// The optimizer counts the steps of this parameter (its first name) only after `steps` effective steps, because its
  /// states begin there: its call gets a smaller argument `step`. No effect on a parameter without states.
  void countFrom(std::string_view parameter, int64_t steps);

  /// Shares tensors with another program of the schedule: parameters, inputs and accumulators of the same names, and
  /// equal constants. Both programs then use the same elements. A training step and `eval` share parameters this way.
  void share(const Executor &owner);

  /// Sets the accumulators to zeros, at the beginning of a step.
  Status clearAccumulators();

  /// The next run belongs to this step and this microbatch, both counted from 0.
  Status begin(int64_t step, int64_t microbatch);

  /// Registers an action that each run calls once: before the first instruction that updates a parameter or a state in
  /// place, or at its end. Until then, parameters and states are unchanged. If the action fails, the run ends.
  void beforeUpdates(std::function<Status()> action) { updatesBegin = std::move(action); }

  /// Runs the program once. A failure ends the run of all ranks. A training step updates parameters and states in place
  /// and increments the step count.
  Status run(Trace *trace = nullptr, const Observer *observer = nullptr);

  /// Frees the values of the last run, outputs included. Parameters, inputs and accumulators stay.
  void forgetRun() { values.assign(initial.size(), Tensor()); }

  /// Frees the inputs, even those that are also outputs. New inputs are required before the next run.
  void forgetInputs();

  /// The rank's shard of an output of the last run, or of another value that the run has not freed, by index into
  /// Program.values.
  const Tensor &valueOf(int value) const { return values[value]; }

  /// The rank's view of the program.
  const RankView &place() const { return view; }

  /// Writes this rank's shards of the outputs of the last run; `prefix` is prepended to their names.
  Status writeOutputs(const SafetensorsWriter &writer, const std::string &prefix = "") const {
    return writeOutputParts(view, values, writer, prefix);
  }

  /// Writes this rank's shards of the current parameters and states.
  Status writeHeld(const SafetensorsWriter &writer) const { return writeHeldParts(view, initial, writer); }

  const ResidentBytes &residentBytes() const { return resident; }

  /// The rank's shard of the current parameter or state of this name. `notFound` for an unknown name.
  Expected<Tensor> current(std::string_view name) const;

  /// As `current`, by index into Program.values.
  const Tensor &heldValue(int value) const { return initial[value]; }

  /// Bytes copied in all runs to pack tensors before collectives and to unpack them afterwards.
  int64_t packedBytes() const;

  /// Seconds that the host has waited for collectives in all runs: the exposed communication. On a GPU the host does
  /// not wait, so this is not meaningful there.
  double waitedSeconds() const;

  /// Number of the next step, counted from 0.
  int64_t steps() const { return stepsDone; }

private:
  Executor(RankView view, World &world)
      : view(std::move(view)), world(world), storages(this->view, world), settings(this->view.program()) {}

  Status makeGroups();
  Status loadConstants();
  Status makeStates();
  Expected<Tensor> zeros(int value);
  void shareConstants(const Executor &owner);
  void takeUpdates();
  Status loadWeights(const Feed &feed);
  Status loadState(const Feed &feed, const artifact::State &state, const std::vector<std::string> &names);
  Status loadCopies(const Feed &feed);
  Status beginUpdates() const { return updatesBegin ? updatesBegin() : Status(); }
  Status runStep(Step &step, Trace *trace);
  Status runUpdate(size_t index, int64_t uncounted, Trace *trace);
  Status runSteps(Trace *trace, const Observer *observer);

  RankView view;
  World &world;
  Groups groups;
  Storages storages;
  ResidentBytes resident;
  std::vector<NonfiniteWeight> nonfinite;
  std::vector<Tensor> initial, values; // by index into Program.values
  std::vector<std::unique_ptr<Step>> program;
  size_t firstUpdate = 0; // index into `program`
  std::function<Status()> updatesBegin;
  Settings settings;
  std::map<size_t, int64_t> uncounted; // by index into `program`: steps that an optimizer call does not count
  int64_t stepsDone = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_EXECUTOR_H
