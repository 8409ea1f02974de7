//===- session.cpp - what a rank keeps between runs -----------------------===//

#include "runtime/exec/session.h"

#include "runtime/exec/held.h"
#include "runtime/exec/load.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

using namespace meshplan;

/// True if the program runs on devices of its own instead of the mesh of the schedule.
static bool hasDevices(const artifact::Program &program) { return program.devices() && program.devices()->size() > 0; }

/// True for kinds that a backend moves from pair to pair. A reduce-scatter that does not sum may become an all-to-all.
static bool needsPairs(const artifact::Start &start) {
  return start.kind() == artifact::CollectiveKind::all_to_all || start.kind() == artifact::CollectiveKind::permute ||
         (start.kind() == artifact::CollectiveKind::reduce_scatter && start.reduction() != artifact::Reduction::sum);
}

/// The communicators on which any of the programs moves from pair to pair.
static std::set<int> communicatorsWithPairs(std::span<const RankView> views) {
  std::set<int> found;
  for (const RankView &view : views)
    for (const artifact::Instruction &instruction : elementsOf(view.program().instructions()))
      if (const artifact::Start *start = instruction.action_as_Start(); start && needsPairs(*start))
        found.insert(start->communicator());
  return found;
}

Expected<std::shared_ptr<Session>> Session::create(const Artifact &artifact, const artifact::Program &program,
                                                   World &world) {
  const artifact::Schedule &schedule = artifact.schedule();
  RankView view(schedule, program, world.rank());
  if (view.worldSize() != world.size())
    return Status::error(StatusCode::invalid, "program '", program.name()->string_view(), "' is for ", view.worldSize(),
                         " ranks, the run has ", world.size());
  // Different schedules would start different collectives and hang, or worse, exchange wrong data.
  MESHPLAN_RETURN_IF_ERROR(world.agree(artifact.hash()));
  std::vector<RankView> views;
  for (const artifact::Program *each : *schedule.programs())
    if (hasDevices(program) ? each == &program : !hasDevices(*each))
      views.emplace_back(schedule, *each, world.rank());
  std::shared_ptr<Session> session(new Session(schedule, views, world));
  MESHPLAN_RETURN_IF_ERROR(session->makeGroups(view));
  // All groups first: the order is the same on all ranks.
  for (int communicator : communicatorsWithPairs(views))
    MESHPLAN_RETURN_IF_ERROR(session->communicators[communicator]->connectPairs());
  return session;
}

Status Session::makeGroups(const RankView &view) {
  // All communicators of the schedule, in its order, also those that no program uses: with NCCL each creation is a
  // collective of its ranks, and only the order of creation distinguishes groups of equal name and ranks. A program
  // with devices of its own has no collectives; the schedule's communicators are for the mesh of the schedule.
  if (hasDevices(view.program()) || !schedule.communicators())
    return Status();
  for (const artifact::Communicator *communicator : *schedule.communicators()) {
    MESHPLAN_ASSIGN_OR_RETURN(auto group, ranks.createGroup(view.group(*communicator), communicator->name()->str()));
    communicators.push_back(std::move(group));
  }
  return Status();
}

std::shared_ptr<Tensor> &Session::slot(const std::string &name) {
  std::shared_ptr<Tensor> &tensor = slots[name];
  if (!tensor)
    tensor = std::make_shared<Tensor>();
  return tensor;
}

/// Constants of two programs are the same if this rank has the same bytes of the same dtype, whatever their names. The
/// planned memory of a program counts each of its own.
Expected<std::shared_ptr<Tensor>> Session::constant(const RankView &view, const artifact::Constant &constant) {
  int value = constant.value();
  auto mayBeSame = [&](const LoadedConstant &known) {
    return known.table == &constant || &known.view.program() != &view.program();
  };
  for (const LoadedConstant &known : constants)
    if (mayBeSame(known) && known.view.dtype(known.table->value()) == view.dtype(value) &&
        known.view.shape(known.table->value()) == view.shape(value) &&
        known.view.ranges(known.table->value()) == view.ranges(value) &&
        std::ranges::equal(*known.table->data(), *constant.data()))
      return known.tensor;
  std::vector<int64_t> shape = globalShapeOf(view.value(value));
  int64_t size = dtypeSize(view.dtype(value));
  // The artifact contains the whole constant; only this rank's shard is copied to the device.
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, allocateHostTensor(view.shape(value), view.dtype(value)));
  MESHPLAN_RETURN_IF_ERROR(forEachRun(
      view.ranges(value), shape, contiguousStrides(shape), [&](int64_t global, int64_t local, int64_t count) {
        std::memcpy(tensor.data() + local * size, constant.data()->data() + global * size, count * size);
        return Status();
      }));
  MESHPLAN_ASSIGN_OR_RETURN(tensor, onDevice(tensor));
  constants.push_back({view, &constant, std::make_shared<Tensor>(std::move(tensor))});
  return constants.back().tensor;
}

Expected<Tensor> Session::zeros(const RankView &view, int value, const std::string &name) {
  HostScope host(view.isOnHost(value));
  MESHPLAN_ASSIGN_OR_RETURN(Tensor tensor, storages.allocate(view, value, name));
  MESHPLAN_RETURN_IF_ERROR(fillZeros(tensor));
  return tensor;
}

