//===- verify_instructions.cpp - order and lifetimes in a program ---------===//
//
// The runtime frees, overwrites and sends what the instructions say, without looking. So this walk decides, once per
// load, that no instruction can touch memory that is not there. Its cost is one visit of each operand, because a
// program is a list without branches.
//
// All instructions are walked, as of a program that runs once. A program that a timeline runs several times is three
// lists: those of the first instance, of one between the first and the last, and of the last. They are walked one after
// the other: what is in flight at the end of one is in flight in the next, and what instructions of the first instance
// make is there for all.
//
// Example: start 3 reads v5 into v6; compute overwrites v5; wait 3. Between start and wait the backend still reads v5,
// so the compute is refused. After the wait it would be right.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/meaning.h"

#include "runtime/artifact/value_states.h"
#include "runtime/artifact/vector_range.h"

#include <algorithm>
#include <map>

namespace meshplan {

namespace {

/// Walks the instructions of instances in order, with the state of every value. A value that is packed in place is the
/// memory of its members, so that what a collective does to it, it does to them.
class Walk {
public:
  Walk(const artifact::Schedule &schedule, const artifact::Program &program) : schedule(schedule), program(program) {
    size_t number = 0;
    for (const artifact::Buffer &buffer : elementsOf(program.buffers())) {
      for (flatbuffers::uoffset_t position = 0; position < buffer.values()->size(); ++position)
        locations[buffer.values()->Get(position)] = {number, position};
      ++number;
    }
  }

  /// Walks an instance, which comes after those that were walked before it, with the values that are defined before its
  /// first instruction.
  Status instance(std::span<const int32_t> given, bool isFirst, bool isLast);

  /// True if a later instance depends on what an earlier one has left to it.
  bool isLinked() const { return !deferred.instructions.empty() || values.hasMadeFirst(); }

private:
  Status instruction(const artifact::Instruction &instruction);
  Status finish();
  Status resume(const artifact::Resume &resume);
  Status action(const artifact::Instruction &instruction);
  Status compute(const artifact::Compute &compute);
  Status overwrite(int32_t value) { return values.overwrite(value, isLast); }
  Status memories(const artifact::Compute &compute) const;
  Status onDevice(int32_t value) const;
  void follow(int32_t old, int32_t made);
  std::vector<int32_t> tensorsIn(int32_t value) const;
  std::vector<int32_t> readBy(int32_t input) const;
  Status beginFlight(int64_t sequence, int32_t input, int32_t output);
  Status start(const artifact::Start &start);
  Status copy(const artifact::Copy &copy);
  Status takePacked(const artifact::Start &start);
  Status counts(const artifact::Start &start) const;
  Status target(const artifact::Start &start);
  Status coalesced(const artifact::Start &start) const;
  Status wait(const artifact::Wait &wait);
  Status pack(const artifact::PackRun &pack);
  Status packInPlace(const artifact::PackRun &pack) const;
  Status unpack(const artifact::UnpackRun &unpack);
  Status slice(const artifact::Slice &slice);

  const artifact::Value &valueAt(int32_t index) const { return *program.values()->Get(index); }

