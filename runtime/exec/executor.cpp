//===- executor.cpp - one rank of a running program -----------------------===//

#include "runtime/exec/executor.h"

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
#include <set>

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

Expected<std::unique_ptr<Executor>> Executor::create(const Artifact &artifact, const artifact::Program &program,
                                                     World &world, const OutputNames *asked) {
  RankView view(artifact.schedule(), program, world.rank());
  if (view.worldSize() != world.size())
    return Status::error(StatusCode::invalid, "program '", program.name()->string_view(), "' is for ", view.worldSize(),
                         " ranks, the run has ", world.size());
  // Different schedules would start different collectives and hang, or worse, exchange wrong data.
  MESHPLAN_RETURN_IF_ERROR(world.agree(artifact.hash()));
  std::unique_ptr<Executor> executor(new Executor(std::move(view), world));
  executor->initial.resize(program.values()->size());
  MESHPLAN_RETURN_IF_ERROR(executor->makeGroups());
  MESHPLAN_ASSIGN_OR_RETURN(executor->program, prepareSteps(executor->view, executor->groups, asked));
  executor->firstUpdate = firstUpdateOf(program);
  MESHPLAN_RETURN_IF_ERROR(executor->loadConstants());
  MESHPLAN_RETURN_IF_ERROR(executor->makeStates());
  return executor;
}

/// True for kinds that a backend moves from pair to pair. A reduce-scatter that does not sum may become an
/// all-to-all.
static bool needsPairs(const artifact::Start &start) {
  return start.kind() == artifact::CollectiveKind::all_to_all || start.kind() == artifact::CollectiveKind::permute ||
         (start.kind() == artifact::CollectiveKind::reduce_scatter && start.reduction() != artifact::Reduction::sum);
}

static std::set<int> communicatorsWithPairs(const artifact::Program &program) {
  std::set<int> found;
  for (const artifact::Instruction &instruction : elementsOf(program.instructions()))
    if (const artifact::Start *start = instruction.action_as_Start(); start && needsPairs(*start))
      found.insert(start->communicator());
  return found;
}

Status Executor::makeGroups() {
  // A program with devices of its own has no collectives; the schedule's communicators are for the mesh of the
  // schedule.
  bool ownDevices = view.program().devices() && view.program().devices()->size() > 0;
  if (ownDevices || !view.schedule().communicators())
    return Status();
  for (const artifact::Communicator *communicator : *view.schedule().communicators()) {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createGroup(view.group(*communicator), communicator->name()->str()));
    groups.push_back(std::move(group));
  }
  // All groups first: the order is the same on all ranks.
  for (int communicator : communicatorsWithPairs(view.program()))
    MESHPLAN_RETURN_IF_ERROR(groups[communicator]->connectPairs());
  return Status();
}

Status Executor::loadConstants() {
  if (!view.program().constants())
    return Status();
  for (const artifact::Constant *constant : *view.program().constants()) {
    int value = constant->value();
    std::vector<int64_t> shape = globalShapeOf(view.value(value));
    int64_t size = dtypeSize(view.dtype(value));
    // The artifact contains the whole constant; only this rank's shard is copied to the device.
    MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateHostTensor(view.shape(value), view.dtype(value)));
    MESHPLAN_RETURN_IF_ERROR(forEachRun(
        view.ranges(value), shape, contiguousStrides(shape), [&](int64_t global, int64_t local, int64_t count) {
          std::memcpy(tensor.data() + local * size, constant->data()->data() + global * size, count * size);
          return Status();
        }));
    resident.constants += tensor.byteSize();
    MESHPLAN_ASSIGN_OR_RETURN(initial[value], onDevice(tensor));
  }
  return Status();
}

Expected<Tensor> Executor::zeros(int value) {
  HostScope host(view.isOnHost(value));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, storages.allocate(value));
  MESHPLAN_RETURN_IF_ERROR(fillZeros(tensor));
  return tensor;
}

/// Creates the states that begin at zeros. States that begin as copies are loaded with their parameter.
Status Executor::makeStates() {
  for (const artifact::State &state : elementsOf(view.program().states())) {
    int value = state.value();
    int64_t &bytes = view.isOnHost(value) ? resident.hostStates : resident.states;
    bytes += elementCount(view.shape(value)) * dtypeSize(view.dtype(value));
    if (!state.copies()) {
      MESHPLAN_ASSIGN_OR_RETURN(initial[value], zeros(value));
    }
  }
  return Status();
}

/// Clears them in place, so that programs that share them see it.
Status Executor::clearAccumulators() {
  resident.accumulators = 0;
  for (const artifact::Accumulator &accumulator : elementsOf(view.program().accumulators())) {
    int value = accumulator.value();
    if (initial[value].defined()) {
      // Scratch memory is written before it is read.
      if (!accumulator.scratch())
        MESHPLAN_RETURN_IF_ERROR(fillZeros(initial[value]));
    } else {
      MESHPLAN_ASSIGN_OR_RETURN(initial[value], zeros(value));
    }
    resident.accumulators += initial[value].byteSize();
  }
  return Status();
}

