//===- walk.cpp - one rank of a running program ---------------------------===//
//
// A walk sees two tables of tensors, both by index into Program.values:
//
//   held      what outlives a run: parameters, constants, inputs, states, accumulators; the session owns them
//   values    what one run sees: begins as a copy of `held`, gets the results of instructions, loses what is freed
//
// Tensors are references, so the copy costs no memory, and an update in place changes the elements that both tables
// see. An update that makes a new tensor reaches `held` only after the whole run has succeeded (takeUpdates).
//
// One run is: numbers of the step; instructions up to the first update; the action of beforeUpdates; the other
// instructions; a wait for the device; takeUpdates. A checkpoint copies parameters and states before that action ends,
// while nothing changes them.
//
//===----------------------------------------------------------------------===//

#include "runtime/exec/walk.h"

#include "runtime/artifact/call_args.h"
#include "runtime/artifact/vector_range.h"
#include "runtime/exec/load.h"
#include "runtime/exec/numbers/nonfinite_weights.h"
#include "runtime/exec/origin.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace meshplan;

/// The first program for which `isWanted` holds. `name` is for the message.
template <typename Predicate>
static Expected<const artifact::Program *> findProgram(const artifact::Schedule &schedule, std::string_view name,
                                                       Predicate isWanted) {
  std::string names;
  for (const artifact::Program *program : *schedule.programs()) {
    if (isWanted(*program))
      return program;
    names += (names.empty() ? "" : ", ") + program->name()->str();
  }
  return Status::error(StatusCode::notFound, "the schedule has no program '", name, "'; it has ",
                       names.empty() ? "none" : names);
}

Expected<const artifact::Program *> meshplan::findProgram(const artifact::Schedule &schedule, std::string_view name) {
  return ::findProgram(schedule, name,
                       [&](const artifact::Program &each) { return each.name()->string_view() == name; });
}

Expected<const artifact::Program *> meshplan::findProgram(const artifact::Schedule &schedule,
                                                          artifact::ProgramRole role) {
  return ::findProgram(schedule, artifact::EnumNameProgramRole(role),
                       [&](const artifact::Program &each) { return each.role() == role; });
}

Expected<std::unique_ptr<Walk>> Walk::create(std::shared_ptr<Session> session, std::shared_ptr<Batch> batch,
                                             const artifact::Program &program, const OutputNames *asked) {
  std::unique_ptr<Walk> walk(new Walk(std::move(session), program));
  MESHPLAN_ASSIGN_OR_RETURN(walk->program,
                            prepareSteps(walk->rank, walk->owner->groups(), walk->owner->copyLanes(), asked));
  walk->firstUpdate = firstUpdateOf(program);
  for (const artifact::Instruction *instruction : *program.instructions()) {
    walk->when.push_back(instruction->when());
    const artifact::Resume *resume = instruction->action_as_Resume();
    walk->resumes.push_back(resume ? static_cast<size_t>(resume->steps()) : 0);
  }
  for (const artifact::Update &update : elementsOf(program.updates())) {
    walk->updates.push_back(&update);
    // What a deferred instruction adds to an accumulator is added in place.
    if (isAccumulator(program, update.target()) && !walk->deferred.isMade[static_cast<size_t>(update.value())])
      walk->accumulations.push_back(&update);
  }
  MESHPLAN_ASSIGN_OR_RETURN(walk->held, walk->owner->held(walk->rank));
  for (const artifact::Port &input : elementsOf(program.inputs()))
    walk->held[input.value()] = batch->input(input.name()->str());
  return walk;
}

std::vector<Tensor> Walk::heldValues() const {
  std::vector<Tensor> tensors(held.size());
  for (size_t value = 0; value < held.size(); ++value)
    if (held[value])
      tensors[value] = *held[value];
  return tensors;
}

Status Walk::runStep(size_t index, TraceRecorder *recorder) {
  Step &step = *program[index];
  if (!recorder)
    return step.run(values);
  auto begin = Trace::Clock::now();
  Status status = step.run(values);
  MESHPLAN_RETURN_IF_ERROR(status);
  return recorder->add(index, begin, Trace::Clock::now(), step.moved());
}

