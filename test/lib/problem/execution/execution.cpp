//===- execution.cpp - what all ranks of an execution know ----------------===//

#include "test/lib/problem/execution/execution.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace meshplan;
using namespace meshplan::scheduling;

/// The least sizes of mesh axes that all communicators inside a coordinate fit.
static std::vector<int64_t> meshOf(llvm::ArrayRef<Coordinate> coordinates) {
  std::vector<int64_t> sizes = {1};
  for (const Coordinate &coordinate : coordinates)
    for (const Operation &operation : coordinate.problem.operations) {
      if (!operation.isCollective() || !operation.instances.empty())
        continue;
      for (const AxisRef &axis : coordinate.problem.communicators[*operation.communicator].axes) {
        sizes.resize(std::max(sizes.size(), static_cast<size_t>(axis.axis) + 1), 1);
        sizes[axis.axis] = std::lcm(sizes[axis.axis], axis.pre * axis.size);
      }
    }
  return sizes;
}

Execution::Execution(llvm::ArrayRef<Coordinate> coordinates, uint64_t seed)
    : coordinates(coordinates), seed(seed), mesh(meshOf(coordinates)) {
  for (int64_t size : mesh)
    local *= size;
  addMeetings();
  orderMeetings();
}

void Execution::addMeetings() {
  for (auto [index, coordinate] : llvm::enumerate(coordinates))
    for (const Operation &operation : coordinate.problem.operations)
      for (const Instance &instance : operation.instances) {
        if (llvm::any_of(ordered, [&](const Meeting &each) { return each.name == instance.name; }))
          continue;
        Meeting meeting{instance.name, {instance.others.begin(), instance.others.end()}};
        meeting.coordinates.push_back(index);
        llvm::sort(meeting.coordinates);
        ordered.push_back(std::move(meeting));
      }
}

/// By turns: all lists advance over launches whose meetings each come next in the lists of all who take part. If none
/// can, the lists have a cycle, and the rest has no order.
void Execution::orderMeetings() {
  std::vector<std::vector<std::vector<unsigned>>> launches(coordinates.size()); // the last is the next one
  std::vector<size_t> missing;                                                  // coordinates that are not there yet
  for (const Meeting &meeting : ordered)
    missing.push_back(meeting.coordinates.size());
  for (auto [coordinate, own] : llvm::zip_equal(coordinates, launches)) {
    for (Step step : coordinate.solution.steps)
      if (step.kind == StepKind::start && !coordinate.problem.operations[step.index].instances.empty())
        own.push_back(meetingsOf(coordinate.problem.operations[step.index]));
    std::ranges::reverse(own);
  }
  std::vector<unsigned> order;
  auto arrive = [&](std::vector<std::vector<unsigned>> &own) {
    for (unsigned meeting : own.back())
      if (--missing[meeting] == 0)
        order.push_back(meeting);
  };
  // A launch is over when all its meetings are.
  auto isOver = [&](const std::vector<unsigned> &launch) {
    return llvm::all_of(launch, [&](unsigned meeting) { return missing[meeting] == 0; });
  };
  for (auto &own : launches)
    if (!own.empty())
      arrive(own);
  for (bool advances = true; advances;) {
    advances = false;
    for (auto &own : launches)
      if (!own.empty() && isOver(own.back())) {
        advances = true;
        own.pop_back();
        if (!own.empty())
          arrive(own);
      }
  }
  for (unsigned meeting = 0; meeting < ordered.size(); ++meeting)
    if (!llvm::is_contained(order, meeting))
      order.push_back(meeting);
  std::vector<Meeting> sorted;
  for (unsigned meeting : order)
    sorted.push_back(std::move(ordered[meeting]));
  ordered = std::move(sorted);
}

std::vector<int64_t> Execution::groupOf(Place place, const Communicator &communicator) const {
  std::vector<int64_t> ranks = meshplan::groupOf(communicator.axes, mesh, coordinateOfRank(place.local, mesh));
  for (int64_t &rank : ranks)
    rank += place.coordinate * local;
  return ranks;
}

std::vector<int64_t> Execution::groupOf(Place place, const Meeting &meeting) const {
  std::vector<int64_t> ranks;
  for (unsigned coordinate : meeting.coordinates)
    ranks.push_back(coordinate * local + place.local);
  return ranks;
}

std::vector<unsigned> Execution::meetingsOf(const Operation &operation) const {
  std::vector<unsigned> found;
  for (auto [index, meeting] : llvm::enumerate(ordered))
    if (llvm::any_of(operation.instances, [&](const Instance &each) { return each.name == meeting.name; }))
      found.push_back(index);
  return found;
}

/// Half of them are tiny; one in eight is so large that the backend moves it in pieces, by several threads.
size_t Execution::drawCount(std::initializer_list<uint64_t> numbers) const {
  uint64_t drawn = mix({seed, mix(numbers)}) % 8;
  return drawn < 4 ? 3 : drawn < 7 ? 600 : 6000;
}

namespace {
/// What payloads are of.
enum Origin : uint64_t { ofPart, ofMeeting, ofResult };
} // namespace

size_t Execution::countOf(unsigned coordinate, unsigned operation) const {
  return drawCount({ofPart, coordinate, operation});
}

size_t Execution::countOf(unsigned meeting) const { return drawCount({ofMeeting, meeting}); }

Payload Execution::part(Place place, unsigned operation) const {
  return Payload::of({seed, ofPart, place.coordinate, static_cast<uint64_t>(place.local), operation});
}

Payload Execution::sum(Place place, unsigned operation) const {
  const Problem &problem = at(place).problem;
  Payload sum;
  for (int64_t rank : groupOf(place, problem.communicators[*problem.operations[operation].communicator]))
    sum = sum + part(placeOf(rank), operation);
  return sum;
}

Payload Execution::partIn(Place place, unsigned meeting) const {
  return Payload::of({seed, ofMeeting, place.coordinate, static_cast<uint64_t>(place.local), meeting});
}

Payload Execution::sumOf(Place place, unsigned meeting) const {
  Payload sum;
  for (int64_t rank : groupOf(place, ordered[meeting]))
    sum = sum + partIn(placeOf(rank), meeting);
  return sum;
}

Payload Execution::result(Place place, unsigned operation) const {
  const Operation &own = at(place).problem.operations[operation];
  if (!own.instances.empty())
    return sumOf(place, meetingsOf(own).front());
  if (own.isCollective())
    return sum(place, operation);
  return Payload::of({seed, ofResult, place.coordinate, static_cast<uint64_t>(place.local), operation});
}
