//===- verify_program.cpp - values and ports of a program -----------------===//

#include "runtime/artifact/meaning.h"

#include "runtime/artifact/vector_range.h"
#include "runtime/schema/distribution.h"
#include "runtime/schema/loss_scale.h"
#include "runtime/schema/rate_schedule.h"

#include <algorithm>
#include <cmath>

namespace meshplan {

namespace {

Status verifyWhole(const artifact::Program &program, int32_t value) {
  return program.values()->Get(value)->partial() == artifact::Reduction::none
             ? Status()
             : corrupted("value ", value, " is partial");
}

/// Collects the values that exist before the first instruction; each once.
class Definitions {
public:
  explicit Definitions(const artifact::Program &program) : program(program), known(program.values()->size(), false) {}

  Status define(int32_t value) {
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
    // The run gives every rank its shard of the tensor, never a partial addend.
    MESHPLAN_RETURN_IF_ERROR(verifyWhole(program, value));
    return defineAddend(value);
  }

  /// As define, for a value that may be partial.
  Status defineAddend(int32_t value) {
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", value, program.values()));
    if (isPacked(*program.values()->Get(value)))
      return corrupted("value ", value, " is packed");
    if (program.values()->Get(value)->routed())
      return corrupted("value ", value, " is routed to experts, and no instruction makes it");
    if (known[value])
      return corrupted("value ", value, " is defined twice");
    known[value] = true;
    list.push_back(value);
    return Status();
  }

  std::span<const int32_t> values() const { return list; }

private:
  const artifact::Program &program;
  std::vector<bool> known;
  std::vector<int32_t> list;
};

/// Only values that the optimizer changes are stored flat.
Status verifyNotFlat(const artifact::Program &program, int32_t value) {
  return isFlat(*program.values()->Get(value)) ? corrupted("value ", value, " is flat") : Status();
}

Status verifyConstant(const artifact::Constant &constant, const artifact::Program &program) {
  const artifact::Value &value = *program.values()->Get(constant.value());
  // The data is that of the whole tensor; each rank takes its shard.
  MESHPLAN_RETURN_IF_ERROR(verifyNotFlat(program, constant.value()));
  int64_t bytes = globalBytesOf(value), actual = constant.data()->size();
  return actual == bytes ? Status() : corrupted(actual, " bytes of data, the value has ", bytes);
}

/// The data holds all elements of the whole tensor, in the dtype of the value or, if both are floating point, in
/// another.
Status verifyGiven(const artifact::Init &init, const artifact::Value &value) {
  if (init.dtype() < artifact::DType::MIN || init.dtype() > artifact::DType::MAX)
    return corrupted("init: dtype ", int(init.dtype()), " does not exist");
  DType dtype = dtypeOf(init.dtype()), own = dtypeOf(value.dtype());
  if (dtype != own && !(isFloat(dtype) && isFloat(own)))
    return corrupted("init: elements of ", dtypeName(dtype), ", the value has ", dtypeName(own));
  int64_t elements = globalElementsOf(value), size = dtypeSize(dtype);
  int64_t bytes = init.data() ? init.data()->size() : 0;
  return bytes % size == 0 && bytes / size == elements
             ? Status()
             : corrupted("init: ", bytes, " bytes of data for ", elements, " elements of ", dtypeName(dtype));
}

Status verifyInit(const artifact::Init &init, const artifact::Value &value) {
  if (init.kind() < artifact::InitKind::MIN || init.kind() > artifact::InitKind::MAX)
    return corrupted("init: kind ", int(init.kind()), " does not exist");
  switch (distributionFault({init.value(), init.low(), init.high(), init.mean(), init.std(), hasBounds(init.kind()),
                             hasDeviation(init.kind())})) {
  case DistributionFault::number:
    return corrupted("init: a number is not one of f32");
  case DistributionFault::deviation:
    return corrupted("init: a standard deviation of ", init.std());
  case DistributionFault::bounds:
    return corrupted("init: from ", init.low(), " to ", init.high());
  case DistributionFault::unreachable:
    return corrupted("init: from ", init.low(), " to ", init.high(), ", with mean ", init.mean(), " and deviation ",
                     init.std());
  case DistributionFault::none:
    break;
  }
  return init.kind() == artifact::InitKind::given ? verifyGiven(init, value) : Status();
}

Status verifyParameters(const artifact::Schedule &schedule, const artifact::Program &program,
                        Definitions &definitions) {
  std::set<std::string_view> names;
  return verifyEach("parameters", program.parameters(), [&](const artifact::Parameter *parameter) -> Status {
    if (parameter->names()->size() == 0)
      return corrupted("no name");
    MESHPLAN_RETURN_IF_ERROR(verifyEach("names", parameter->names(),
                                        [&](const flatbuffers::String *name) { return verifyName(name, names); }));
    if (parameter->origin() != -1)
      MESHPLAN_RETURN_IF_ERROR(verifyIndex("origin", parameter->origin(), schedule.origins()));
    MESHPLAN_RETURN_IF_ERROR(definitions.define(parameter->value()));
    if (std::optional<WeightPieces> pieces = weightPiecesOf(*parameter))
      if (std::string fault = piecesFault(*pieces, globalShapeOf(*program.values()->Get(parameter->value())));
          !fault.empty())
        return corrupted("pieces: ", fault);
    return parameter->init() ? verifyInit(*parameter->init(), *program.values()->Get(parameter->value())) : Status();
  });
}

/// A state that starts as a copy of its parameter has the shape of that parameter.
Status verifyState(const artifact::State &state, const artifact::Program &program) {
  if (!state.copies())
    return Status();
  const artifact::Parameter *parameter = findParameter(program, state.parameter()->string_view());
  bool fits = parameter && globalShapeOf(*program.values()->Get(parameter->value())) ==
                               globalShapeOf(*program.values()->Get(state.value()));
  return fits ? Status()
              : corrupted("it copies '", state.parameter()->string_view(), "', which has another shape or is missing");
}

/// The values are on the device, have one dtype, are parameters or accumulators, and lie in no other buffer. Their
/// total size can be addressed.
Status verifyBuffer(const artifact::Buffer &buffer, const artifact::Program &program, std::set<int32_t> &free) {
  if (buffer.values()->size() == 0)
    return corrupted("no values");
  int64_t total = 0;
  return verifyEach("values", buffer.values(), [&](int32_t index) -> Status {
    if (free.erase(index) == 0)
      return corrupted("value ", index, " is neither a parameter nor an accumulator, or already belongs to a buffer");
    const artifact::Value &value = *program.values()->Get(index);
    if (value.dtype() != program.values()->Get(buffer.values()->Get(0))->dtype())
      return corrupted("value ", index, " has another dtype than the first");
    // Collectives use buffers in place, so they must be device memory.
    if (value.host())
      return corrupted("value ", index, " is on the host");
    bool fits = !__builtin_add_overflow(total, globalBytesOf(value), &total);
    return fits ? Status() : corrupted("value ", index, " makes the buffer larger than the address space");
  });
}

Status verifyBuffers(const artifact::Program &program) {
  std::set<std::string_view> names;
  // Of the values that a buffer may hold: those that no buffer has taken yet.
  std::set<int32_t> free;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    free.insert(parameter.value());
  for (const artifact::Accumulator &accumulator : elementsOf(program.accumulators()))
    free.insert(accumulator.value());
  return verifyEach("buffers", program.buffers(), [&](const artifact::Buffer *buffer) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(buffer->name(), names));
    return verifyBuffer(*buffer, program, free);
  });
}

