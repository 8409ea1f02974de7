//===- verify_instructions.cpp - order and lifetimes in a program ---------===//
//
// The runtime frees, overwrites and sends what the instructions say, without looking. So this walk decides, once per
// load, that no instruction can touch memory that is not there. Its cost is one visit of each operand, because a
// program is a list without branches.
//
// Example: start 3 reads v5 into v6; compute overwrites v5; wait 3. Between start and wait the backend still reads v5,
// so the compute is refused. After the wait it would be right.
//
// Rank-dependent integers are checked for every rank at once, by their bounds: the check does not visit ranks, and a
// file is accepted or refused by all of them alike.
//
//===----------------------------------------------------------------------===//

#include "runtime/artifact/meaning.h"

#include "runtime/artifact/vector_range.h"

#include <algorithm>
#include <map>

namespace meshplan {

namespace {

/// Walks the instructions in order and tracks the state of every value.
///
///   undefined --define--> live --overwrite--> overwritten
///   undefined --start---> arriving --wait--> live
///   live, overwritten --free--> freed
///
/// Only a live value may be used. While a collective in flight reads a value, it may be used but neither overwritten
/// nor freed (`readers`).
class Walk {
public:
  Walk(const artifact::Schedule &schedule, const artifact::Program &program)
      : schedule(schedule), program(program), states(program.values()->size(), State::undefined),
        readers(program.values()->size(), 0), isGiven(program.values()->size(), false) {}

  /// Marks a value as defined before the first instruction.
  Status give(int32_t value);
  Status instruction(const artifact::Instruction &instruction);
  Status finish();

private:
  enum class State : uint8_t { undefined, live, arriving, overwritten, freed };

  Status define(int32_t value);
  Status use(int32_t value) const;
  Status action(const artifact::Instruction &instruction);
  Status compute(const artifact::Compute &compute);
  Status overwrite(int32_t value);
  Status memories(const artifact::Compute &compute) const;
  Status onDevice(int32_t value) const;
  Status argument(const artifact::Arg &arg) const;
  Status integer(const artifact::IntExpr &expression) const;
  Status content(const artifact::Arg &arg) const;
  Status microbatchScales(const artifact::Arg &arg) const;
  Status start(const artifact::Start &start);
  Status targets(const artifact::Start &start);
  Status bucket(const artifact::Start &start) const;
  Status wait(const artifact::Wait &wait);
  Status slice(const artifact::Slice &slice);
  Status free(int32_t value);

  const artifact::Value &valueAt(int32_t index) const { return *program.values()->Get(index); }

  const artifact::Schedule &schedule;
  const artifact::Program &program;
  std::vector<State> states;
  std::vector<int32_t> readers; // collectives in flight that read the value
  std::vector<bool> isGiven;    // no instruction produces the value
  std::map<int32_t, const artifact::Start *> inFlight;
  int64_t lastSequence = -1;
};

bool isAccumulator(const artifact::Program &program, int32_t value) {
  for (const artifact::Accumulator &accumulator : elementsOf(program.accumulators()))
    if (accumulator.value() == value)
      return true;
  return false;
}

template <typename Vector> int64_t sizeOf(const Vector *vector) { return vector ? vector->size() : 0; }

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
    return corrupted("value ", value, " is used before the wait of its collective");
  case State::overwritten:
    return corrupted("value ", value, " is used after it was overwritten");
  case State::freed:
    return corrupted("value ", value, " is used after it was freed");
  }
  return corrupted("value ", value, " has no state");
}

/// True if the expression fits in 64 bits whatever the rank. The offset and the extent of a rank lie between 0 and
/// `extent`.
bool staysIn64Bits(const artifact::IntExpr &expression, int64_t extent) {
  // Also without the offset, which is 0 on the first rank.
  int64_t offset, size, sum;
  return !__builtin_mul_overflow(expression.offset_scale(), extent, &offset) &&
         !__builtin_mul_overflow(expression.extent_scale(), extent, &size) &&
         !__builtin_add_overflow(expression.constant(), size, &sum) &&
         !__builtin_add_overflow(expression.constant(), offset, &sum) && !__builtin_add_overflow(sum, size, &sum);
}

