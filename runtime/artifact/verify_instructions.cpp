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

#include "runtime/artifact/deferred.h"
#include "runtime/artifact/vector_range.h"

#include <algorithm>
#include <map>

namespace meshplan {

namespace {

/// Walks the instructions of instances in order and tracks the state of every value.
///
///   undefined --define--> live --overwrite--> overwritten
///   undefined --start---> arriving --wait--> live
///   live, overwritten --free--> freed
///
/// Only a live value may be used. While a collective or a copy in flight reads a value, it may be used but neither
/// overwritten nor freed (`readers`). A value that is packed in place is the memory of its members, so that what a
/// collective does to it, it does to them.
class Walk {
public:
  Walk(const artifact::Schedule &schedule, const artifact::Program &program)
      : schedule(schedule), program(program), states(program.values()->size(), State::undefined),
        readers(program.values()->size(), 0), isGiven(program.values()->size(), false),
        outlives(program.values()->size(), false), isNext(program.values()->size(), false),
        isMadeFirst(madeByFirst(program)) {
    // verifyProgram has checked the indices of updates.
    for (const artifact::Update &update : elementsOf(program.updates()))
      isNext[update.value()] = isAccumulator(program, update.target());
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
  bool isLinked() const {
    return !deferred.instructions.empty() ||
           std::find(isMadeFirst.begin(), isMadeFirst.end(), true) != isMadeFirst.end();
  }

private:
  enum class State : uint8_t { undefined, live, arriving, overwritten, freed };

  Status give(int32_t value);
  Status instruction(const artifact::Instruction &instruction);
  Status finish();
  Status resume(const artifact::Resume &resume);
  void beginFollowing();
  Status define(int32_t value);
  Status use(int32_t value) const;
  Status action(const artifact::Instruction &instruction);
  Status compute(const artifact::Compute &compute);
  Status overwrite(int32_t value);
  Status mayChange(int32_t value) const;
  Status memories(const artifact::Compute &compute) const;
  Status onDevice(int32_t value) const;
  Status tensor(int32_t value) const;
  Status defineTensor(int32_t value);
  void follow(int32_t old, int32_t made);
  std::vector<int32_t> tensorsIn(int32_t value) const;
  std::vector<int32_t> readBy(int32_t input) const;
  Status beginFlight(int64_t sequence, int32_t input, int32_t output);
  Status start(const artifact::Start &start);
  Status copy(const artifact::Copy &copy);
  Status takePacked(const artifact::Start &start);
  Status target(const artifact::Start &start);
  Status coalesced(const artifact::Start &start) const;
  Status wait(const artifact::Wait &wait);
  Status pack(const artifact::PackRun &pack);
  Status packInPlace(const artifact::PackRun &pack) const;
  Status unpack(const artifact::UnpackRun &unpack);
  Status slice(const artifact::Slice &slice);
  Status free(int32_t value);

  const artifact::Value &valueAt(int32_t index) const { return *program.values()->Get(index); }

  const artifact::Schedule &schedule;
  const artifact::Program &program;
  bool isFirst = true, isLast = true; // the instance that is walked
  bool isResuming = false;            // the instruction is one of the instance before
  std::vector<State> states;
  std::vector<int32_t> readers;  // collectives and copies in flight that read the value
  std::vector<bool> isGiven;     // no instruction produces the value
  std::vector<bool> outlives;    // given and no accumulator, or a view of such a value
  std::vector<bool> isNext;      // the next value of an accumulator
  std::vector<bool> isMadeFirst; // by an instruction of the first instance
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
  DeferredInstructions deferred{program};
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

Status Walk::define(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
  if (states[value] != State::undefined)
    return corrupted("value ", value, " is defined twice");
  states[value] = State::live;
  return Status();
}

Status Walk::give(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(define(value));
  isGiven[value] = true;
  outlives[value] = !isAccumulator(program, value);
  return Status();
}

Status Walk::use(int32_t value) const {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
  switch (states[value]) {
  case State::live:
    return Status();
  case State::undefined:
    return corrupted("value ", value, " is used before it is defined");
  case State::arriving:
    return corrupted("value ", value, " is used before the wait that gives it");
  case State::overwritten:
    return corrupted("value ", value, " is used after it was overwritten");
  case State::freed:
    return corrupted("value ", value, " is used after it was freed");
  }
  return corrupted("value ", value, " has no state");
}

/// Uses a value that must not be packed.
Status Walk::tensor(int32_t value) const {
  MESHPLAN_RETURN_IF_ERROR(use(value));
  return isPacked(valueAt(value)) ? corrupted("value ", value, " is packed") : Status();
}

Status Walk::defineTensor(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(define(value));
  return isPacked(valueAt(value)) ? corrupted("value ", value, " is packed") : Status();
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
    return verifyArgument(*arg, program, [&](int32_t value) { return tensor(value); });
  }));
  MESHPLAN_RETURN_IF_ERROR(
      verifyEach("overwrites", compute.overwrites(), [&](int32_t value) { return overwrite(value); }));
  MESHPLAN_RETURN_IF_ERROR(memories(compute));
  for (int64_t i = 0; i < std::min(sizeOf(compute.overwrites()), sizeOf(compute.outputs())); ++i)
    follow(compute.overwrites()->Get(i), compute.outputs()->Get(i));
  return verifyEach("outputs", compute.outputs(),
                    [&](int32_t value) { return value == -1 ? Status() : defineTensor(value); });
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

/// The next microbatch must find parameters, states and inputs as they were.
Status Walk::mayChange(int32_t value) const {
  return !isLast && outlives[value]
             ? corrupted("value ", value, " is overwritten, and is neither an accumulator nor a temporary")
             : Status();
}

Status Walk::overwrite(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(use(value));
  MESHPLAN_RETURN_IF_ERROR(mayChange(value));
  if (readers[value] > 0)
    return corrupted("value ", value, " is overwritten before the wait of what reads it");
  states[value] = State::overwritten;
  return Status();
}

Status Walk::start(const artifact::Start &start) {
  if (sizeOf(program.devices()) > 0)
    // Its communicators would be those of the schedule's mesh, in which such a program has no rank.
    return corrupted("a collective in a program with devices of its own");
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("communicator", start.communicator(), schedule.communicators()));
  MESHPLAN_RETURN_IF_ERROR(use(start.input()).withContext("input"));
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", start.output(), program.values()).withContext("output"));
  MESHPLAN_RETURN_IF_ERROR(takePacked(start));
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
  MESHPLAN_RETURN_IF_ERROR(define(output).withContext("output"));
  // Not live before the wait, although the tensor exists: its elements arrive at any time until then.
  states[output] = State::arriving;
  // A number and not a mark: several collectives and copies in flight may read the same value.
  for (int32_t value : readBy(input))
    ++readers[value];
  return Status();
}

/// The output is the same tensor in the other memory.
Status Walk::copy(const artifact::Copy &copy) {
  MESHPLAN_RETURN_IF_ERROR(tensor(copy.input()).withContext("input"));
  if (copy.target() != -1) {
    MESHPLAN_RETURN_IF_ERROR(tensor(copy.target()).withContext("target"));
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
    MESHPLAN_RETURN_IF_ERROR(use(start.target()).withContext("target"));
    if (isPacked(valueAt(start.target())) && !inPlace.contains(start.target()))
      return corrupted("target ", start.target(), " is packed, but not in place");
    taken.insert(start.target());
  }
  for (int32_t value : taken) {
    if (isPacked(valueAt(value)) && packs.erase(value) == 0)
      return corrupted("value ", value, " is packed, but not for this collective");
    for (int32_t member : tensorsIn(value))
      MESHPLAN_RETURN_IF_ERROR(use(member));
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
  for (int32_t value : replaced) {
    if (readers[value] > 0)
      return corrupted("target ", value, " is overwritten before the wait of what reads it");
    MESHPLAN_RETURN_IF_ERROR(mayChange(value));
    states[value] = State::overwritten;
  }
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
  states[found->second.output] = State::live;
  for (int32_t value : readBy(found->second.input))
    --readers[value];
  inFlight.erase(found);
  return Status();
}

/// The inputs are the members of the output.
Status Walk::pack(const artifact::PackRun &pack) {
  MESHPLAN_RETURN_IF_ERROR(verifyEach("inputs", pack.inputs(), [&](int32_t value) { return tensor(value); }));
  MESHPLAN_RETURN_IF_ERROR(define(pack.output()).withContext("output"));
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
  MESHPLAN_RETURN_IF_ERROR(use(unpack.input()).withContext("input"));
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
    MESHPLAN_RETURN_IF_ERROR(tensor(value));
    MESHPLAN_RETURN_IF_ERROR(onDevice(value));
    return overwrite(value);
  }));
  for (int64_t i = 0; i < targets; ++i) {
    int32_t target = unpack.targets()->Get(i), output = unpack.outputs()->Get(i);
    MESHPLAN_RETURN_IF_ERROR(verifySameParts(valueAt(output), valueAt(target)));
    follow(target, output);
  }
  return verifyEach("outputs", unpack.outputs(), [&](int32_t value) { return define(value); });
}

