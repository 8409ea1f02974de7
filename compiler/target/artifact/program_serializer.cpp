//===- program_serializer.cpp - one program as an artifact's table --------===//
//
// One walk over the steps of a program in order. Every sharded result gets a number, which is its index in
// Program.values; later steps refer to it by that number. Declarations (parameters, inputs, states, settings) fill
// tables of their own, and actions (compute, start, copy, wait, slice, pack, unpack, free, resume) become
// instructions.
//
// The result of a collective or a copy gets its number at its start, because the runtime allocates it there; the wait
// only completes it. A packed result names its members, so the results of its unpack get their numbers there, too.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/artifact/program_serializer.h"
#include "compiler/target/artifact/arguments.h"
#include "compiler/target/artifact/attribute_tables.h"
#include "compiler/target/artifact/elements.h"
#include "compiler/target/artifact/enums.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace meshplan {

namespace {
class ProgramSerializer {
public:
  ProgramSerializer(sched::ProgramOp op, ModuleTables &tables) : op(op), tables(tables) {}

  FailureOr<std::unique_ptr<artifact::ProgramT>> serialize();

private:
  LogicalResult addValue(Value value);
  void addPackedValue(Value value, ValueRange members);
  LogicalResult addStep(Operation &step);
  LogicalResult addGiven(ElementsAttr elements, sched::ParameterOp parameter, artifact::InitT &init);
  LogicalResult addParameter(sched::ParameterOp parameter);
  LogicalResult addConstant(sched::ConstantOp constant);
  void addInput(sched::InputOp input);
  void addOutput(sched::OutputOp output);
  void addState(sched::StateOp state);
  void addBuffer(sched::BufferOp buffer);
  void addSetting(sched::SettingOp setting);
  void addUpdate(sched::UpdateOp update);
  void addGradient(sched::GradientOp gradient);
  LogicalResult addCompute(sched::ComputeOp compute);
  LogicalResult addStart(sched::StartOp start);
  LogicalResult addCopy(sched::CopyOp copy);
  void addMoved(sched::StartOp start, artifact::StartT &action);
  void addWait(sched::WaitOp wait);
  void addPack(sched::PackOp pack);
  void addUnpack(sched::UnpackOp unpack);
  void addSlice(sched::SliceOp slice);
  void addFree(sched::FreeOp free);
  void addResume(sched::ResumeOp resume);

  /// Appends an instruction with the origin of a step.
  template <typename Action> void addInstruction(Operation *step, Action action);
  template <typename Action> void addInstruction(Operation *step, Action action, int32_t origin);

  int32_t numberOf(Value value) const { return static_cast<int32_t>(numbers.lookup(value)); }
  std::vector<int32_t> numbersOf(ValueRange values) const {
    std::vector<int32_t> list;
    for (Value value : values)
      list.push_back(numberOf(value));
    return list;
  }

  sched::ProgramOp op;
  ModuleTables &tables;
  std::unique_ptr<artifact::ProgramT> program = std::make_unique<artifact::ProgramT>();
  ValueNumbers numbers;
  SmallVector<Operation *> deferred; ///< steps, in their order
  size_t resumed = 0;                ///< of `deferred`, by the resumes so far
};
/// Whether anything other than a free uses a result of a call. An unread result may have another shape or type on
/// another device than on the machine that exported the model (the statistics of norms, the bags of embedding_bag), so
/// it gets no value in the artifact.
bool isRead(OpResult result) {
  bool isSized = false; // an argument of the call is one of the result's extents
  cast<sched::ComputeOp>(result.getOwner()).getArgs().walk([&](sched::LocalIntAttr local) {
    isSized |= local.getOfResult() && local.getIndex() == result.getResultNumber();
  });
  return isSized || llvm::any_of(result.getUsers(), [](Operation *user) { return !isa<sched::FreeOp>(user); });
}
} // namespace