Status Walk::integer(const artifact::IntExpr &expression) const {
  if (expression.value() == -1)
    return Status();
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", expression.value(), program.values()));
  const artifact::Value &value = valueAt(expression.value());
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("dim", expression.dim(), value.dims()));
  // A dim with parts has one offset per part, so there is no single offset.
  if (expression.offset_scale() != 0 && sizeOf(value.dims()->Get(expression.dim())->parts()) > 0)
    return corrupted("the offset of dim ", expression.dim(), " of value ", expression.value(), ", which has parts");
  if (!staysIn64Bits(expression, value.dims()->Get(expression.dim())->extent()))
    return corrupted("an integer of dim ", expression.dim(), " of value ", expression.value(), " that overflows");
  return Status();
}

/// There are as many scales as integers. A microbatch number is below 2^32, so a product with a 32-bit value stays in
/// 64 bits.
Status Walk::microbatchScales(const artifact::Arg &arg) const {
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("microbatch_scales", arg.microbatch_scales()));
  if (!arg.microbatch_scales())
    return Status();
  if (arg.kind() != artifact::ArgKind::integer && arg.kind() != artifact::ArgKind::int_list)
    return corrupted("microbatch_scales of an attribute that is not an integer");
  if (sizeOf(arg.microbatch_scales()) != sizeOf(arg.ints()))
    return corrupted(sizeOf(arg.microbatch_scales()), " microbatch_scales of ", sizeOf(arg.ints()), " ints");
  for (flatbuffers::uoffset_t i = 0; i < arg.microbatch_scales()->size(); ++i) {
    const artifact::IntExpr &expression = *arg.ints()->Get(i);
    int64_t scale = arg.microbatch_scales()->Get(i);
    if (scale == 0)
      continue;
    if (expression.value() == -1)
      return corrupted("ints[", i, "] depends on the microbatch, but names no value");
    int64_t extent = valueAt(expression.value()).dims()->Get(expression.dim())->extent();
    if (int64_t product; __builtin_mul_overflow(scale, extent, &product) || product > INT32_MAX || product < INT32_MIN)
      return corrupted("ints[", i, "]: microbatches make it overflow");
  }
  return Status();
}

Status Walk::argument(const artifact::Arg &arg) const {
  MESHPLAN_RETURN_IF_ERROR(content(arg));
  return microbatchScales(arg);
}

Status Walk::content(const artifact::Arg &arg) const {
  using artifact::ArgKind;
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("ints", arg.ints()));
  MESHPLAN_RETURN_IF_ERROR(verifyAligned("reals", arg.reals()));
  auto exactlyOne = [](int64_t size) { return size == 1 ? Status() : corrupted(size, " elements instead of one"); };
  switch (arg.kind()) {
  case ArgKind::none:
  case ArgKind::real_list:
  case ArgKind::bool_list:
    return Status();
  case ArgKind::value:
    MESHPLAN_RETURN_IF_ERROR(exactlyOne(sizeOf(arg.values())));
    return use(arg.values()->Get(0));
  case ArgKind::value_list:
    return verifyEach("values", arg.values(), [&](int32_t value) { return value == -1 ? Status() : use(value); });
  case ArgKind::integer:
    MESHPLAN_RETURN_IF_ERROR(exactlyOne(sizeOf(arg.ints())));
    return integer(*arg.ints()->Get(0));
  case ArgKind::int_list:
    return verifyEach("ints", arg.ints(), [&](const artifact::IntExpr *each) { return integer(*each); });
  case ArgKind::real:
    return exactlyOne(sizeOf(arg.reals()));
  case ArgKind::boolean:
    return exactlyOne(sizeOf(arg.bools()));
  case ArgKind::string:
    return arg.text() ? Status() : corrupted("no text");
  case ArgKind::dtype:
    return arg.dtype() >= artifact::DType::MIN && arg.dtype() <= artifact::DType::MAX
               ? Status()
               : corrupted("dtype ", int(arg.dtype()), " does not exist");
  }
  return corrupted("kind ", int(arg.kind()), " does not exist");
}