  const artifact::Schedule &schedule;
  const artifact::Program &program;
  DeferredInstructions deferred{program};
  ValueStates values{program, deferred};
  bool isFirst = true, isLast = true; // the instance that is walked
  bool isResuming = false;            // the instruction is one of the instance before
  /// A collective or a copy in flight: what it reads and what it gives.
  struct Flight {
    int32_t input, output;
  };
  std::map<int32_t, Flight> inFlight;                     // by sequence
  std::map<int32_t, std::pair<size_t, size_t>> locations; // by value: its buffer, and the position in it
  std::map<int32_t, const artifact::PackRun *> packs;     // by output: those that no collective has taken yet
  std::set<int32_t> inPlace;                              // outputs of packs in place
  std::map<int32_t, const artifact::Start *> received;    // by output that is packed: not unpacked yet
  int64_t lastSequence = -1;
  size_t resumed = 0; // of `deferred.instructions`
};

/// What may follow from a collective or copy that is in flight between instances: also further collectives.
bool mayBeDeferred(artifact::Action action) {
  switch (action) {
  case artifact::Action::Wait:
  case artifact::Action::UnpackRun:
  case artifact::Action::Compute:
  case artifact::Action::Slice:
  case artifact::Action::PackRun:
  case artifact::Action::Start:
  case artifact::Action::Free:
    return true;
  default:
    return false;
  }
}

/// A value that is made in place of another one has its location.
void Walk::follow(int32_t old, int32_t made) {
  if (auto found = locations.find(old); found != locations.end())
    locations[made] = found->second;
}

/// The values whose memory a value is: itself, or its members if it is packed in place.
std::vector<int32_t> Walk::tensorsIn(int32_t value) const {
  return inPlace.contains(value) ? membersOf(program, value) : std::vector<int32_t>{value};
}

/// What a collective or a copy with this input reads while it is in flight.
std::vector<int32_t> Walk::readBy(int32_t input) const {
  std::vector<int32_t> read = tensorsIn(input);
  if (inPlace.contains(input))
    read.push_back(input);
  return read;
}

Status Walk::compute(const artifact::Compute &compute) {
  // The order of the checks: arguments are used before values are overwritten, and outputs are defined last, because a
  // call may read what it overwrites.
  if (compute.target()->size() == 0)
    return corrupted("no target");
  MESHPLAN_RETURN_IF_ERROR(verifyEach("args", compute.args(), [&](const artifact::Arg *arg) {
    return verifyArgument(*arg, program, [&](int32_t value) { return values.useTensor(value); });
  }));
  MESHPLAN_RETURN_IF_ERROR(
      verifyEach("overwrites", compute.overwrites(), [&](int32_t value) { return overwrite(value); }));
  MESHPLAN_RETURN_IF_ERROR(memories(compute));
  for (int64_t i = 0; i < std::min(sizeOf(compute.overwrites()), sizeOf(compute.outputs())); ++i)
    follow(compute.overwrites()->Get(i), compute.outputs()->Get(i));
  return verifyEach("outputs", compute.outputs(),
                    [&](int32_t value) { return value == -1 ? Status() : values.defineTensor(value); });
}

/// An output that overwrites another value is in the same memory, host or device.
Status Walk::memories(const artifact::Compute &compute) const {
  for (int64_t i = 0; i < std::min(sizeOf(compute.overwrites()), sizeOf(compute.outputs())); ++i) {
    int32_t old = compute.overwrites()->Get(i), made = compute.outputs()->Get(i);
    MESHPLAN_RETURN_IF_ERROR(made == -1 ? Status() : verifyIndex("value", made, program.values()));
    if (made != -1 && valueAt(old).host() != valueAt(made).host())
      return corrupted("value ", made, " overwrites value ", old, " of the other memory");
  }
  return Status();
}

/// Collectives and slices work on device memory only.
Status Walk::onDevice(int32_t value) const {
  return valueAt(value).host() ? corrupted("value ", value, " is on the host") : Status();
}

Status Walk::start(const artifact::Start &start) {
  if (sizeOf(program.devices()) > 0)
    // Its communicators would be those of the schedule's mesh, in which such a program has no rank.
    return corrupted("a collective in a program with devices of its own");
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("communicator", start.communicator(), schedule.communicators()));
  MESHPLAN_RETURN_IF_ERROR(values.use(start.input()).withContext("input"));
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", start.output(), program.values()).withContext("output"));
  MESHPLAN_RETURN_IF_ERROR(takePacked(start));
  MESHPLAN_RETURN_IF_ERROR(counts(start).withContext("counts"));
  MESHPLAN_RETURN_IF_ERROR(target(start));
  MESHPLAN_RETURN_IF_ERROR(beginFlight(start.sequence(), start.input(), start.output()));
  if (isPacked(valueAt(start.output())))
    received[start.output()] = &start;
  return coalesced(start);
}

Status Walk::beginFlight(int64_t sequence, int32_t input, int32_t output) {
  // A wait finds its start by this number, so it must increase; a resumed start has one of the instance before.
  if (!isResuming && sequence <= lastSequence)
    return corrupted("sequence ", sequence, " after ", lastSequence);
  if (!isResuming)
    lastSequence = sequence;
  if (!inFlight.try_emplace(static_cast<int32_t>(sequence), input, output).second)
    return corrupted("sequence ", sequence, " is in flight since the instance before");
  MESHPLAN_RETURN_IF_ERROR(values.define(output).withContext("output"));
  values.beginArrival(output);
  for (int32_t value : readBy(input))
    values.beginRead(value);
  return Status();
}

/// The counts of an exchange: a number for each rank of the group and each of the experts that a rank has before it.
Status Walk::counts(const artifact::Start &start) const {
  if (start.counts() == -1)
    return Status();
  MESHPLAN_RETURN_IF_ERROR(values.useTensor(start.counts()));
  const artifact::Value &value = valueAt(start.counts());
  const artifact::Value &input = valueAt(start.input()), &output = valueAt(start.output());
  // Arrivals are of some of these experts.
  const artifact::Value &rows = input.routed() && input.routed()->kind() == artifact::RoutedKind::rows ? input : output;
  int64_t ranks = shardCount(axesOf(schedule.communicators()->Get(start.communicator())->axes()));
  if (value.dtype() != artifact::DType::i64 || value.dims()->size() != 2 || value.routed() || isFlat(value) ||
      value.partial() != artifact::Reduction::none || rows.dims()->size() == 0 ||
      value.dims()->Get(0)->extent() != ranks || !axesOf(value.dims()->Get(0)->axes()).empty() ||
      value.dims()->Get(1)->extent() != rows.dims()->Get(0)->extent())
    return corrupted("value ", start.counts(), " is not i64 [", ranks, ", experts]");
  return isDividedAlike(*value.dims()->Get(1), *rows.dims()->Get(0))
             ? Status()
             : corrupted("value ", start.counts(), " is not divided as the experts of the rows");
}

/// The output is the same tensor in the other memory.
Status Walk::copy(const artifact::Copy &copy) {
  MESHPLAN_RETURN_IF_ERROR(values.useTensor(copy.input()).withContext("input"));
  if (copy.target() != -1) {
    MESHPLAN_RETURN_IF_ERROR(values.useTensor(copy.target()).withContext("target"));
    MESHPLAN_RETURN_IF_ERROR(overwrite(copy.target()).withContext("target"));
    follow(copy.target(), copy.output());
  }
  MESHPLAN_RETURN_IF_ERROR(beginFlight(copy.sequence(), copy.input(), copy.output()));
  const artifact::Value &input = valueAt(copy.input()), &output = valueAt(copy.output());
  if (isPacked(output))
    return corrupted("output: value ", copy.output(), " is packed");
  MESHPLAN_RETURN_IF_ERROR(verifySameLayout(input, output).withContext("output"));
  if (input.host() == output.host())
    return corrupted("value ", copy.output(), " is in the same memory as the input ", copy.input());
  if (copy.target() == -1)
    return Status();
  const artifact::Value &target = valueAt(copy.target());
  MESHPLAN_RETURN_IF_ERROR(verifySameLayout(target, output).withContext("target"));
  return target.host() == output.host() ? Status()
                                        : corrupted("target ", copy.target(), " is in the memory of the input");
}

/// What is packed is taken by one collective; what is packed in place is still there.
Status Walk::takePacked(const artifact::Start &start) {
  std::set<int32_t> taken{start.input()};
  if (start.target() != -1) {
    MESHPLAN_RETURN_IF_ERROR(values.use(start.target()).withContext("target"));
    if (isPacked(valueAt(start.target())) && !inPlace.contains(start.target()))
      return corrupted("target ", start.target(), " is packed, but not in place");
    taken.insert(start.target());
  }
  for (int32_t value : taken) {
    if (isPacked(valueAt(value)) && packs.erase(value) == 0)
      return corrupted("value ", value, " is packed, but not for this collective");
    for (int32_t member : tensorsIn(value))
      MESHPLAN_RETURN_IF_ERROR(values.use(member));
  }
  return Status();
}

/// The target has the extents and the sharding of the output. It may be the input of the collective itself.
Status Walk::target(const artifact::Start &start) {
  if (start.target() == -1)
    return Status();
  std::vector<int32_t> outputs = membersOf(program, start.output()), targets = membersOf(program, start.target());
  if (outputs.size() != targets.size())
    return corrupted(targets.size(), " tensors in the target of ", outputs.size());
  for (size_t i = 0; i < targets.size(); ++i)
    MESHPLAN_RETURN_IF_ERROR(verifySameParts(valueAt(outputs[i]), valueAt(targets[i])));
  std::set<int32_t> replaced{start.target()};
  for (int32_t value : tensorsIn(start.target())) {
    MESHPLAN_RETURN_IF_ERROR(onDevice(value));
    replaced.insert(value);
  }
  if (!isPacked(valueAt(start.target())))
    follow(start.target(), start.output());
  for (size_t i = 0; isPacked(valueAt(start.target())) && i < targets.size(); ++i)
    follow(targets[i], outputs[i]);
  for (int32_t value : replaced)
    MESHPLAN_RETURN_IF_ERROR(values.overwriteTarget(value, isLast));
  return Status();
}

/// Checks the tensors that the collective moves.
Status Walk::coalesced(const artifact::Start &start) const {
  std::vector<int32_t> inputs = membersOf(program, start.input()), outputs = membersOf(program, start.output());
  if (inputs.size() != outputs.size())
    return corrupted(inputs.size(), " inputs and ", outputs.size(), " outputs");
  std::vector<AxisRef> group = axesOf(schedule.communicators()->Get(start.communicator())->axes());
  MESHPLAN_RETURN_IF_ERROR(forEachMoved(program, start, [&](int32_t input, int32_t output) -> Status {
    MESHPLAN_RETURN_IF_ERROR(onDevice(input));
    MESHPLAN_RETURN_IF_ERROR(onDevice(output));
    return verifyStart(start, valueAt(input), valueAt(output), group);
  }));
  bool isOfOne = inputs.size() == 1 && start.target() == -1;
  // Not every backend can reduce a buffer with max or min itself. An all-gather along a dim moves one tensor.
  if ((isAboutFlat(start) || !isOfOne) && start.reduction() > artifact::Reduction::sum)
    return corrupted("flat tensors, or several, in a reduction that is not a sum");
  if (!isOfOne && !isAboutFlat(start) && start.kind() != artifact::CollectiveKind::all_reduce)
    return corrupted("several tensors, or a target, in a collective that moves one tensor along dims");
  return Status();
}

Status Walk::wait(const artifact::Wait &wait) {
  auto found = inFlight.find(wait.sequence());
  if (found == inFlight.end())
    return corrupted("no collective or copy ", wait.sequence(), " is in flight");
  values.endArrival(found->second.output);
  for (int32_t value : readBy(found->second.input))
    values.endRead(value);
  inFlight.erase(found);
  return Status();
}

/// The inputs are the members of the output.
Status Walk::pack(const artifact::PackRun &pack) {
  MESHPLAN_RETURN_IF_ERROR(verifyEach("inputs", pack.inputs(), [&](int32_t value) { return values.useTensor(value); }));
  MESHPLAN_RETURN_IF_ERROR(values.define(pack.output()).withContext("output"));
  if (!isPacked(valueAt(pack.output())) || !std::ranges::equal(membersOf(program, pack.output()), *pack.inputs()))
    return corrupted("value ", pack.output(), " does not have the inputs as members");
  packs[pack.output()] = &pack;
  if (!pack.in_place())
    return Status();
  inPlace.insert(pack.output());
  return packInPlace(pack);
}

/// Without it, a collective would silently move the elements of other tensors.
Status Walk::packInPlace(const artifact::PackRun &pack) const {
  std::optional<std::pair<size_t, size_t>> next;
  for (int32_t value : *pack.inputs()) {
    auto found = locations.find(value);
    if (found == locations.end() || (next && found->second != *next))
      return corrupted("value ", value, " is packed in place, but does not follow the one before it in a buffer");
    next = {found->second.first, found->second.second + 1};
  }
  return Status();
}

/// The outputs are the members of the input, which a collective has given.
Status Walk::unpack(const artifact::UnpackRun &unpack) {
  MESHPLAN_RETURN_IF_ERROR(values.use(unpack.input()).withContext("input"));
  auto from = received.find(unpack.input());
  if (from == received.end())
    return corrupted("value ", unpack.input(), " is not a packed output of a collective, or was unpacked before");
  if (!std::ranges::equal(membersOf(program, unpack.input()), *unpack.outputs()))
    return corrupted("value ", unpack.input(), " does not have the outputs as members");
  received.erase(from);
  int64_t targets = sizeOf(unpack.targets());
  if (targets != 0 && (unpack.in_place() || targets != sizeOf(unpack.outputs())))
    return corrupted(targets, " targets of ", sizeOf(unpack.outputs()), " outputs",
                     unpack.in_place() ? " that are unpacked in place" : "");
  MESHPLAN_RETURN_IF_ERROR(verifyEach("targets", unpack.targets(), [&](int32_t value) -> Status {
    MESHPLAN_RETURN_IF_ERROR(values.useTensor(value));
    MESHPLAN_RETURN_IF_ERROR(onDevice(value));
    return overwrite(value);
  }));
  for (int64_t i = 0; i < targets; ++i) {
    int32_t target = unpack.targets()->Get(i), output = unpack.outputs()->Get(i);
    MESHPLAN_RETURN_IF_ERROR(verifySameParts(valueAt(output), valueAt(target)));
    follow(target, output);
  }
  return verifyEach("outputs", unpack.outputs(), [&](int32_t value) { return values.define(value); });
}

Status Walk::slice(const artifact::Slice &slice) {
  MESHPLAN_RETURN_IF_ERROR(values.useTensor(slice.input()).withContext("input"));
  MESHPLAN_RETURN_IF_ERROR(values.defineTensor(slice.output()).withContext("output"));
  MESHPLAN_RETURN_IF_ERROR(onDevice(slice.input()));
  MESHPLAN_RETURN_IF_ERROR(onDevice(slice.output()));
  values.setView(slice.output(), slice.input());
  return verifySlice(valueAt(slice.input()), valueAt(slice.output()));
}

Status Walk::action(const artifact::Instruction &instruction) {
  switch (instruction.action_type()) {
  case artifact::Action::Compute:
    return compute(*instruction.action_as_Compute());
  case artifact::Action::Start:
    return start(*instruction.action_as_Start());
  case artifact::Action::Wait:
    return wait(*instruction.action_as_Wait());
  case artifact::Action::Slice:
    return slice(*instruction.action_as_Slice());
  case artifact::Action::Copy:
    return copy(*instruction.action_as_Copy());
  case artifact::Action::PackRun:
    return pack(*instruction.action_as_PackRun());
  case artifact::Action::UnpackRun:
    return unpack(*instruction.action_as_UnpackRun());
  case artifact::Action::Free:
    return verifyEach("values", instruction.action_as_Free()->values(),
                      [&](int32_t value) { return values.free(value); });
  case artifact::Action::Resume:
    return resume(*instruction.action_as_Resume());
  case artifact::Action::NONE:
    break;
  }
  return corrupted("action ", int(instruction.action_type()), " does not exist");
}

/// The deferred instructions of the instance before. They may do what every instance may.
Status Walk::resume(const artifact::Resume &resume) {
  if (resume.steps() < 0 || static_cast<size_t>(resume.steps()) > deferred.instructions.size() - resumed)
    return corrupted("it resumes ", resume.steps(), " instructions of ", deferred.instructions.size() - resumed);
  size_t first = resumed;
  resumed += static_cast<size_t>(resume.steps());
  if (isFirst)
    return Status();
  bool wasLast = std::exchange(isLast, false);
  isResuming = true;
  for (size_t index = first; index < resumed; ++index)
    MESHPLAN_RETURN_IF_ERROR(
        action(*program.instructions()->Get(static_cast<flatbuffers::uoffset_t>(deferred.instructions[index])))
            .withContext("instructions[" + std::to_string(deferred.instructions[index]) + "] of the instance before"));
  isLast = wasLast;
  isResuming = false;
  return values.endResumed(first, resumed);
}

Status Walk::instruction(const artifact::Instruction &instruction) {
  if (instruction.origin() != -1)
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("origin", instruction.origin(), schedule.origins()));
  if (instruction.when() < artifact::When::MIN || instruction.when() > artifact::When::MAX)
    return corrupted("when ", int(instruction.when()), " does not exist");
  bool isOfFirst = instruction.when() == artifact::When::first;
  bool isOfEvery = instruction.when() == artifact::When::always;
  bool isAboutInstances = !isOfEvery || instruction.action_type() == artifact::Action::Resume;
  if (isAboutInstances && program.role() == artifact::ProgramRole::microbatch)
    return corrupted("it runs only in the ", isOfFirst ? "first" : "last",
                     " instance of a timeline, which is none of this program");
  if (instruction.when() == artifact::When::deferred && !mayBeDeferred(instruction.action_type()))
    return corrupted("only what follows from a collective can be deferred");
  return isOfEvery || (isOfFirst ? isFirst : isLast) ? action(instruction) : Status();
}