Status Walk::slice(const artifact::Slice &slice) {
  MESHPLAN_RETURN_IF_ERROR(tensor(slice.input()).withContext("input"));
  MESHPLAN_RETURN_IF_ERROR(defineTensor(slice.output()).withContext("output"));
  MESHPLAN_RETURN_IF_ERROR(onDevice(slice.input()));
  MESHPLAN_RETURN_IF_ERROR(onDevice(slice.output()));
  outlives[slice.output()] = outlives[slice.input()];
  return verifySlice(valueAt(slice.input()), valueAt(slice.output()));
}

Status Walk::free(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
  // Allowed: the memory of an overwritten value belongs to its new value, so this frees nothing.
  if (states[value] != State::overwritten)
    MESHPLAN_RETURN_IF_ERROR(use(value));
  if (readers[value] > 0)
    return corrupted("value ", value, " is freed before the wait of what reads it");
  states[value] = State::freed;
  return Status();
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
    return verifyEach("values", instruction.action_as_Free()->values(), [&](int32_t value) { return free(value); });
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
  // This instance may make the values again that no other resumed instruction uses.
  for (size_t value = 0; value < states.size(); ++value)
    if (!isMadeFirst[value] && deferred.lastUse[value] >= static_cast<int64_t>(first) &&
        deferred.lastUse[value] < static_cast<int64_t>(resumed)) {
      bool isOver = isGiven[value] || isNext[value] || states[value] != State::live;
      if (!isOver)
        return corrupted("value ", value, " of the instance before is not freed");
      states[value] = isGiven[value] ? State::live : State::undefined;
    }
  return Status();
}

