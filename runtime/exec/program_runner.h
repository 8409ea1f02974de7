//===- program_runner.h - a program, and what runs before it -----*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_PROGRAM_RUNNER_H
#define MESHPLAN_RUNTIME_EXEC_PROGRAM_RUNNER_H

#include "runtime/exec/executor.h"
#include "runtime/exec/numbers/step_guard.h"
#include "runtime/tensor/nonfinite_notes.h"

#include <optional>

namespace meshplan {

/// What became of a step.
struct StepOutcome {
  int64_t nonfinite = 0;            ///< elements of all gradients that are NaN or infinite: the step changed nothing
  std::vector<NonfiniteNote> notes; ///< where there are any: those that this rank has made, before they were added up
};

/// One rank of a program. The programs `step` and `eval` run microbatches first, by the programs of the schedule that
/// say how often they are run before which; all of these share parameters, inputs and accumulators. Belongs to the
/// thread of its rank.
class ProgramRunner {
public:
  /// As Executor::create of each of them. `invalid` for a program that only a step runs.
  static Expected<ProgramRunner> create(const Artifact &artifact, const artifact::Program &program, World &world,
                                        const OutputNames *asked = nullptr);

  /// Reads the rank's slices. Both are needed before `run`; inputs are those of the whole batch. `numericFault` for
  /// parameters that are NaN or infinite where the plan says that a run stops for such gradients.
  Status loadParameters(const Feed &feed);
  Status loadInputs(const Feed &feed);

  /// Instead of loadParameters, as Executor::loadHeld; fails as loadParameters does.
  Status loadHeld(const Feed &feed);

  /// How far the training has come.
  StepCounters counters() const;

  /// The next run goes on from there. A scale of the loss that the plan does not let change stays the plan's; so does
  /// one that setNumber gives afterwards. `invalid` for counters that no run has.
  Status resume(const StepCounters &counters);

  /// As Executor::countFrom.
  void countFrom(std::string_view parameter, int64_t steps) { last->countFrom(parameter, steps); }

  /// What each run calls before parameters and states change: see Executor::beforeUpdates. Once, unless microbatches
  /// change some of them, too.
  void beforeUpdates(std::function<Status()> action);

  /// Instead of loading them: takes the parameters of another program of the schedule, as they are now and will be
  /// behind its next steps. Its inputs too, so that inputs are loaded behind this.
  void share(const ProgramRunner &owner) { last->share(*owner.last); }

  /// Lets go of the inputs and of what the last run has left: until inputs are loaded again, of what it holds there is
  /// what it needs for the next step.
  void rest();

  /// What a person should know of the parameters that were loaded, without a full stop; empty for nothing: "rank 1:
  /// w.safetensors: parameter 'w': 1 of 64 elements is not finite, ...".
  const std::string &warning() const { return loadingWarning; }

  /// Numbers of the run, as Executor::setNumber, in every program that has the setting.
  Status setNumber(std::string_view name, double number);

  /// Runs the program once; `observer` sees values of the program itself. A failure ends the run of all ranks.
  /// Where gradients are NaN or infinite and the plan says that the run stops there, it ends on every rank:
  /// `numericFault` on those that made them, `aborted` on the others.
  Status run(Trace *trace = nullptr, const Observer *observer = nullptr);

  /// Executor::packedBytes of all that has run.
  int64_t packedBytes() const;

  /// Seconds that the host has waited for collectives in all runs together: communication that no computing hides. On a
  /// GPU the host does not wait, and this says nothing.
  double waitedSeconds() const;

  /// What became of the last run, also of one that stopped.
  const StepOutcome &outcome() const { return lastOutcome; }

  /// The outcome of a step that changed nothing, for a person: "rank 1: 12 elements of the gradients of step 3 are NaN
  /// or infinite, ...".
  std::string describeOutcome() const;

  /// The program itself, which holds parameters and states and gives the outputs.
  Executor &executor() { return *last; }
  const Executor &executor() const { return *last; }

private:
  struct Pass {
    std::unique_ptr<Executor> program;
    int64_t runs = 0;
  };

  Status noteNonfinite(const Feed &feed);
  Status giveNumber(std::string_view name, double number);
  double firstScale() const;
  void shareWithPasses();
  Status runPasses(Trace *trace);
  Status setGuardedNumbers();
  Status judge(const NonfiniteNotes &notes);

  std::vector<Pass> passes;
  std::unique_ptr<Executor> last;
  std::optional<StepGuard> guard;
  StepOutcome lastOutcome;
  std::string loadingWarning;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_PROGRAM_RUNNER_H