Status verifySetting(const artifact::Setting &setting, const artifact::Program &program) {
  const artifact::Value &value = *program.values()->Get(setting.value());
  if (value.dtype() != artifact::DType::f64 || value.dims()->size() != 0)
    return corrupted("value ", setting.value(), " is not an f64 scalar");
  const artifact::RateSchedule *schedule = setting.schedule();
  if (!schedule)
    return Status();
  bool isKnown = schedule->kind() >= artifact::RateKind::MIN && schedule->kind() <= artifact::RateKind::MAX;
  if (!isKnown)
    return corrupted("a learning rate schedule of kind ", int(schedule->kind()), ", which does not exist");
  int64_t warmup = schedule->warmup(), decay = schedule->decay(), steps = schedule->steps();
  // A constant rate has a warm-up and no end.
  bool fits = schedule->kind() == artifact::RateKind::constant ? warmup >= 0 : isWithinSteps(warmup, decay, steps);
  if (!fits || (schedule->kind() == artifact::RateKind::wsd && decay == 0))
    return corrupted("a learning rate schedule of warmup ", warmup, ", decay ", decay, " and steps ", steps);
  return isRateMinimum(schedule->min()) ? Status()
                                        : corrupted("a learning rate that ends at ", schedule->min(), " of itself");
}

