//===- executor.h - one rank of a running program ----------------*- C++ -*-===//
//
// Twin of what torchrun starts once for each rank: holds the rank's parameters,
// takes its slices of the inputs, and runs the program any number of times.
//
// All ranks of the world create an Executor for the same program and run it
// equally often. An Executor belongs to the thread of its rank, which should
// hold a ComputeScope.
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

/// Bytes of the tensors that a rank holds from start to end, on its device and, the last two, in the memory of the
/// host.
struct ResidentBytes {
  int64_t parameters = 0;
  int64_t constants = 0;
  int64_t inputs = 0;
  int64_t states = 0;
  int64_t accumulators = 0;
  int64_t hostParameters = 0;
  int64_t hostStates = 0;
};

/// notFound, with the names that exist, when the schedule has no such program.
Expected<const artifact::Program *> findProgram(const artifact::Schedule &schedule, std::string_view name);

/// The program of a role that an artifact has once. `notFound` without one.
Expected<const artifact::Program *> findProgram(const artifact::Schedule &schedule, artifact::ProgramRole role);

/// Sees values of a run as soon as a rank has them, also those that are freed before its end. The tensors keep their
/// elements for as long as they are held, unless the program overwrites the value.
struct Observer {
  std::vector<int> values; ///< indices into Program.values; those that no instruction makes are not seen
  std::function<void(int value, const Tensor &tensor)> see;
};

class Executor {
public:
  /// Compares the schedule's hash with the other ranks, makes the communicators,
  /// looks up every operator and loads the constants. `artifact` and `world` must
  /// outlive the executor. With `asked` other outputs are not made. `invalid` when the world has another size than the
  /// mesh.
  static Expected<std::unique_ptr<Executor>> create(const Artifact &artifact, const artifact::Program &program,
                                                    World &world, const OutputNames *asked = nullptr);

  /// Reads the rank's slices. Both are needed before `run`; inputs may be loaded
  /// again between runs.
  Status loadParameters(const Feed &feed);
  Status loadInputs(const Feed &feed);

  /// Instead of loadParameters: also reads the states, each under its own name, as writeHeld writes them under any plan
  /// of the same model.
  Status loadHeld(const Feed &feed);

  /// The parameters of which the rank has loaded NaN or infinite elements.
  const std::vector<NonfiniteWeight> &nonfiniteParameters() const { return nonfinite; }

  /// Numbers of the run, such as the learning rate: see Settings::set.
  Status setNumber(std::string_view name, double number) { return settings.set(name, number); }

  /// What the program's numbers are, and which of them follow from the run.
  Settings &numbers() { return settings; }

  /// The optimizer counts the steps of this parameter, by its first name, from behind so many that have changed
  /// something: its states begin there. Nothing for a parameter without states.
  void countFrom(std::string_view parameter, int64_t steps);

  /// Takes parameters, inputs and accumulators that another program of the schedule has under the same names, and
  /// constants that are the same: both then have the same elements. A training step and `eval` share parameters in this
  /// way.
  void share(const Executor &owner);

  /// Sets the accumulators to zeros: the beginning of a step.
  Status clearAccumulators();

  /// The next run belongs to this step, counted from 0, and this microbatch.
  Status begin(int64_t step, int64_t microbatch);

  /// What each run calls once, before the first instruction that changes a parameter or a state in its place, or at its
  /// end: until then, what is held is what it was when the run began. A failure ends the run.
  void beforeUpdates(std::function<Status()> action) { updatesBegin = std::move(action); }

  /// Runs the program once. A failure ends the run of all ranks. A training step changes parameters and states in
  /// place, and counts.
  Status run(Trace *trace = nullptr, const Observer *observer = nullptr);

  /// Lets go of what the last run has left, outputs too. Parameters, inputs and accumulators stay.
  void forgetRun() { values.assign(initial.size(), Tensor()); }

  /// Lets go of the inputs, also where they are outputs. Others are needed before the next run.
  void forgetInputs();

  /// The rank's part of an output of the last run, and of what else the run has not freed, by index into
  /// Program.values.
  const Tensor &valueOf(int value) const { return values[value]; }

  /// The rank's place in the program.
  const RankView &place() const { return view; }

  /// Writes this rank's parts of the outputs of the last run, `prefix` before their names.
  Status writeOutputs(const SafetensorsWriter &writer, const std::string &prefix = "") const {
    return writeOutputParts(view, values, writer, prefix);
  }

  /// Writes this rank's parts of parameters and states as they are now.
  Status writeHeld(const SafetensorsWriter &writer) const { return writeHeldParts(view, initial, writer); }

  const ResidentBytes &residentBytes() const { return resident; }

  /// The rank's part of a parameter or state as it is now. `notFound` for an unknown name.
  Expected<Tensor> current(std::string_view name) const;

  /// The same by index into Program.values.
  const Tensor &heldValue(int value) const { return initial[value]; }

  /// Bytes that all runs together have copied to put tensors into one piece before they are moved, and to take them
  /// apart behind.
  int64_t packedBytes() const;

  /// Seconds that the host has waited for collectives in all runs together: communication that no computing hides. On a
  /// GPU the host does not wait, and this says nothing.
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
  std::map<size_t, int64_t> uncounted; // steps that a call of the optimizer does not count, by index into `program`
  int64_t stepsDone = 0;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_EXECUTOR_H