LogicalResult ProgramSerializer::addValue(Value value) {
  auto type = cast<sched::ShardedTensorType>(value.getType());
  std::optional<artifact::DType> dtype = toDType(type.getElementType());
  if (!dtype)
    return value.getDefiningOp()->emitOpError()
           << "has the element type " << type.getElementType() << ", which the artifact cannot represent";
  auto entry = std::make_unique<artifact::ValueT>();
  entry->dtype = *dtype;
  for (sched::DimAttr dim : type.getDims()) {
    auto table = std::make_unique<artifact::DimT>();
    table->extent = dim.getExtent();
    for (sched::AxisAttr axis : dim.getAxes())
      table->axes.emplace_back(axis.getAxis(), axis.getPre(), axis.getSize());
    table->unit = dim.getUnit();
    for (const DimPart &part : dim.getParts())
      table->parts.emplace_back(part.extent, part.unit, part.repeat);
    table->repeat = dim.getRepeat();
    entry->dims.push_back(std::move(table));
  }
  entry->partial = toArtifact(type.getReduction());
  for (sched::AxisAttr axis : type.getPartialAxes())
    entry->partial_axes.emplace_back(axis.getAxis(), axis.getPre(), axis.getSize());
  for (sched::AxisAttr axis : type.getFlatAxes())
    entry->flat_axes.emplace_back(axis.getAxis(), axis.getPre(), axis.getSize());
  entry->host = sched::isOnHost(value);
  if (base::RoutedAttr routed = type.getRouted()) {
    entry->routed = std::make_unique<artifact::RoutedT>();
    entry->routed->kind = toArtifact(routed.getKind());
    entry->routed->dims = routed.getDims();
    entry->routed->slots = routed.getSlots();
    entry->routed->reserve = base::numberOf(routed.getReserve());
  }
  numbers[value] = program->values.size();
  program->values.push_back(std::move(entry));
  return success();
}

void ProgramSerializer::addPackedValue(Value value, ValueRange members) {
  auto entry = std::make_unique<artifact::ValueT>();
  entry->dtype = program->values[numbers.lookup(members.front())]->dtype;
  entry->members = numbersOf(members);
  numbers[value] = program->values.size();
  program->values.push_back(std::move(entry));
}

template <typename Action> void ProgramSerializer::addInstruction(Operation *step, Action action, int32_t origin) {
  auto instruction = std::make_unique<artifact::InstructionT>();
  instruction->action.Set(std::move(action));
  instruction->origin = origin;
  instruction->when = toArtifact(sched::whenOf(step));
  program->instructions.push_back(std::move(instruction));
}

template <typename Action> void ProgramSerializer::addInstruction(Operation *step, Action action) {
  addInstruction(step, std::move(action), tables.origins.originOf(step));
}

LogicalResult ProgramSerializer::addGiven(ElementsAttr elements, sched::ParameterOp parameter, artifact::InitT &init) {
  StringRef name = cast<StringAttr>(parameter.getNames()[0]).getValue();
  std::optional<artifact::DType> dtype = toDType(elements.getElementType());
  if (!dtype)
    return parameter.emitOpError() << "'" << name << "' is given elements of type " << elements.getElementType();
  FailureOr<std::vector<uint8_t>> bytes = constantBytes(elements, parameter, name);
  if (failed(bytes))
    return failure();
  init.dtype = *dtype;
  init.data = std::move(*bytes);
  return success();
}

LogicalResult ProgramSerializer::addParameter(sched::ParameterOp parameter) {
  auto entry = std::make_unique<artifact::ParameterT>();
  for (auto name : parameter.getNames().getAsRange<StringAttr>())
    entry->names.push_back(name.str());
  entry->value = numbers.lookup(parameter.getResult());
  entry->trainable = parameter.getTrainable();
  entry->buffer = parameter.getBuffer();
  entry->origin = tables.origins.originOf(parameter);
  if (std::optional<base::PiecesAttr> pieces = parameter.getPieces()) {
    WeightPieces from = pieces->asPieces();
    entry->pieces = std::make_unique<artifact::WeightPiecesT>();
    entry->pieces->before = std::move(from.before);
    entry->pieces->after = std::move(from.after);
    entry->pieces->sizes = std::move(from.sizes);
    entry->pieces->dim = from.dim;
    entry->pieces->count = from.count;
  }
  if (std::optional<base::InitAttr> init = parameter.getInit()) {
    entry->init = toInit(*init);
    if (ElementsAttr elements = init->getElements(); elements && failed(addGiven(elements, parameter, *entry->init)))
      return failure();
  }
  program->parameters.push_back(std::move(entry));
  return success();
}

LogicalResult ProgramSerializer::addConstant(sched::ConstantOp constant) {
  FailureOr<std::vector<uint8_t>> bytes = constantBytes(constant.getValue(), constant, constant.getName());
  if (failed(bytes))
    return failure();
  auto entry = std::make_unique<artifact::ConstantT>();
  entry->name = constant.getName().str();
  entry->value = numbers.lookup(constant.getResult());
  entry->data = std::move(*bytes);
  program->constants.push_back(std::move(entry));
  return success();
}

static std::unique_ptr<artifact::PortT> toPort(StringRef name, int32_t value) {
  auto port = std::make_unique<artifact::PortT>();
  port->name = name.str();
  port->value = value;
  return port;
}