namespace {
/// Calls `visit` with the name and value of everything that programs may share.
template <typename Visit> void forEachShared(const artifact::Program &program, const Visit &visit) {
  for (const artifact::Parameter &parameter : elementsOf(program.parameters()))
    visit("parameter " + parameter.names()->Get(0)->str(), parameter.value());
  for (const artifact::Port &input : elementsOf(program.inputs()))
    visit("input " + input.name()->str(), input.value());
  for (const artifact::Accumulator &accumulator : elementsOf(program.accumulators()))
    visit("accumulator " + accumulator.name()->str(), accumulator.value());
}
} // namespace

void Executor::share(const Executor &owner) {
  // Programs are matched by name, because each numbers its values separately. Tensors are reference counted, so sharing
  // copies no elements.
  storages.share(owner.storages);
  std::map<std::string, int, std::less<>> theirs;
  forEachShared(owner.view.program(), [&](const std::string &name, int value) { theirs[name] = value; });
  forEachShared(view.program(), [&](const std::string &name, int value) {
    if (auto found = theirs.find(name); found != theirs.end())
      initial[value] = owner.initial[found->second];
  });
  shareConstants(owner);
}

/// Constants are shared if the same rank holds the same bytes of the same dtype, whatever their names.
void Executor::shareConstants(const Executor &owner) {
  const auto *own = view.program().constants(), *theirs = owner.view.program().constants();
  auto isSame = [&](const artifact::Constant &left, const artifact::Constant &right) {
    return view.dtype(left.value()) == owner.view.dtype(right.value()) &&
           view.shape(left.value()) == owner.view.shape(right.value()) &&
           view.ranges(left.value()) == owner.view.ranges(right.value()) &&
           std::ranges::equal(*left.data(), *right.data());
  };
  for (const artifact::Constant &mine : elementsOf(own))
    for (const artifact::Constant &other : elementsOf(theirs))
      if (isSame(mine, other))
        initial[mine.value()] = owner.initial[other.value()];
}

Status Executor::loadWeights(const Feed &feed) {
  // A later call replaces the parameters, so their bytes are counted from zero.
  resident.parameters = resident.hostParameters = 0;
  if (!view.program().parameters())
    return Status();
  std::vector<FeedRequest> requests;
  // A parameter with parts, or a flat one, has several requests; parameter i ends with request ends[i].
  std::vector<size_t> ends;
  for (const artifact::Parameter *parameter : *view.program().parameters()) {
    std::ranges::move(requestsOf(view, parameter->value(), namesOf(*parameter)), std::back_inserter(requests));
    ends.push_back(requests.size());
  }
  ReadAhead readAhead(feed, requests);
  // Parameters are loaded one after the other, so only one of them is in staging memory; the disk reads ahead
  // meanwhile.
  for (size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++]) {
    int value = view.program().parameters()->Get(i)->value();
    for (size_t request = begin; request < ends[i]; ++request)
      readAhead.beforeReading(request);
    std::span<const FeedRequest> slices(requests.begin() + begin, requests.begin() + ends[i]);
    HostScope host(view.isOnHost(value));
    // Allocated in its buffer, if it has one, so that loading needs no further copy.
    MESHPLAN_ASSIGN_OR_RETURN(initial[value], storages.allocate(value));
    MESHPLAN_RETURN_IF_ERROR(loadInto(feed, slices, initial[value]));
    (view.isOnHost(value) ? resident.hostParameters : resident.parameters) += initial[value].byteSize();
  }
  // The check belongs to loading: in the first step the source of NaN would be hard to find.
  MESHPLAN_ASSIGN_OR_RETURN(nonfinite, nonfiniteWeights(view, initial));
  return Status();
}

Status Executor::loadParameters(const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(loadWeights(feed));
  return loadCopies(feed);
}

Status Executor::loadHeld(const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(loadWeights(feed));
  for (const artifact::State &state : elementsOf(view.program().states()))
    MESHPLAN_RETURN_IF_ERROR(loadState(feed, state, {state.name()->str()}));
  return Status();
}

Status Executor::loadState(const Feed &feed, const artifact::State &state, const std::vector<std::string> &names) {
  HostScope host(view.isOnHost(state.value()));
  MESHPLAN_ASSIGN_OR_RETURN(initial[state.value()], loadValue(feed, view, state.value(), names));
  return Status();
}

/// Loads the states that begin as copies of their parameter, in their own dtype.
Status Executor::loadCopies(const Feed &feed) {
  for (const artifact::State &state : elementsOf(view.program().states())) {
    if (!state.copies())
      continue;
    const artifact::Parameter *parameter = findParameter(view.program(), state.parameter()->string_view());
    MESHPLAN_RETURN_IF_ERROR(loadState(feed, state, namesOf(*parameter)));
  }
  return Status();
}

void Executor::forgetInputs() {
  for (const artifact::Port &input : elementsOf(view.program().inputs())) {
    int value = input.value();
    initial[value] = Tensor();
    if (!values.empty())
      values[value] = Tensor();
  }
}

