//===- program_runner.cpp - a program and its timeline --------------------===//
//
// One step of 4 microbatches, whose timeline is "step" for microbatches 0 to 3:
//
//   loss scale and number of skipped steps, from the guard
//   accumulators to zeros
//   step  0, 1, 2   gradients are added to the accumulators
//   step  3         its gradients too; reduction, clipping, optimizer
//   judge           counts non-finite gradients; the guard adapts the scale of the next step
//
// The host waits for the device once, at the end of the last instance.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/program_runner.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/base/names.h"
#include "runtime/exec/numbers/nonfinite_weights.h"
#include "runtime/schema/loss_scale.h"
#include "runtime/schema/program_names.h"

#include <cstring>
#include <map>

using namespace meshplan;

Expected<ProgramRunner> ProgramRunner::create(const Artifact &artifact, const artifact::Program &program, World &world,
                                              const OutputNames *asked) {
  MESHPLAN_ASSIGN_OR_RETURN(std::shared_ptr<Session> session, Session::create(artifact, program, world));
  return create(std::move(session), artifact.schedule(), program, asked);
}

Expected<ProgramRunner> ProgramRunner::create(std::shared_ptr<Session> session, const artifact::Schedule &schedule,
                                              const artifact::Program &program, const OutputNames *asked) {
  if (const artifact::Program &runner = runnerOf(schedule, program); &runner != &program)
    return Status::error(StatusCode::invalid, "program '", program.name()->string_view(), "' is run by '",
                         runner.name()->string_view(), "'; help: run the program '", runner.name()->string_view(), "'");
  ProgramRunner made;
  made.batch = std::make_shared<Batch>();
  MESHPLAN_ASSIGN_OR_RETURN(made.last, Walk::create(session, made.batch, program, asked));
  std::map<const artifact::Program *, Walk *> walks{{&program, made.last.get()}};
  for (const artifact::Instance &instance : elementsOf(program.timeline())) {
    const artifact::Program *each = schedule.programs()->Get(instance.program());
    Walk *&walk = walks[each];
    if (!walk) {
      MESHPLAN_ASSIGN_OR_RETURN(auto other, Walk::create(session, made.batch, *each));
      walk = made.others.emplace_back(std::move(other)).get();
    }
    made.timeline.push_back({walk, instance.microbatch()});
  }
  if (made.timeline.empty())
    made.timeline.push_back({made.last.get(), 0});
  MESHPLAN_RETURN_IF_ERROR(session->clearAccumulators(made.last->view()));
  return made;
}

Status ProgramRunner::loadParameters(const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(last->session()->loadParameters(last->view(), feed));
  return noteNonfinite(feed);
}

Status ProgramRunner::loadHeld(const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(last->session()->loadHeld(last->view(), feed));
  return noteNonfinite(feed);
}

Status ProgramRunner::noteNonfinite(const Feed &feed) {
  loadingWarning.clear();
  std::vector<std::string> texts = textsOfFirstHolder(last->view(), last->session()->nonfiniteParameters());
  if (texts.empty())
    return Status();
  loadingWarning = "rank " + std::to_string(last->view().rank()) + ": " +
                   (feed.path().empty() ? "" : feed.path() + ": ") + listOfFew(texts);
  const artifact::Guard *guard = last->view().program().guard();
  return guard && guard->stops() ? Status(StatusCode::numericFault, loadingWarning) : Status();
}

Status ProgramRunner::loadInputs(const Feed &feed) {
  rest();
  return batch->load(last->view(), feed);
}

void ProgramRunner::rest() {
  // Values of the last run may be views of the batch, and would keep it alive.
  for (const auto &other : others)
    other->forgetRun();
  last->forgetRun();
  batch->forget();
}

StepCounters ProgramRunner::counters() const {
  StepCounters counters{.steps = last->steps()};
  if (!guard)
    return counters;
  counters.skipped = guard->skipped();
  counters.stepsInRow = guard->inRow();
  // A guard without a scale only counts skipped steps, and 0 stands for its missing scale.
  if (last->numbers().find(program_names::lossScale, last->steps()))
    counters.lossScale = guard->lossScale();
  return counters;
}

Status ProgramRunner::resume(const StepCounters &counters) {
  // A skipped step ends a row, so a row has at most the steps that counted.
  bool isPossible = counters.steps >= 0 && counters.skipped >= 0 && counters.skipped <= counters.steps &&
                    counters.stepsInRow >= 0 && counters.stepsInRow <= counters.steps - counters.skipped &&
                    (counters.lossScale == 0 || isLossScale(counters.lossScale));
  if (!isPossible)
    return Status::error(StatusCode::invalid, "impossible counters: ", counters.steps, " steps, ", counters.skipped,
                         " of them skipped, the last ", counters.stepsInRow, " in a row, with a loss scale of ",
                         counters.lossScale);
  // The guard continues with the saved scale and counts; a plan without a loss scale ignores them.
  guard.emplace(last->view().program().guard(), firstScale(), counters);
  last->numbers().setSkipped(counters.skipped);
  return last->begin(counters.steps, 0);
}

double ProgramRunner::firstScale() const {
  return last->numbers().find(program_names::lossScale, last->steps()).value_or(1);
}