Status Walk::compute(const artifact::Compute &compute) {
  // The order of the checks: arguments are used before values are overwritten, and outputs are defined last, because a
  // call may read what it overwrites.
  if (compute.target()->size() == 0)
    return corrupted("no target");
  MESHPLAN_RETURN_IF_ERROR(
      verifyEach("args", compute.args(), [&](const artifact::Arg *arg) { return argument(*arg); }));
  MESHPLAN_RETURN_IF_ERROR(
      verifyEach("overwrites", compute.overwrites(), [&](int32_t value) { return overwrite(value); }));
  MESHPLAN_RETURN_IF_ERROR(memories(compute));
  return verifyEach("outputs", compute.outputs(),
                    [&](int32_t value) { return value == -1 ? Status() : define(value); });
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

Status Walk::overwrite(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(use(value));
  if (readers[value] > 0)
    return corrupted("value ", value, " is overwritten before the wait of a collective that reads it");
  states[value] = State::overwritten;
  return Status();
}

Status Walk::start(const artifact::Start &start) {
  if (sizeOf(program.devices()) > 0)
    // Its communicators would be those of the schedule's mesh, in which such a program has no rank.
    return corrupted("a collective in a program with devices of its own");
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("communicator", start.communicator(), schedule.communicators()));
  // Ranks match collectives by this number, so it must increase.
  if (start.sequence() <= lastSequence)
    return corrupted("sequence ", start.sequence(), " after ", lastSequence);
  lastSequence = start.sequence();
  inFlight[start.sequence()] = &start;
  if (sizeOf(start.more_inputs()) != sizeOf(start.more_outputs()))
    return corrupted(1 + sizeOf(start.more_inputs()), " inputs and ", 1 + sizeOf(start.more_outputs()), " outputs");
  std::vector<AxisRef> group = axesOf(schedule.communicators()->Get(start.communicator())->axes());
  MESHPLAN_RETURN_IF_ERROR(forEachMoved(start, [&](int32_t input, int32_t output) -> Status {
    MESHPLAN_RETURN_IF_ERROR(use(input).withContext("input"));
    MESHPLAN_RETURN_IF_ERROR(define(output).withContext("output"));
    MESHPLAN_RETURN_IF_ERROR(onDevice(input));
    MESHPLAN_RETURN_IF_ERROR(onDevice(output));
    // Not live before the wait, although the tensor exists: its elements arrive at any time until then.
    states[output] = State::arriving;
    // A number and not a mark: several collectives in flight may read the same value.
    ++readers[input];
    return verifyStart(start, valueAt(input), valueAt(output), group);
  }));
  MESHPLAN_RETURN_IF_ERROR(targets(start));
  return bucket(start);
}

/// One target for each output, with its extents and sharding. A target may be an input of the collective itself.
Status Walk::targets(const artifact::Start &start) {
  if (!hasTargets(start))
    return Status();
  int64_t outputs = 1 + sizeOf(start.more_outputs());
  if (sizeOf(start.targets()) != outputs)
    return corrupted(sizeOf(start.targets()), " targets of ", outputs, " outputs");
  flatbuffers::uoffset_t index = 0;
  std::set<int32_t> taken;
  return forEachMoved(start, [&](int32_t input, int32_t output) -> Status {
    int32_t target = start.targets()->Get(index++);
    MESHPLAN_RETURN_IF_ERROR(use(target).withContext("target"));
    MESHPLAN_RETURN_IF_ERROR(onDevice(target));
    if (!taken.insert(target).second || readers[target] > (target == input ? 1 : 0))
      return corrupted("target ", target, " is overwritten before the wait of a collective that reads it");
    states[target] = State::overwritten;
    return verifySameParts(valueAt(output), valueAt(target));
  });
}