/// The values of the instance before are over, except those that its deferred instructions use, and what the first
/// instance has made.
void Walk::beginFollowing() {
  for (size_t value = 0; value < states.size(); ++value)
    if (!deferred.uses(value) && !isMadeFirst[value])
      states[value] = State::undefined;
  lastSequence = -1;
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
  if (!isFirst)
    beginFollowing();
  for (int32_t value : given)
    // What deferred instructions use is still there.
    if (isFirst || !deferred.uses(static_cast<size_t>(value)))
      MESHPLAN_RETURN_IF_ERROR(give(value));
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
      return isAccumulator(program, update->target()) && !isLater ? tensor(update->value()) : Status();
    });
  MESHPLAN_RETURN_IF_ERROR(verifyEach("gradients", program.gradients(), [&](const artifact::Gradient *gradient) {
    // A gradient that the program starts with would be an input, not a gradient.
    bool isMade = states[gradient->value()] != State::undefined && !isGiven[gradient->value()];
    return isMade ? Status() : corrupted("no instruction produces value ", gradient->value());
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("updates", program.updates(), [&](const artifact::Update *update) {
    // The value may be overwritten: a reduction may have used the accumulator as its target.
    bool isOver = states[update->value()] == State::overwritten && isAccumulator(program, update->target());
    return isOver ? Status() : tensor(update->value());
  }));
  return verifyEach("outputs", program.outputs(), [&](const artifact::Port *port) { return tensor(port->value()); });
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