void ProgramSerializer::addInput(sched::InputOp input) {
  int32_t number = numbers.lookup(input.getResult());
  if (std::optional<ArrayAttr> names = input.getDims())
    for (auto [dim, name] : llvm::zip_equal(program->values[number]->dims, names->getAsRange<StringAttr>()))
      dim->name = name.str();
  program->inputs.push_back(toPort(input.getName(), number));
}

void ProgramSerializer::addOutput(sched::OutputOp output) {
  program->outputs.push_back(toPort(output.getName(), numbers.lookup(output.getValue())));
  if (std::optional<ArrayAttr> experts = output.getExperts())
    for (auto module : experts->getAsRange<StringAttr>())
      program->outputs.back()->experts.push_back(module.str());
  llvm::append_range(program->outputs.back()->pairs, output.getPairs().value_or(ArrayRef<int64_t>()));
  if (output.getLoss())
    program->loss = output.getName().str();
}

void ProgramSerializer::addState(sched::StateOp state) {
  if (!state.getParameter()) {
    auto entry = std::make_unique<artifact::AccumulatorT>();
    entry->name = state.getName().str();
    entry->value = numbers.lookup(state.getResult());
    entry->scratch = state.getScratch();
    program->accumulators.push_back(std::move(entry));
    return;
  }
  auto entry = std::make_unique<artifact::StateT>();
  entry->name = state.getName().str();
  entry->value = numbers.lookup(state.getResult());
  entry->parameter = state.getParameter()->str();
  entry->copies = state.getCopies();
  program->states.push_back(std::move(entry));
}

void ProgramSerializer::addBuffer(sched::BufferOp buffer) {
  auto entry = std::make_unique<artifact::BufferT>();
  entry->name = buffer.getName().str();
  for (Value value : buffer.getValues())
    entry->values.push_back(numbers.lookup(value));
  entry->registered = buffer.getRegistered();
  program->buffers.push_back(std::move(entry));
}

void ProgramSerializer::addSetting(sched::SettingOp setting) {
  auto entry = std::make_unique<artifact::SettingT>();
  entry->name = setting.getName().str();
  entry->value = numbers.lookup(setting.getResult());
  entry->number = setting.getValue().convertToDouble();
  if (std::optional<base::RateScheduleAttr> schedule = setting.getSchedule())
    entry->schedule = toRateSchedule(*schedule);
  program->settings.push_back(std::move(entry));
}

void ProgramSerializer::addUpdate(sched::UpdateOp update) {
  auto entry = std::make_unique<artifact::UpdateT>();
  entry->value = numbers.lookup(update.getValue());
  entry->target = numbers.lookup(update.getTarget());
  program->updates.push_back(std::move(entry));
}

void ProgramSerializer::addGradient(sched::GradientOp gradient) {
  auto entry = std::make_unique<artifact::GradientT>();
  entry->value = numbers.lookup(gradient.getValue());
  entry->parameter = numbers.lookup(gradient.getParameter());
  program->gradients.push_back(std::move(entry));
}

LogicalResult ProgramSerializer::addCompute(sched::ComputeOp compute) {
  artifact::ComputeT action;
  action.target = compute.getTarget().str();
  for (NamedAttribute argument : compute.getArgs()) {
    FailureOr<std::unique_ptr<artifact::ArgT>> arg = toArg(compute, argument, numbers);
    if (failed(arg))
      return failure();
    action.args.push_back(std::move(*arg));
  }
  for (OpResult result : compute->getResults())
    action.outputs.push_back(isRead(result) ? numbers.lookup(result) : -1);
  for (int64_t operand : compute.getOverwrites().value_or(ArrayRef<int64_t>()))
    action.overwrites.push_back(numbers.lookup(compute.getOperands()[operand]));
  addInstruction(compute, std::move(action));
  return success();
}

/// Bytes that a collective sends on the rank that sends most.
static double sentBytes(sched::StartOp start) {
  auto module = start->getParentOfType<ModuleOp>();
  int64_t ranks = 1, before = 0, after = 0;
  for (const AxisRef &axis :
       sched::toAxisRefs(module.lookupSymbol<sched::CommunicatorOp>(start.getCommunicator()).getAxes()))
    ranks *= axis.size;
  for (sched::ShardedTensorType tensor : sched::tensorsOf(start.getInput().getType()))
    before += sched::largestBytes(tensor);
  for (sched::ShardedTensorType tensor : sched::tensorsOf(start.getToken().getType().getResult()))
    after += sched::largestBytes(tensor);
  return base::sentBytes(start.getKind(), before, after, ranks);
}