/// Each parameter, state and accumulator has at most one update: two updates of it would depend on their order.
Status verifyUpdates(const artifact::Program &program) {
  std::set<int32_t> targets, updated;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    targets.insert(parameter.value());
  for (const artifact::State &state : elementsOf(program.states()))
    targets.insert(state.value());
  for (const artifact::Accumulator &accumulator : elementsOf(program.accumulators()))
    targets.insert(accumulator.value());
  return verifyEach("updates", program.updates(), [&](const artifact::Update *update) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", update->value(), program.values()));
    if (!targets.contains(update->target()) || !updated.insert(update->target()).second)
      return corrupted("value ", update->target(), " is not a parameter, state or accumulator, or is updated twice");
    const artifact::Value &made = *program.values()->Get(update->value()),
                          &target = *program.values()->Get(update->target());
    // The next step reads the target in its own memory.
    if (made.host() != target.host())
      return corrupted("value ", update->value(), " is in another memory than value ", update->target());
    // The new value replaces the target, whose readers expect the old layout.
    return verifySameLayout(made, target);
  });
}

/// Each trained parameter has at most one gradient: a value that is not partial, with the shape of the parameter.
Status verifyGradients(const artifact::Program &program) {
  std::set<int32_t> trained;
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    if (parameter.trainable())
      trained.insert(parameter.value());
  return verifyEach("gradients", program.gradients(), [&](const artifact::Gradient *gradient) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", gradient->value(), program.values()));
    MESHPLAN_RETURN_IF_ERROR(verifyWhole(program, gradient->value()));
    // Erased, so that a second gradient of the same parameter is found.
    if (trained.erase(gradient->parameter()) == 0)
      return corrupted("value ", gradient->parameter(), " is not a trained parameter, or already has a gradient");
    bool isSameShape = globalShapeOf(*program.values()->Get(gradient->value())) ==
                       globalShapeOf(*program.values()->Get(gradient->parameter()));
    return isSameShape ? Status() : corrupted("value ", gradient->value(), " has another shape than the parameter");
  });
}

Status verifyLoss(const artifact::Program &program) {
  if (!program.loss() || program.loss()->size() == 0)
    return Status();
  const artifact::Port *port = findOutput(program, program.loss()->string_view());
  if (!port)
    return corrupted("loss: there is no output '", program.loss()->string_view(), "'");
  const artifact::Value &value = *program.values()->Get(port->value());
  // The run logs the loss as a number.
  bool isOne = isFloat(dtypeOf(value.dtype())) &&
               std::ranges::all_of(globalShapeOf(value), [](int64_t extent) { return extent == 1; });
  return isOne ? Status() : corrupted("loss: output '", program.loss()->string_view(), "' is not one float");
}

Status verifyGuard(const artifact::Program &program) {
  const artifact::Guard *guard = program.guard();
  if (!guard)
    return Status();
  // With interval 0 the scale is constant, and growth and backoff are not used.
  bool isScaled =
      guard->interval() == 0 || (guard->interval() > 0 && canChangeScale(guard->growth(), guard->backoff()));
  if (!isScaled)
    return corrupted("guard: a scale of the loss that grows by ", guard->growth(), " and falls by ", guard->backoff());
  const artifact::Port *port = findOutput(program, guard->output()->string_view());
  if (!port)
    return corrupted("guard: there is no output '", guard->output()->string_view(), "'");
  const artifact::Value &value = *program.values()->Get(port->value());
  bool isOne = value.dtype() == artifact::DType::i64 && value.dims()->size() == 0;
  return isOne ? Status() : corrupted("guard: output '", guard->output()->string_view(), "' is not one i64");
}

/// An output that counts tokens has a row for each module.
Status verifyExperts(const artifact::Program &program, const artifact::Port &port) {
  size_t modules = port.experts() ? port.experts()->size() : 0, pairs = port.pairs() ? port.pairs()->size() : 0;
  if (modules != pairs)
    return corrupted(modules, " modules with experts, but ", pairs, " numbers of pairs");
  const artifact::Value &value = *program.values()->Get(port.value());
  bool isCounts = value.dtype() == artifact::DType::i64 && value.dims()->size() == 2 &&
                  value.dims()->Get(0)->extent() == static_cast<int64_t>(modules);
  return modules == 0 || isCounts ? Status() : corrupted("numbers of tokens that are not i64 [modules, experts]");
}

Status verifyMemory(const artifact::Memory *memory) {
  if (memory && (memory->parameters() < 0 || memory->constants() < 0 || memory->inputs() < 0 || memory->peak() < 0 ||
                 memory->states() < 0 || memory->accumulators() < 0 || memory->host_parameters() < 0 ||
                 memory->host_states() < 0 || memory->host_peak() < 0))
    return corrupted("memory: a size is negative");
  return Status();
}

