//===- rank_walk.cpp - one rank works through its list --------------------===//

#include "test/lib/problem/execution/rank_walk.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace meshplan;
using namespace meshplan::scheduling;

static std::span<uint64_t> elementsOf(const Tensor &tensor) {
  return {reinterpret_cast<uint64_t *>(tensor.data()), static_cast<size_t>(tensor.elementCount())};
}

static Expected<Tensor> makeTensor(size_t count) {
  return allocateTensor(std::array{static_cast<int64_t>(count)}, DType::i64);
}

RankWalk::RankWalk(const Execution &execution, World &world, Delays delays)
    : execution(execution), world(world), delays(std::move(delays)), place(execution.placeOf(world.rank())),
      problem(execution.at(place).problem), producers(problem.producers()), storages(problem.buffers.size()),
      isLive(problem.buffers.size(), false) {
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    if (buffer.permanent) {
      isLive[index] = true;
      storages[index].resize(3);
      expectedIn(index).fill(storages[index]);
    }
}

/// What the operation that produces the buffer leaves there. A view has what its storage has, unless its producer
/// overwrites it.
Payload RankWalk::expectedIn(unsigned buffer) const {
  std::optional<unsigned> producer = producers[buffer];
  if (!producer)
    return Payload::of({place.coordinate, static_cast<uint64_t>(place.local), buffer});
  return isWritten(*producer, buffer) ? execution.result(place, *producer)
                                      : expectedIn(*problem.buffers[buffer].viewOf);
}

bool RankWalk::isWritten(unsigned operation, unsigned buffer) const {
  return !problem.buffers[buffer].viewOf ||
         llvm::any_of(problem.operations[operation].overwritten,
                      [&](unsigned other) { return problem.storageOf(other) == problem.storageOf(buffer); });
}

Status RankWalk::checkBuffer(unsigned buffer) const {
  const std::string &name = problem.buffers[buffer].name;
  if (!isLive[buffer])
    return Status::error(StatusCode::internal, "buffer '", name, "' is not there");
  if (!expectedIn(buffer).isIn(storages[problem.storageOf(buffer)]))
    return Status::error(StatusCode::internal, "buffer '", name, "' has wrong elements");
  return Status();
}

Status RankWalk::checkConsumed(unsigned operation) const {
  for (unsigned buffer : problem.operations[operation].consumed)
    MESHPLAN_RETURN_IF_ERROR(checkBuffer(buffer));
  return Status();
}

Status RankWalk::produce(unsigned operation) {
  for (unsigned buffer : problem.operations[operation].produced) {
    isLive[buffer] = true;
    if (!isWritten(operation, buffer))
      continue;
    Elements &elements = storages[problem.storageOf(buffer)];
    elements.resize(execution.countOf(place.coordinate, operation));
    execution.result(place, operation).fill(elements);
  }
  return Status();
}

Status RankWalk::makeGroups() {
  for (const Operation &operation : problem.operations)
    if (operation.isCollective() && operation.instances.empty() && !groups.contains(*operation.communicator)) {
      const Communicator &communicator = problem.communicators[*operation.communicator];
      MESHPLAN_ASSIGN_OR_RETURN(groups[*operation.communicator],
                                world.createGroup(execution.groupOf(place, communicator), communicator.name));
    }
  for (auto [index, meeting] : llvm::enumerate(execution.meetings()))
    if (llvm::is_contained(meeting.coordinates, place.coordinate)) {
      MESHPLAN_ASSIGN_OR_RETURN(meetingGroups[index],
                                world.createGroup(execution.groupOf(place, meeting), meeting.name));
    }
  return Status();
}

Status RankWalk::startCollective(Group &group, size_t count, Payload part, Payload sum, CollectiveLabel label,
                                 std::vector<Flight> &flights) {
  Flight &flight = flights.emplace_back();
  flight.expected = sum;
  MESHPLAN_ASSIGN_OR_RETURN(flight.sent, makeTensor(count));
  MESHPLAN_ASSIGN_OR_RETURN(flight.received, makeTensor(count));
  part.fill(elementsOf(flight.sent));
  MESHPLAN_ASSIGN_OR_RETURN(flight.collective,
                            group.startAllReduce(flight.sent.data(), flight.received.data(),
                                                 static_cast<int64_t>(count), DType::i64, Reduction::sum, label));
  return Status();
}