Status Walk::instance(std::span<const int32_t> given, bool isFirstInstance, bool isLastInstance) {
  isFirst = isFirstInstance;
  isLast = isLastInstance;
  resumed = 0;
  if (!isFirst) {
    values.beginFollowing();
    lastSequence = -1;
  }
  for (int32_t value : given)
    // What deferred instructions use is still there.
    if (isFirst || !deferred.uses(static_cast<size_t>(value)))
      MESHPLAN_RETURN_IF_ERROR(values.give(value));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("instructions", program.instructions(),
                                      [&](const artifact::Instruction *each) { return instruction(*each); }));
  return finish();
}

Status Walk::finish() {
  for (const auto &[sequence, flight] : inFlight)
    if (isLast || !deferred.waits.contains(sequence))
      return corrupted("collective or copy ", sequence, " has no wait");
  if (!packs.empty())
    return corrupted("value ", packs.begin()->first, " is packed for no collective");
  for (const auto &[value, start] : received)
    if (isLast || !deferred.waits.contains(start->sequence()))
      return corrupted("value ", value, " is not unpacked");
  if (resumed != deferred.instructions.size())
    return corrupted("it resumes ", resumed, " instructions, but defers ", deferred.instructions.size());
  if (!isLast)
    return verifyEach("updates", program.updates(), [&](const artifact::Update *update) {
      // Outputs and other updates are those of the last instance.
      bool isLater = deferred.isMade[static_cast<size_t>(update->value())];
      return isAccumulator(program, update->target()) && !isLater ? values.useTensor(update->value()) : Status();
    });
  MESHPLAN_RETURN_IF_ERROR(verifyEach("gradients", program.gradients(), [&](const artifact::Gradient *gradient) {
    // A gradient that the program starts with would be an input, not a gradient.
    return values.isMade(gradient->value()) ? Status() : corrupted("no instruction produces value ", gradient->value());
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("updates", program.updates(), [&](const artifact::Update *update) {
    // The value may be overwritten: a reduction may have used the accumulator as its target.
    bool isOver = values.isOverwritten(update->value()) && isAccumulator(program, update->target());
    return isOver ? Status() : values.useTensor(update->value());
  }));
  return verifyEach("outputs", program.outputs(),
                    [&](const artifact::Port *port) { return values.useTensor(port->value()); });
}

} // namespace

Status verifyInstructions(const artifact::Schedule &schedule, const artifact::Program &program,
                          std::span<const int32_t> defined) {
  MESHPLAN_RETURN_IF_ERROR(Walk(schedule, program).instance(defined, /*isFirst=*/true, /*isLast=*/true));
  bool isMicrobatch = program.role() == artifact::ProgramRole::microbatch;
  int64_t instances = isMicrobatch ? 1 : instancesOf(schedule, program);
  if (!isMicrobatch && instances == 1)
    return Status();
  Walk walk(schedule, program);
  MESHPLAN_RETURN_IF_ERROR(
      walk.instance(defined, /*isFirst=*/true, /*isLast=*/false).withContext("before the last microbatch"));
  if (isMicrobatch || !walk.isLinked())
    return Status();
  if (instances > 2)
    MESHPLAN_RETURN_IF_ERROR(
        walk.instance(defined, /*isFirst=*/false, /*isLast=*/false).withContext("in the second microbatch"));
  return walk.instance(defined, /*isFirst=*/false, /*isLast=*/true).withContext("in the last microbatch");
}

} // namespace meshplan