/// True if the call reads the value, or an alias or copy of it or of a part of it.
static bool reads(const artifact::Program &program, const artifact::Compute &call, int value) {
  for (const artifact::Arg *arg : *call.args())
    // A state may reach the optimizer through slices and copies, such as an offloaded one.
    for (int operand = arg->kind() == artifact::ArgKind::value ? arg->values()->Get(0) : -1; operand >= 0;
         operand = sourceOf(program, operand))
      if (operand == value)
        return true;
  return false;
}

void Walk::countFrom(std::string_view parameter, int64_t steps) {
  const artifact::Program &table = rank.program();
  for (const artifact::State &state : elementsOf(table.states())) {
    // A copy begins as its parameter and not at zero, so it has no count of its own.
    if (state.copies() || state.parameter()->string_view() != parameter)
      continue;
    for (flatbuffers::uoffset_t index = 0; index < table.instructions()->size(); ++index)
      if (const artifact::Compute *call = table.instructions()->Get(index)->action_as_Compute())
        if (valueArg(*call, "step") >= 0 && reads(table, *call, state.value()))
          uncounted[index] = steps;
  }
}

/// Runs an optimizer call whose parameter has its own step count.
Status Walk::runUpdate(size_t index, int64_t uncounted, TraceRecorder *recorder) {
  const artifact::Program &table = rank.program();
  int count = valueArg(*table.instructions()->Get(index)->action_as_Compute(), "step");
  // The operator reads the step count as a tensor. It is replaced for this call only.
  Tensor ofOthers = values[count];
  for (const artifact::Setting *setting : *table.settings())
    if (setting->value() == count) {
      // For a parameter that is trained from step 10 on, step 12 is the third: its averages need the bias correction of
      // a third step, and those of the other parameters the one of a thirteenth.
      MESHPLAN_ASSIGN_OR_RETURN(values[count], settings.tensorAt(*setting, stepsDone, static_cast<double>(uncounted)));
    }
  Status status = runStep(index, recorder);
  values[count] = std::move(ofOthers);
  return status;
}

/// The observed values, by the instruction after which each of them exists.
static std::multimap<size_t, int> momentsOf(const artifact::Program &program, const Observer &observer) {
  std::multimap<size_t, int> moments;
  for (int value : observer.values)
    if (std::optional<size_t> index = producingInstruction(program, value))
      moments.emplace(*index, value);
  return moments;
}

Status Walk::begin(int64_t step, int64_t microbatch) {
  stepsDone = step;
  microbatchNumber = microbatch;
  settings.setMicrobatch(microbatch);
  for (const auto &each : program)
    MESHPLAN_RETURN_IF_ERROR(each->begin(microbatch));
  return Status();
}

/// True if the instance that runs has the step at its own position.
bool Walk::runs(size_t index, bool isLast) const {
  bool isOfFirst = when[index] == artifact::When::first;
  return when[index] == artifact::When::always || (isOfFirst ? microbatchNumber == 0 : isLast);
}

Status Walk::runSteps(bool isLast, Trace *trace, const Observer *observer) {
  // Settings depend on the step number, so they are computed before its first instruction.
  MESHPLAN_RETURN_IF_ERROR(settings.write(stepsDone, values));
  std::multimap<size_t, int> moments;
  if (observer)
    // A value is observed right after it exists, because the plan frees it after its last use.
    moments = momentsOf(rank.program(), *observer);
  if (microbatchNumber == 0 || !trace)
    recorder = trace ? std::make_unique<TraceRecorder>(rank, *trace) : nullptr;
  TraceRecorder *recorded = recorder.get();
  if (recorded)
    MESHPLAN_RETURN_IF_ERROR(recorded->begin(microbatchNumber));
  size_t resumed = 0;
  for (size_t index = 0; index < program.size(); ++index) {
    if (!runs(index, isLast))
      continue;
    if (resumes[index] > 0) {
      MESHPLAN_RETURN_IF_ERROR(resume(resumes[index], resumed));
      continue;
    }
    // Verification guarantees that instances before the last one change no parameter and no state.
    if (isLast && index == firstUpdate)
      MESHPLAN_RETURN_IF_ERROR(beginUpdates());
    auto own = uncounted.find(index);
    MESHPLAN_RETURN_IF_ERROR(own == uncounted.end() ? runStep(index, recorded)
                                                    : runUpdate(index, own->second, recorded));
    for (auto [moment, last] = moments.equal_range(index); moment != last; ++moment)
      observer->see(moment->second, values[moment->second]);
  }
  if (isLast)
    MESHPLAN_RETURN_IF_ERROR(finish());
  return recorded ? recorded->finish() : Status();
}