Status ProgramRunner::setNumber(std::string_view name, double number) {
  MESHPLAN_RETURN_IF_ERROR(giveNumber(name, number));
  // A new scale restarts the count of good steps. The number of skipped steps stays, because the optimizer's bias
  // correction depends on it.
  if (guard && name == program_names::lossScale)
    guard.emplace(last->view().program().guard(), number,
                  StepCounters{.steps = last->steps(), .skipped = guard->skipped()});
  return Status();
}

Status ProgramRunner::giveNumber(std::string_view name, double number) {
  // Most settings belong to the program itself: one that counts tokens has no learning rate. So only the program itself
  // decides whether the name exists.
  for (const auto &other : others)
    if (Status status = other->setNumber(name, number); !status.ok() && status.code() != StatusCode::notFound)
      return status;
  return last->setNumber(name, number);
}

int64_t ProgramRunner::packedBytes() const {
  int64_t bytes = last->packedBytes();
  for (const auto &other : others)
    bytes += other->packedBytes();
  return bytes;
}

double ProgramRunner::waitedSeconds() const {
  double seconds = last->waitedSeconds();
  for (const auto &other : others)
    seconds += other->waitedSeconds();
  return seconds;
}

Status ProgramRunner::runTimeline(Trace *trace, const Observer *observer) {
  int64_t step = last->steps();
  Walk *running = nullptr;
  for (const Instance &instance : timeline) {
    // Values of a program whose instances are over may be views of the batch, and would keep it alive when the next one
    // is loaded.
    if (running && running != instance.walk)
      running->forgetRun();
    running = instance.walk;
    // All microbatches of a step have the same step number; random numbers also depend on the microbatch.
    MESHPLAN_RETURN_IF_ERROR(running->begin(step, instance.microbatch));
    MESHPLAN_RETURN_IF_ERROR(&instance == &timeline.back() ? running->run(trace, observer)
                                                           : running->runEarlier(trace));
  }
  return Status();
}

Status ProgramRunner::run(Trace *trace, const Observer *observer) {
  lastOutcome = {};
  MESHPLAN_RETURN_IF_ERROR(setGuardedNumbers());
  // Its last microbatch may hold views of the previous batch.
  last->forgetRun();
  MESHPLAN_RETURN_IF_ERROR(last->session()->clearAccumulators(last->view()));
  // Collects the notes of all instances.
  NonfiniteNotes notes;
  MESHPLAN_RETURN_IF_ERROR(runTimeline(trace, observer));
  return judge(notes);
}

/// Sets the numbers that follow from earlier steps: the loss scale and the number of skipped steps.
Status ProgramRunner::setGuardedNumbers() {
  const artifact::Program &program = last->view().program();
  if (!program.guard())
    return Status();
  std::optional<double> scale = last->numbers().find(program_names::lossScale, last->steps());
  if (!guard)
    // Not in `create`: the user may set the first scale before the first run.
    guard.emplace(program.guard(), scale.value_or(1));
  last->numbers().setSkipped(guard->skipped());
  return scale ? giveNumber(program_names::lossScale, guard->lossScale()) : Status();
}

static Expected<int64_t> readInteger(const Tensor &tensor) {
  MESHPLAN_ASSIGN_OR_RETURN(Tensor own, onHost(tensor));
  int64_t integer;
  std::memcpy(&integer, own.data(), sizeof integer);
  return integer;
}

std::string ProgramRunner::describeOutcome() const {
  std::vector<std::string> made, summed;
  for (const NonfiniteNote &note : lastOutcome.notes)
    (note.isSummed ? summed : made).push_back(std::to_string(note.count) + " in the gradient of '" + note.name + "'");
  std::string text = made.empty() ? "" : "this rank produced " + listOfFew(made);
  if (!summed.empty())
    text += (made.empty() ? "" : "; ") + ("sums over ranks produced " + listOfFew(summed));
  return "rank " + std::to_string(last->view().rank()) + ": " + std::to_string(lastOutcome.nonfinite) +
         " elements of the gradients of step " + std::to_string(last->steps()) +
         " are NaN or infinite, and nothing was updated; " + (text.empty() ? "this rank produced none of them" : text);
}

Status ProgramRunner::judge(const NonfiniteNotes &notes) {
  const RankView &view = last->view();
  const artifact::Guard *wanted = view.program().guard();
  if (!wanted)
    return Status();
  const artifact::Port *count = findOutput(view.program(), wanted->output()->string_view());
  MESHPLAN_ASSIGN_OR_RETURN(lastOutcome.nonfinite, readInteger(last->valueOf(count->value())));
  // Also after a good step: a row of them makes a dynamic scale grow. All ranks have the same count, so their guards
  // stay equal without communication.
  guard->take(lastOutcome.nonfinite);
  if (lastOutcome.nonfinite == 0)
    return Status();
  // Read only now: in a good step the counts stay on the device, and the host waits for none of them.
  lastOutcome.notes = notes.read();
  if (!wanted->stops())
    return Status();
  // The rank that made the non-finite elements has the more precise message.
  bool isOwn = !lastOutcome.notes.empty();
  return Status(isOwn ? StatusCode::numericFault : StatusCode::aborted, describeOutcome());
}