/// Checks a coalesced collective, which moves all its tensors through one buffer.
Status Walk::bucket(const artifact::Start &start) const {
  if (!isBucket(start))
    return Status();
  // Not every backend can reduce a buffer with max or min itself. An all-gather along a dim moves one tensor.
  if (start.reduction() > artifact::Reduction::sum)
    return corrupted("flat tensors, or several, in a reduction that is not a sum");
  bool isOfOne = sizeOf(start.more_inputs()) == 0 && !hasTargets(start);
  if (!isOfOne && !isAboutFlat(start) && start.kind() != artifact::CollectiveKind::all_reduce)
    return corrupted("several tensors, or a target, in a collective that moves one tensor along dims");
  return forEachMoved(start, [&](int32_t input, int32_t) {
    bool isLikeFirst = valueAt(input).dtype() == valueAt(start.input()).dtype();
    return isLikeFirst ? Status() : corrupted("tensors of several dtypes in one collective");
  });
}

Status Walk::wait(const artifact::Wait &wait) {
  auto found = inFlight.find(wait.sequence());
  if (found == inFlight.end())
    return corrupted("no collective ", wait.sequence(), " is in flight");
  Status status = forEachMoved(*found->second, [&](int32_t input, int32_t output) {
    states[output] = State::live;
    --readers[input];
    return Status();
  });
  inFlight.erase(found);
  return status;
}

Status Walk::slice(const artifact::Slice &slice) {
  MESHPLAN_RETURN_IF_ERROR(use(slice.input()).withContext("input"));
  MESHPLAN_RETURN_IF_ERROR(define(slice.output()).withContext("output"));
  MESHPLAN_RETURN_IF_ERROR(onDevice(slice.input()));
  MESHPLAN_RETURN_IF_ERROR(onDevice(slice.output()));
  return verifySlice(valueAt(slice.input()), valueAt(slice.output()));
}

Status Walk::free(int32_t value) {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
  // Allowed: the memory of an overwritten value belongs to its new value, so this frees nothing.
  if (states[value] != State::overwritten)
    MESHPLAN_RETURN_IF_ERROR(use(value));
  if (readers[value] > 0)
    return corrupted("value ", value, " is freed before the wait of a collective that reads it");
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
  case artifact::Action::Free:
    return verifyEach("values", instruction.action_as_Free()->values(), [&](int32_t value) { return free(value); });
  case artifact::Action::NONE:
    break;
  }
  return corrupted("action ", int(instruction.action_type()), " does not exist");
}

Status Walk::instruction(const artifact::Instruction &instruction) {
  MESHPLAN_RETURN_IF_ERROR(verifyIndex("stream", instruction.stream(), schedule.streams()));
  if (instruction.origin() != -1)
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("origin", instruction.origin(), schedule.origins()));
  return action(instruction);
}

Status Walk::finish() {
  if (!inFlight.empty())
    return corrupted("collective ", inFlight.begin()->first, " has no wait");
  MESHPLAN_RETURN_IF_ERROR(verifyEach("gradients", program.gradients(), [&](const artifact::Gradient *gradient) {
    // A gradient that the program starts with would be an input, not a gradient.
    bool isMade = states[gradient->value()] != State::undefined && !isGiven[gradient->value()];
    return isMade ? Status() : corrupted("no instruction produces value ", gradient->value());
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("updates", program.updates(), [&](const artifact::Update *update) {
    // The value may be overwritten: a reduction may have used the accumulator as its target.
    bool isOver = states[update->value()] == State::overwritten && isAccumulator(program, update->target());
    return isOver ? Status() : use(update->value());
  }));
  return verifyEach("outputs", program.outputs(), [&](const artifact::Port *port) { return use(port->value()); });
}

} // namespace

Status verifyInstructions(const artifact::Schedule &schedule, const artifact::Program &program,
                          std::span<const int32_t> defined) {
  Walk walk(schedule, program);
  for (int32_t value : defined)
    MESHPLAN_RETURN_IF_ERROR(walk.give(value));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("instructions", program.instructions(),
                                      [&](const artifact::Instruction *each) { return walk.instruction(*each); }));
  return walk.finish();
}

} // namespace meshplan