Status Walk::finish() {
  // A program without updates calls the action too, so that a waiting checkpoint is never left behind.
  if (firstUpdate == program.size())
    MESHPLAN_RETURN_IF_ERROR(beginUpdates());
  // Operators and collectives on a device are asynchronous; wait for them, so that failures show here. Collectives come
  // first: their wait has a time-out and names the missing ranks, and the compute stream may itself wait for a
  // collective of which a peer is missing.
  MESHPLAN_RETURN_IF_ERROR(owner->world().synchronize());
  return synchronizeCompute();
}

void Walk::takeUpdates(bool isLast) {
  // Only after the whole instance has succeeded, so that a failed step does not mix old and new tensors here.
  for (const artifact::Update *update : isLast ? updates : accumulations)
    // In most programs the value is the target itself, updated in place; otherwise the new tensor replaces the old one.
    *held[update->target()] = values[update->value()];
}

Expected<Tensor> Walk::current(std::string_view name) const {
  for (const artifact::Parameter &parameter : elementsOf(rank.program().parameters()))
    // A tied parameter is known by each of its names.
    for (const flatbuffers::String *own : *parameter.names())
      if (own->string_view() == name)
        return *held[parameter.value()];
  for (const artifact::State &state : elementsOf(rank.program().states()))
    if (state.name()->string_view() == name)
      return *held[state.value()];
  return Status::error(StatusCode::notFound, "the program has no parameter or state '", name, "'");
}

int64_t Walk::packedBytes() const {
  int64_t bytes = 0;
  for (const auto &step : program)
    bytes += step->packedBytes();
  return bytes;
}

double Walk::waitedSeconds() const {
  double seconds = 0;
  for (const auto &step : program)
    seconds += step->waitedSeconds();
  return seconds;
}

Status Walk::run(Trace *trace, const Observer *observer) {
  MESHPLAN_RETURN_IF_ERROR(runInstance(/*isLast=*/true, trace, observer));
  ++stepsDone;
  return Status();
}

Status Walk::runEarlier(Trace *trace) { return runInstance(/*isLast=*/false, trace, /*observer=*/nullptr); }

/// Runs the next `steps` deferred steps of the instance before; `next` is the first of them.
Status Walk::resume(size_t steps, size_t &next) {
  size_t first = std::exchange(next, next + steps);
  if (microbatchNumber == 0)
    return Status();
  std::span<const size_t> resumed = std::span(deferred.instructions).subspan(first, steps);
  MESHPLAN_RETURN_IF_ERROR(setMicrobatch(microbatchNumber - 1, resumed));
  for (size_t index : resumed)
    MESHPLAN_RETURN_IF_ERROR(runStep(index, recorder.get()));
  return setMicrobatch(microbatchNumber, resumed);
}

/// What follows belongs to this microbatch: random numbers and slices of the batch depend on it.
Status Walk::setMicrobatch(int64_t number, std::span<const size_t> steps) {
  settings.setMicrobatch(number);
  MESHPLAN_RETURN_IF_ERROR(settings.write(stepsDone, values));
  for (size_t index : steps)
    MESHPLAN_RETURN_IF_ERROR(program[index]->begin(number));
  if (recorder)
    recorder->setMicrobatch(number);
  return Status();
}

/// The values with which an instance begins: those that are held, and what the instances before have left to it.
void Walk::beginValues() {
  // Values share the elements of parameters and states. Instructions that update in place therefore update these.
  std::vector<Tensor> first = heldValues();
  if (microbatchNumber > 0)
    for (size_t value = 0; value < values.size(); ++value)
      if ((deferred.uses(value) || isMadeFirst[value]) && !first[value].defined())
        first[value] = std::move(values[value]);
  values = std::move(first);
}

Status Walk::runInstance(bool isLast, Trace *trace, const Observer *observer) {
  beginValues();
  // Here and not at creation: the memory exists once parameters are loaded.
  MESHPLAN_RETURN_IF_ERROR(owner->registerStorages());
  Status status = runSteps(isLast, trace, observer);
  // The buffers of collectives in flight are freed with this failure, so peers must stop using them first.
  if (!status.ok()) {
    owner->world().abort(Status(StatusCode::peerLost, status.message()));
    return status;
  }
  takeUpdates(isLast);
  return Status();
}