/// Makes a state that begins at zeros. States that begin as copies are loaded with their parameter.
Status Session::makeState(const RankView &view, const artifact::State &state) {
  std::string name = "state " + state.name()->str();
  if (slots.contains(name))
    return Status();
  std::shared_ptr<Tensor> &own = slot(name);
  if (!state.copies()) {
    MESHPLAN_ASSIGN_OR_RETURN(*own, zeros(view, state.value(), name));
  }
  return Status();
}

Expected<HeldTensors> Session::held(const RankView &view) {
  for (const artifact::State &state : elementsOf(view.program().states()))
    MESHPLAN_RETURN_IF_ERROR(makeState(view, state));
  HeldTensors tensors(view.program().values()->size());
  for (const auto &[value, name] : heldNames(view.program()))
    tensors[value] = slot(name);
  for (const artifact::Constant &each : elementsOf(view.program().constants())) {
    MESHPLAN_ASSIGN_OR_RETURN(tensors[each.value()], constant(view, each));
  }
  return tensors;
}

Status Session::clearAccumulators(const RankView &view) {
  for (const artifact::Accumulator &accumulator : elementsOf(view.program().accumulators())) {
    std::string name = "accumulator " + accumulator.name()->str();
    Tensor &own = *slot(name);
    // In place, so that values of the last run that are views stay what they are.
    if (!own.defined()) {
      MESHPLAN_ASSIGN_OR_RETURN(own, zeros(view, accumulator.value(), name));
    } else if (!accumulator.scratch()) { // scratch memory is written before it is read
      MESHPLAN_RETURN_IF_ERROR(fillZeros(own));
    }
  }
  return Status();
}

Status Session::loadWeights(const RankView &view, const Feed &feed) {
  if (!view.program().parameters())
    return Status();
  std::vector<FeedRequest> requests;
  // A parameter with parts, or a flat one, has several requests; parameter i ends with request ends[i]. All requests
  // are made before the first is read, so that the feed can read ahead across parameters.
  std::vector<size_t> ends;
  for (const artifact::Parameter *parameter : *view.program().parameters()) {
    std::ranges::move(requestsOf(view, parameter->value(), namesOf(*parameter)), std::back_inserter(requests));
    ends.push_back(requests.size());
  }
  ReadAhead readAhead(feed, requests);
  std::vector<Tensor> loaded(view.program().values()->size());
  std::map<int, std::string> names = heldNames(view.program());
  // Parameters are loaded one after the other, so only one of them is in staging memory; the disk reads ahead
  // meanwhile.
  for (size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++]) {
    int value = view.program().parameters()->Get(i)->value();
    for (size_t request = begin; request < ends[i]; ++request)
      readAhead.beforeReading(request);
    std::span<const FeedRequest> slices(requests.begin() + begin, requests.begin() + ends[i]);
    HostScope host(view.isOnHost(value));
    Tensor &own = *slot(names.at(value));
    // Allocated in its buffer, if it has one, so that loading needs no further copy.
    MESHPLAN_ASSIGN_OR_RETURN(own, storages.allocate(view, value, names.at(value)));
    MESHPLAN_RETURN_IF_ERROR(loadInto(feed, slices, own));
    loaded[value] = own;
  }
  // The check belongs to loading: in the first step the source of NaN would be hard to find.
  MESHPLAN_ASSIGN_OR_RETURN(nonfinite, nonfiniteWeights(view, loaded));
  return Status();
}

Status Session::loadParameters(const RankView &view, const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(loadWeights(view, feed));
  for (const artifact::State &state : elementsOf(view.program().states())) {
    if (!state.copies())
      continue;
    // Not under the name of the state: initial weights have no such tensor, and the parameter's elements, converted to
    // the dtype of the state, are its beginning.
    const artifact::Parameter *parameter = findParameter(view.program(), state.parameter()->string_view());
    MESHPLAN_RETURN_IF_ERROR(loadState(view, feed, state, namesOf(*parameter)));
  }
  return Status();
}

Status Session::loadHeld(const RankView &view, const Feed &feed) {
  MESHPLAN_RETURN_IF_ERROR(loadWeights(view, feed));
  for (const artifact::State &state : elementsOf(view.program().states()))
    MESHPLAN_RETURN_IF_ERROR(loadState(view, feed, state, {state.name()->str()}));
  return Status();
}

Status Session::loadState(const RankView &view, const Feed &feed, const artifact::State &state,
                          const std::vector<std::string> &names) {
  HostScope host(view.isOnHost(state.value()));
  MESHPLAN_ASSIGN_OR_RETURN(*slot("state " + state.name()->str()), loadValue(feed, view, state.value(), names));
  return Status();
}

ResidentBytes meshplan::residentBytes(const RankView &view) {
  const artifact::Program &program = view.program();
  ResidentBytes resident;
  auto bytesOf = [&](int value) { return elementCount(view.shape(value)) * dtypeSize(view.dtype(value)); };
  for (const artifact::Parameter &each : elementsOf(program.parameters()))
    (view.isOnHost(each.value()) ? resident.hostParameters : resident.parameters) += bytesOf(each.value());
  for (const artifact::Constant &each : elementsOf(program.constants()))
    resident.constants += bytesOf(each.value());
  for (const artifact::Port &each : elementsOf(program.inputs()))
    resident.inputs += bytesOf(each.value());
  for (const artifact::State &each : elementsOf(program.states()))
    (view.isOnHost(each.value()) ? resident.hostStates : resident.states) += bytesOf(each.value());
  for (const artifact::Accumulator &each : elementsOf(program.accumulators()))
    resident.accumulators += bytesOf(each.value());
  return resident;
}
