//===- program_runner.h - a program and its timeline ------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_PROGRAM_RUNNER_H
#define MESHPLAN_RUNTIME_EXEC_PROGRAM_RUNNER_H

#include "runtime/exec/numbers/step_guard.h"
#include "runtime/exec/walk.h"
#include "runtime/tensor/nonfinite_notes.h"

#include <optional>

namespace meshplan {

/// The outcome of a step.
struct StepOutcome {
  int64_t nonfinite = 0;            ///< non-finite elements of all gradients; if any, the step changed nothing
  std::vector<NonfiniteNote> notes; ///< by gradient: those that this rank made, and those that sums over ranks made
};

/// One rank of a program. A run of it is its timeline: instances of the program for each microbatch, and of programs
/// that only run there, all in one session. Belongs to the thread of its rank.
///
/// Example: a step of 4 microbatches is the program "count0", which runs 4 times and counts tokens, and then the
/// program "step", which runs 4 times and accumulates gradients; its last instance also runs the optimizer.
class ProgramRunner {
public:
  /// Creates a session, and a walk for each program of the timeline. `invalid` for a program that only runs in the
  /// timeline of another one.
  static Expected<ProgramRunner> create(const Artifact &artifact, const artifact::Program &program, World &world,
                                        const OutputNames *asked = nullptr);

  /// As above, in an existing session: the programs use what others of the session have loaded and changed, with inputs
  /// of their own. A training step and `eval` share parameters this way.
  static Expected<ProgramRunner> create(std::shared_ptr<Session> session, const artifact::Schedule &schedule,
                                        const artifact::Program &program, const OutputNames *asked = nullptr);

  /// Read the rank's slices. Both are required before `run`; inputs are those of the whole batch. `numericFault` for
  /// non-finite parameters if the plan stops a run at non-finite gradients.
  Status loadParameters(const Feed &feed);
  Status loadInputs(const Feed &feed);

  /// Instead of loadParameters; see Session::loadHeld. Fails as loadParameters does.
  Status loadHeld(const Feed &feed);

  /// The counters of the training so far.
  StepCounters counters() const;

  /// The next run resumes from these counters. A constant loss scale stays as the plan or a later setNumber says.
  /// `invalid` for impossible counters.
  Status resume(const StepCounters &counters);

  /// See Walk::countFrom.
  void countFrom(std::string_view parameter, int64_t steps) { last->countFrom(parameter, steps); }

  /// Registers an action that each step calls once, before parameters and states change; see Walk::beforeUpdates.
  void beforeUpdates(std::function<Status()> action) { last->beforeUpdates(std::move(action)); }

  /// Frees the inputs and the values of the last run. Until inputs are loaded again, only what the next step needs is
  /// held.
  void rest();

  /// A message for the user about the loaded parameters, without a full stop; empty if there is none: "rank 1:
  /// w.safetensors: parameter 'w': 1 of 64 elements is not finite, ...".
  const std::string &warning() const { return loadingWarning; }

  /// Sets a number of the run (Walk::setNumber) in every program that has the setting.
  Status setNumber(std::string_view name, double number);

  /// Runs the timeline once; `observer` sees values of its last instance. A failure ends the run of all ranks. If
  /// gradients are non-finite and the plan stops there, the run ends on every rank: with `numericFault` on the ranks
  /// that made the elements, `aborted` on the others.
  Status run(Trace *trace = nullptr, const Observer *observer = nullptr);

  /// Walk::packedBytes, summed over all programs.
  int64_t packedBytes() const;

  /// Walk::waitedSeconds, summed over all programs.
  double waitedSeconds() const;

  /// The outcome of the last run, even if it stopped.
  const StepOutcome &outcome() const { return lastOutcome; }

  /// Describes the outcome of a step that changed nothing, for the user: "rank 1: 12 elements of the gradients of step
  /// 3 are NaN or infinite, ...".
  std::string describeOutcome() const;

  /// The program itself, which holds parameters and states and gives the outputs.
  Walk &walk() { return *last; }
  const Walk &walk() const { return *last; }

private:
  /// A run of a program for one microbatch.
  struct Instance {
    Walk *walk = nullptr; ///< one of `others`, or `last`
    int64_t microbatch = 0;
  };

  Status noteNonfinite(const Feed &feed);
  Status giveNumber(std::string_view name, double number);
  double firstScale() const;
  Status runTimeline(Trace *trace, const Observer *observer);
  Status setGuardedNumbers();
  Status judge(const NonfiniteNotes &notes);

  std::shared_ptr<Batch> batch;
  std::vector<std::unique_ptr<Walk>> others; ///< of programs that only run in this timeline
  std::unique_ptr<Walk> last;
  std::vector<Instance> timeline; ///< ends with `last`
  std::optional<StepGuard> guard;
  StepOutcome lastOutcome;
  std::string loadingWarning;
};

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_PROGRAM_RUNNER_H