Status RankWalk::startCopy(unsigned operation, Flight &flight) {
  size_t count = execution.countOf(place.coordinate, operation);
  flight.expected = execution.result(place, operation);
  MESHPLAN_ASSIGN_OR_RETURN(flight.sent, makeTensor(count));
  MESHPLAN_ASSIGN_OR_RETURN(flight.received, makeTensor(count));
  flight.expected.fill(elementsOf(flight.sent));
  std::unique_ptr<CopyLane> &lane = copyLanes[problem.operations[operation].lane];
  if (!lane)
    // On a CPU both directions are the same.
    lane = std::make_unique<CopyLane>(CopyDirection::toHost);
  MESHPLAN_ASSIGN_OR_RETURN(flight.copy, lane->start(flight.sent, flight.received));
  return Status();
}

Status RankWalk::compute(unsigned operation) {
  MESHPLAN_RETURN_IF_ERROR(checkConsumed(operation));
  delays.pass();
  MESHPLAN_RETURN_IF_ERROR(checkConsumed(operation));
  return produce(operation);
}

Status RankWalk::start(unsigned operation) {
  const Operation &own = problem.operations[operation];
  auto [entry, isNew] = inFlight.try_emplace(operation);
  if (!isNew)
    return Status(StatusCode::internal, "it is in flight already");
  MESHPLAN_RETURN_IF_ERROR(checkConsumed(operation));
  // A start with a random delay of its own: DelayedWorld.
  std::vector<Flight> &flights = entry->second;
  for (unsigned meeting : execution.meetingsOf(own))
    MESHPLAN_RETURN_IF_ERROR(startCollective(*meetingGroups.at(meeting), execution.countOf(meeting),
                                             execution.partIn(place, meeting), execution.sumOf(place, meeting),
                                             {.sequence = meeting, .origin = own.name}, flights));
  if (!flights.empty())
    return Status();
  if (own.isCollective())
    return startCollective(*groups.at(*own.communicator), execution.countOf(place.coordinate, operation),
                           execution.part(place, operation), execution.sum(place, operation),
                           {.sequence = operation, .origin = own.name}, flights);
  return startCopy(operation, flights.emplace_back());
}

Status RankWalk::wait(unsigned operation) {
  auto entry = inFlight.find(operation);
  if (entry == inFlight.end())
    return Status(StatusCode::internal, "it is not in flight");
  for (Flight &flight : entry->second) {
    MESHPLAN_RETURN_IF_ERROR(flight.copy ? flight.copy->wait() : flight.collective->wait());
    if (!flight.expected.isIn(elementsOf(flight.received)))
      return Status(StatusCode::internal, "the result has wrong elements");
  }
  inFlight.erase(entry);
  MESHPLAN_RETURN_IF_ERROR(checkConsumed(operation));
  return produce(operation);
}

Status RankWalk::free(unsigned buffer) {
  if (!isLive[buffer])
    return Status(StatusCode::internal, "it is not there");
  isLive[buffer] = false;
  unsigned storage = problem.storageOf(buffer);
  bool isShared = false;
  for (unsigned other = 0; other < problem.buffers.size(); ++other)
    isShared |= isLive[other] && problem.storageOf(other) == storage;
  if (!isShared)
    Elements().swap(storages[storage]);
  return Status();
}

Status RankWalk::checkKept() const {
  for (unsigned buffer = 0; buffer < problem.buffers.size(); ++buffer)
    if (problem.buffers[buffer].kept)
      MESHPLAN_RETURN_IF_ERROR(checkBuffer(buffer));
  return Status();
}

Status RankWalk::runStep(Step step) {
  switch (step.kind) {
  case StepKind::run:
    return compute(step.index);
  case StepKind::start:
    return start(step.index);
  case StepKind::wait:
    return wait(step.index);
  case StepKind::free:
    return free(step.index);
  }
  return Status();
}

Status RankWalk::run() {
  const Coordinate &coordinate = execution.at(place);
  MESHPLAN_RETURN_IF_ERROR(makeGroups());
  for (Step step : coordinate.solution.steps)
    if (Status status = runStep(step); !status.ok())
      return status.withContext("rank " + std::to_string(world.rank()) +
                                (coordinate.name.empty() ? "" : " of coordinate '" + coordinate.name + "'") + ": " +
                                describe(problem, step));
  return checkKept().withContext("rank " + std::to_string(world.rank()) + ": at the end");
}