/// Members are tensors of the same dtype on the device.
Status verifyMembers(const artifact::Value &value, const artifact::Program &program) {
  return verifyEach("members", value.members(), [&](int32_t member) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", member, program.values()));
    const artifact::Value &tensor = *program.values()->Get(member);
    if (isPacked(tensor) || tensor.host())
      return corrupted("value ", member, isPacked(tensor) ? " is packed itself" : " is on the host");
    if (tensor.routed())
      return corrupted("value ", member, " is routed to experts");
    return tensor.dtype() == value.dtype()
               ? Status()
               : corrupted("value ", member, " has dtype ", dtypeName(dtypeOf(tensor.dtype())),
                           ", the packed value has ", dtypeName(dtypeOf(value.dtype())));
  });
}

} // namespace

Status verifyProgram(const artifact::Schedule &schedule, const artifact::Program &program) {
  MESHPLAN_RETURN_IF_ERROR(verifyMesh(program.devices()).withContext("devices"));
  std::vector<int64_t> sizes = meshSizesOf(schedule, program);
  MESHPLAN_RETURN_IF_ERROR(
      verifyEach("values", program.values(), [&](const artifact::Value *value) { return verifyValue(*value, sizes); }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("values", program.values(),
                                      [&](const artifact::Value *value) { return verifyMembers(*value, program); }));
  // Everything below indexes into `values`, so their own checks come first. Ports and parameters then define values,
  // before the instructions are checked against these definitions.
  Definitions definitions(program);
  MESHPLAN_RETURN_IF_ERROR(verifyParameters(schedule, program, definitions));
  MESHPLAN_RETURN_IF_ERROR(
      verifyEach("constants", program.constants(), [&](const artifact::Constant *constant) -> Status {
        MESHPLAN_RETURN_IF_ERROR(definitions.define(constant->value()));
        return verifyConstant(*constant, program);
      }));
  std::set<std::string_view> inputs, outputs;
  MESHPLAN_RETURN_IF_ERROR(verifyEach("inputs", program.inputs(), [&](const artifact::Port *port) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(port->name(), inputs));
    MESHPLAN_RETURN_IF_ERROR(definitions.define(port->value()));
    return verifyNotFlat(program, port->value());
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("outputs", program.outputs(), [&](const artifact::Port *port) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(port->name(), outputs));
    MESHPLAN_RETURN_IF_ERROR(verifyIndex("value", port->value(), program.values()));
    if (program.values()->Get(port->value())->routed())
      return corrupted("value ", port->value(), " is routed to experts: it has no tensor outside of its rank");
    MESHPLAN_RETURN_IF_ERROR(verifyExperts(program, *port));
    return verifyWhole(program, port->value());
  }));
  std::set<std::string_view> states, settings;
  MESHPLAN_RETURN_IF_ERROR(verifyEach("states", program.states(), [&](const artifact::State *state) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(state->name(), states));
    MESHPLAN_RETURN_IF_ERROR(definitions.define(state->value()));
    return verifyState(*state, program);
  }));
  std::set<std::string_view> accumulators;
  MESHPLAN_RETURN_IF_ERROR(
      verifyEach("accumulators", program.accumulators(), [&](const artifact::Accumulator *accumulator) -> Status {
        MESHPLAN_RETURN_IF_ERROR(verifyName(accumulator->name(), accumulators));
        // An accumulator may be partial: then each rank accumulates its own addends, and they are reduced once, after
        // the last microbatch.
        return definitions.defineAddend(accumulator->value());
      }));
  MESHPLAN_RETURN_IF_ERROR(verifyEach("settings", program.settings(), [&](const artifact::Setting *setting) -> Status {
    MESHPLAN_RETURN_IF_ERROR(verifyName(setting->name(), settings));
    MESHPLAN_RETURN_IF_ERROR(definitions.define(setting->value()));
    return verifySetting(*setting, program);
  }));
  MESHPLAN_RETURN_IF_ERROR(verifyBuffers(program));
  MESHPLAN_RETURN_IF_ERROR(verifyUpdates(program));
  MESHPLAN_RETURN_IF_ERROR(verifyGradients(program));
  MESHPLAN_RETURN_IF_ERROR(verifyLoss(program));
  MESHPLAN_RETURN_IF_ERROR(verifyGuard(program));
  MESHPLAN_RETURN_IF_ERROR(verifyMemory(program.memory()));
  return verifyInstructions(schedule, program, definitions.values());
}

} // namespace meshplan