/// What traces say about a collective.
void ProgramSerializer::addMoved(sched::StartOp start, artifact::StartT &action) {
  using Dialect = sched::SchedDialect;
  if (auto purpose = start->getAttrOfType<base::PurposeAttr>(Dialect::PurposeAttrHelper::getNameStr()))
    action.purpose = toArtifact(purpose.getValue());
  if (auto subject = start->getAttrOfType<StringAttr>(Dialect::SubjectAttrHelper::getNameStr()))
    action.subject = subject.str();
  action.bytes = std::llround(sentBytes(start));
}

LogicalResult ProgramSerializer::addStart(sched::StartOp start) {
  Value result = start.getWait().getResult();
  if (isa<sched::PackedType>(result.getType())) {
    auto users = llvm::make_filter_range(result.getUsers(), [](Operation *user) { return isa<sched::UnpackOp>(user); });
    auto unpack = cast<sched::UnpackOp>(*users.begin());
    for (Value member : unpack.getResults())
      if (failed(addValue(member)))
        return failure();
    addPackedValue(result, unpack.getResults());
  } else if (failed(addValue(result))) {
    return failure();
  }
  artifact::StartT action;
  action.kind = toArtifact(start.getKind());
  action.communicator = tables.communicators.lookup(start.getCommunicator());
  action.input = numberOf(start.getInput());
  action.output = numberOf(result);
  if (start.getTarget())
    action.target = numberOf(start.getTarget());
  if (start.getCounts())
    action.counts = numberOf(start.getCounts());
  if (std::optional<uint64_t> dim = start.getDim())
    action.dim = static_cast<int32_t>(*dim);
  if (std::optional<uint64_t> dim = start.getFromDim())
    action.from_dim = static_cast<int32_t>(*dim);
  if (base::reduces(start.getKind()))
    action.reduction = toArtifact(sched::tensorsOf(start.getInput().getType()).front().getReduction());
  action.sequence = static_cast<int32_t>(start.getSequence());
  addMoved(start, action);
  addInstruction(start, std::move(action));
  return success();
}

LogicalResult ProgramSerializer::addCopy(sched::CopyOp copy) {
  Value result = copy.getWait().getResult();
  if (failed(addValue(result)))
    return failure();
  artifact::CopyT action;
  action.input = numberOf(copy.getInput());
  action.output = numberOf(result);
  if (copy.getTarget())
    action.target = numberOf(copy.getTarget());
  action.sequence = static_cast<int32_t>(copy.getSequence());
  addInstruction(copy, std::move(action));
  return success();
}

/// What packs or unpacks has the origin of the collective that it serves.
void ProgramSerializer::addPack(sched::PackOp pack) {
  addPackedValue(pack.getResult(), pack.getTensors());
  artifact::PackRunT action;
  action.inputs = numbersOf(pack.getTensors());
  action.output = numberOf(pack.getResult());
  action.in_place = pack.getInPlace();
  Operation *start =
      *llvm::find_if(pack.getResult().getUsers(), [](Operation *user) { return isa<sched::StartOp>(user); });
  addInstruction(pack, std::move(action), tables.origins.originOf(start));
}

void ProgramSerializer::addUnpack(sched::UnpackOp unpack) {
  artifact::UnpackRunT action;
  action.input = numberOf(unpack.getPacked());
  action.outputs = numbersOf(unpack.getResults());
  action.targets = numbersOf(unpack.getTargets());
  action.in_place = unpack.getInPlace();
  Operation *start = unpack.getPacked().getDefiningOp<sched::WaitOp>().getToken().getDefiningOp();
  addInstruction(unpack, std::move(action), tables.origins.originOf(start));
}

// The wait has the origin of its start, so that a trace shows both at the same statement.
void ProgramSerializer::addWait(sched::WaitOp wait) {
  Operation *started = wait.getToken().getDefiningOp();
  auto start = dyn_cast<sched::StartOp>(started);
  artifact::WaitT action;
  action.sequence = static_cast<int32_t>(start ? start.getSequence() : cast<sched::CopyOp>(started).getSequence());
  addInstruction(wait, std::move(action), tables.origins.originOf(started));
}

void ProgramSerializer::addSlice(sched::SliceOp slice) {
  artifact::SliceT action;
  action.input = numbers.lookup(slice.getInput());
  action.output = numbers.lookup(slice.getResult());
  addInstruction(slice, std::move(action));
}

void ProgramSerializer::addFree(sched::FreeOp free) {
  artifact::FreeT action;
  // Unread results have no number, and a free of nothing else is dropped.
  for (Value value : free.getValues())
    if (auto number = numbers.find(value); number != numbers.end())
      action.values.push_back(number->second);
  if (!action.values.empty())
    addInstruction(free, std::move(action), -1);
}