Status Executor::loadInputs(const Feed &feed) {
  resident.inputs = 0;
  if (!view.program().inputs())
    return Status();
  for (const artifact::Port *port : *view.program().inputs()) {
    int value = port->value();
    MESHPLAN_ASSIGN_OR_RETURN(initial[value], loadValue(feed, view, value, {port->name()->str()}));
    resident.inputs += initial[value].byteSize();
  }
  return Status();
}

Status Executor::runStep(Step &step, Trace *trace) {
  if (!trace)
    return step.run(values);
  auto begin = Trace::Clock::now();
  Status status = step.run(values);
  trace->add(step.name(), begin, Trace::Clock::now());
  return status;
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

void Executor::countFrom(std::string_view parameter, int64_t steps) {
  const artifact::Program &own = view.program();
  for (const artifact::State &state : elementsOf(own.states())) {
    if (state.copies() || state.parameter()->string_view() != parameter)
      continue;
    for (flatbuffers::uoffset_t index = 0; index < own.instructions()->size(); ++index)
      if (const artifact::Compute *call = own.instructions()->Get(index)->action_as_Compute())
        if (valueArg(*call, "step") >= 0 && reads(own, *call, state.value()))
          uncounted[index] = steps;
  }
}

/// Runs an optimizer call whose parameter has its own step count.
Status Executor::runUpdate(size_t index, int64_t uncounted, Trace *trace) {
  const artifact::Program &own = view.program();
  int count = valueArg(*own.instructions()->Get(index)->action_as_Compute(), "step");
  // The operator reads the step count as a tensor. It is replaced for this call only.
  Tensor ofOthers = values[count];
  for (const artifact::Setting *setting : *own.settings())
    if (setting->value() == count) {
      MESHPLAN_ASSIGN_OR_RETURN(values[count], settings.tensorAt(*setting, stepsDone, static_cast<double>(uncounted)));
    }
  Status status = runStep(*program[index], trace);
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

Status Executor::begin(int64_t step, int64_t microbatch) {
  stepsDone = step;
  settings.setMicrobatch(microbatch);
  for (const auto &each : program)
    MESHPLAN_RETURN_IF_ERROR(each->begin(microbatch));
  return Status();
}

Status Executor::runSteps(Trace *trace, const Observer *observer) {
  // Settings depend on the step number, so they are computed before its first instruction.
  MESHPLAN_RETURN_IF_ERROR(settings.write(stepsDone, values));
  std::multimap<size_t, int> moments;
  if (observer)
    // A value is observed right after it exists, because the plan frees it after its last use.
    moments = momentsOf(view.program(), *observer);
  for (size_t index = 0; index < program.size(); ++index) {
    if (index == firstUpdate)
      MESHPLAN_RETURN_IF_ERROR(beginUpdates());
    auto own = uncounted.find(index);
    MESHPLAN_RETURN_IF_ERROR(own == uncounted.end() ? runStep(*program[index], trace)
                                                    : runUpdate(index, own->second, trace));
    for (auto [moment, last] = moments.equal_range(index); moment != last; ++moment)
      observer->see(moment->second, values[moment->second]);
  }
  // A program without updates calls the action too, so that a waiting checkpoint is never left behind.
  if (firstUpdate == program.size())
    MESHPLAN_RETURN_IF_ERROR(beginUpdates());
  // Operators and collectives on a device are asynchronous; wait for them, so that failures show here.
  MESHPLAN_RETURN_IF_ERROR(world.synchronize());
  return synchronizeCompute();
}

void Executor::takeUpdates() {
  // Only after the whole step has succeeded, so that a failed step does not mix old and new tensors here.
  for (const artifact::Update &update : elementsOf(view.program().updates()))
    // In most programs the value is the target itself, updated in place; otherwise the new tensor replaces the old one.
    initial[update.target()] = values[update.value()];
}

Expected<Tensor> Executor::current(std::string_view name) const {
  for (const artifact::Parameter &parameter : elementsOf(view.program().parameters()))
    for (const flatbuffers::String *own : *parameter.names())
      if (own->string_view() == name)
        return initial[parameter.value()];
  for (const artifact::State &state : elementsOf(view.program().states()))
    if (state.name()->string_view() == name)
      return initial[state.value()];
  return Status::error(StatusCode::notFound, "the program has no parameter or state '", name, "'");
}

int64_t Executor::packedBytes() const {
  int64_t bytes = 0;
  for (const auto &step : program)
    bytes += step->packedBytes();
  return bytes;
}

double Executor::waitedSeconds() const {
  double seconds = 0;
  for (const auto &step : program)
    seconds += step->waitedSeconds();
  return seconds;
}

Status Executor::run(Trace *trace, const Observer *observer) {
  values.clear();
  // Values share the elements of parameters and states. Instructions that update in place therefore update these.
  values = initial;
  // Here and not at creation: storages may be shared with another program in between.
  MESHPLAN_RETURN_IF_ERROR(storages.registerWith(groups));
  Status status = runSteps(trace, observer);
  // The buffers of collectives in flight are freed with this failure, so peers must stop using them first.
  if (!status.ok())
    world.abort(Status(StatusCode::peerLost, status.message()));
  if (!status.ok())
    return status;
  takeUpdates();
  ++stepsDone;
  return Status();
}