/// True for a step that becomes no instruction: a free of nothing that has a number.
static bool isDropped(Operation *step) {
  auto isUnread = [](Value value) {
    auto result = dyn_cast<OpResult>(value);
    return isa<sched::ComputeOp>(result.getOwner()) && !isRead(result);
  };
  auto free = dyn_cast<sched::FreeOp>(step);
  return free && llvm::all_of(free.getValues(), isUnread);
}

void ProgramSerializer::addResume(sched::ResumeOp resume) {
  if (deferred.empty())
    for (Operation &step : op.getBody().front())
      if (sched::whenOf(&step) == base::When::deferred)
        deferred.push_back(&step);
  artifact::ResumeT action;
  action.steps = llvm::count_if(ArrayRef(deferred).slice(resumed, resume.getSteps()),
                                [](Operation *step) { return !isDropped(step); });
  resumed += resume.getSteps();
  addInstruction(resume, std::move(action), -1);
}

LogicalResult ProgramSerializer::addStep(Operation &step) {
  for (OpResult result : step.getResults()) {
    bool isMade = isa<sched::ComputeOp>(step) ? isRead(result) : !isa<sched::WaitOp, sched::UnpackOp>(step);
    if (isa<sched::ShardedTensorType>(result.getType()) && isMade && failed(addValue(result)))
      return failure();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(&step)
      .Case([&](sched::ParameterOp parameter) { return addParameter(parameter); })
      .Case([&](sched::ConstantOp constant) { return addConstant(constant); })
      .Case([&](sched::InputOp input) { return addInput(input), success(); })
      .Case([&](sched::OutputOp output) { return addOutput(output), success(); })
      .Case([&](sched::StateOp state) { return addState(state), success(); })
      .Case([&](sched::BufferOp buffer) { return addBuffer(buffer), success(); })
      .Case([&](sched::SettingOp setting) { return addSetting(setting), success(); })
      .Case([&](sched::UpdateOp update) { return addUpdate(update), success(); })
      .Case([&](sched::GradientOp gradient) { return addGradient(gradient), success(); })
      .Case([&](sched::ComputeOp compute) { return addCompute(compute); })
      .Case([&](sched::StartOp start) { return addStart(start); })
      .Case([&](sched::CopyOp copy) { return addCopy(copy); })
      .Case([&](sched::WaitOp wait) { return addWait(wait), success(); })
      .Case([&](sched::PackOp pack) { return addPack(pack), success(); })
      .Case([&](sched::UnpackOp unpack) { return addUnpack(unpack), success(); })
      .Case([&](sched::SliceOp slice) { return addSlice(slice), success(); })
      .Case([&](sched::FreeOp free) { return addFree(free), success(); })
      .Case([&](sched::ResumeOp resume) { return addResume(resume), success(); })
      .Default([](Operation *other) { return other->emitOpError("cannot be written to the artifact"); });
}

FailureOr<std::unique_ptr<artifact::ProgramT>> ProgramSerializer::serialize() {
  program->name = op.getSymName().str();
  program->role = toArtifact(op.getRole());
  for (Operation &step : op.getBody().front())
    if (failed(addStep(step)))
      return failure();
  if (std::optional<sched::MemoryAttr> memory = op.getMemory()) {
    program->memory = std::make_unique<artifact::MemoryT>();
    program->memory->parameters = memory->getParameters();
    program->memory->constants = memory->getConstants();
    program->memory->inputs = memory->getInputs();
    program->memory->peak = memory->getPeak();
    program->memory->states = memory->getStates();
    program->memory->accumulators = memory->getAccumulators();
    program->memory->host_parameters = memory->getHostParameters();
    program->memory->host_states = memory->getHostStates();
    program->memory->host_peak = memory->getHostPeak();
  }
  if (std::optional<ArrayAttr> devices = op.getDevices())
    program->devices = toAxisTable(*devices);
  if (std::optional<ArrayAttr> timeline = op.getTimeline())
    for (auto instance : timeline->getAsRange<base::InstanceAttr>())
      program->timeline.emplace_back(tables.programs.lookup(instance.getProgram().getValue()),
                                     static_cast<int32_t>(instance.getMicrobatch()));
  if (base::GuardAttr guard = op.getGuardAttr())
    program->guard = toGuard(guard);
  return std::move(program);
}

FailureOr<std::unique_ptr<artifact::ProgramT>> serializeProgram(sched::ProgramOp program, ModuleTables &tables) {
  return ProgramSerializer(program, tables).serialize();
}

} // namespace meshplan
