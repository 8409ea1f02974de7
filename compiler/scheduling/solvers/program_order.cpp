//===- program_order.cpp - the order in which the program was written -----===//
//
// Compute keeps its order; the starts of collectives move up, and their waits
// move down. With g = all_gather(a), r = all_reduce(y):
//
//   problem:   a = load   b = mm(x)   g = all_gather(a)   y = mm(g, b)   r = all_reduce(y)   z = add(b, c)
//   solution:  run a, start g, run b, wait g, run y, start r, run z, wait r      (frees left out)
//
// The gather starts when `a` is complete and overlaps with `b`; the reduction overlaps with `z`. What a collective
// sends is packed right before it starts, and what it receives is unpacked right after its wait. Two things bound the
// memory that this costs:
// - placeStarts() lets at most two gathers of a communicator run ahead;
// - makeRoom() bounds the inputs that unfinished reductions keep alive.
// Copies to and from the host start and are waited for like collectives. A collective whose input another collective
// produces starts right before the next one on the lane of that other one: placeFollowers().
//
// A gather of parameters depends on nothing that the program computes, so it would start at the beginning. Prefetch
// says when instead: placePrefetches().
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/solvers/choice_search.h"
#include "compiler/scheduling/solvers/walker.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>
#include <utility>

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Expected;

namespace {
/// Issues the operations of a problem one by one.
class ProgramOrder {
public:
  explicit ProgramOrder(const Problem &problem)
      : problem(problem), producers(problem.producers()), startedBy(problem.operations.size()),
        startedBefore(problem.operations.size()), isPrefetched(problem.operations.size()),
        isIssued(problem.operations.size()), startsAfter(problem.operations.size()), packs(problem.operations.size()),
        unpacks(problem.operations.size()) {}

  Solution solve();

private:
  void findCopies();
  template <typename Visitor> void forEachBefore(unsigned index, Visitor visit) const;
  void placePrefetches();
  void placeStarts();
  void placeFollowers();
  void findReleased();
  void makeRoom(unsigned index);
  void issueWithWhatItNeeds(unsigned index);
  void issue(unsigned index);
  void wait(unsigned index);

  const Problem &problem;
  std::vector<std::optional<unsigned>> producers;
  /// Collectives that start right after each operation.
  std::vector<llvm::SmallVector<unsigned, 1>> startedBy;
  /// Gathers of parameters that start right before each operation, earlier than at their own position.
  std::vector<llvm::SmallVector<unsigned, 1>> startedBefore;
  std::vector<bool> isPrefetched, isIssued;
  /// For each collective, the operation after which it starts.
  std::vector<std::optional<unsigned>> startsAfter;
  /// For each collective, the operations that pack what it sends and unpack what it receives.
  std::vector<std::optional<unsigned>> packs, unpacks;
  /// For each reduction, the bytes of the buffers that only it still reads: its wait allows them to be freed. And the
  /// largest of these numbers.
  std::vector<int64_t> released;
  int64_t mostReleased = 0;
  std::vector<unsigned> inFlight;
  Solution solution;
};
} // namespace

/// Bytes of the storages of these buffers, in the rank class that has most of them.
static int64_t bytesOf(const Problem &problem, llvm::ArrayRef<unsigned> buffers) {
  llvm::SmallSetVector<unsigned, 8> storages;
  for (unsigned buffer : buffers)
    storages.insert(problem.storageOf(buffer));
  int64_t most = 0;
  for (unsigned rankClass = 0; rankClass < problem.rankClasses; ++rankClass)
    most = std::max(most,
                    std::accumulate(storages.begin(), storages.end(), int64_t(0), [&](int64_t sum, unsigned storage) {
                      return sum + problem.buffers[storage].bytes[rankClass];
                    }));
  return most;
}

/// A copy that belongs to its collective.
static bool isIssuedWithCollective(const Operation &copy) {
  return copy.copy == Copy::pack || copy.copy == Copy::unpack;
}

void ProgramOrder::findCopies() {
  std::vector<std::optional<unsigned>> reader(problem.buffers.size());
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    for (unsigned buffer : operation.consumed)
      reader[buffer] = index;
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (operation.copy == Copy::pack)
      packs[*reader[operation.produced.front()]] = index;
    else if (operation.copy == Copy::unpack)
      unpacks[*producers[operation.consumed.front()]] = index;
  }
}

/// Calls `visit` with the operations that must be over before an operation is issued. A collective is issued together
/// with its copies, so what these wait for counts as well; a copy of another collective counts as that collective.
template <typename Visitor> void ProgramOrder::forEachBefore(unsigned index, Visitor visit) const {
  for (std::optional<unsigned> each : {packs[index], std::optional(index), unpacks[index]}) {
    if (!each)
      continue;
    problem.forEachDependency(problem.operations[*each], producers, [&](unsigned other) {
      const Operation &before = problem.operations[other];
      if (before.copy == Copy::unpack)
        other = *producers[before.consumed.front()];
      if (other != index && before.copy != Copy::pack)
        visit(other);
    });
  }
}

/// True if the results are larger than the inputs, as those of an all-gather are.
static bool grows(const Problem &problem, const Operation &operation) {
  return bytesOf(problem, operation.produced) > bytesOf(problem, operation.consumed);
}

/// For each operation, the first that reads a result of it; a copy out of a buffer reads for those that read its
/// results.
static std::vector<std::optional<unsigned>> firstReaders(const Problem &problem) {
  auto producers = problem.producers();
  std::vector<std::optional<unsigned>> first(problem.operations.size());
  for (unsigned index = problem.operations.size(); index-- > 0;) {
    unsigned reader = index;
    if (problem.operations[index].copy == Copy::unpack && first[index])
      reader = *first[index];
    for (unsigned buffer : problem.operations[index].consumed)
      if (producers[buffer])
        first[*producers[buffer]] = reader;
  }
  return first;
}

/// Gathers of a unit start where the unit is first read that is gathered Prefetch::ahead units earlier. Nothing is
/// gathered before the first unit.
void ProgramOrder::placePrefetches() {
  llvm::MapVector<int64_t, llvm::SmallVector<unsigned, 4>> units;
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    if (operation.prefetch)
      units[operation.prefetch->unit].push_back(index);
  if (units.empty())
    return;
  std::vector<std::optional<unsigned>> readers = firstReaders(problem);
  std::vector<std::optional<unsigned>> firstReadOf;
  for (const auto &[unit, gathers] : units) {
    std::optional<unsigned> &first = firstReadOf.emplace_back();
    for (unsigned gather : gathers)
      if (readers[gather])
        first = std::min(first.value_or(*readers[gather]), *readers[gather]);
    int64_t number = firstReadOf.size() - 1, ahead = problem.operations[gathers.front()].prefetch->ahead;
    if (number == 0 || ahead == 0)
      continue;
    if (std::optional<unsigned> position = firstReadOf[std::max<int64_t>(0, number - ahead)])
      for (unsigned gather : gathers)
        if (*position < gather) {
          startedBefore[*position].push_back(gather);
          isPrefetched[gather] = true;
        }
  }
}

/// Moves each collective up to the operation that completes its inputs. A collective of permanent buffers stays where
/// it is: if it started at the top, its results would be held for the whole program. A collective that grows (the
/// gather of an activation for the backward pass) moves up no further than the last but one growing collective of its
/// communicator, so that at most two such results wait for their readers.
void ProgramOrder::placeStarts() {
  // By lane and communicator: the last but one and the last.
  llvm::DenseMap<std::pair<unsigned, unsigned>, std::pair<unsigned, unsigned>> growing;
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (!problem.isAsynchronous(operation) || isPrefetched[index])
      continue;
    std::optional<unsigned> last;
    forEachBefore(index, [&](unsigned other) { last = std::max(last.value_or(0), other); });
    bool afterCompute = last && !problem.isAsynchronous(problem.operations[*last]);
    unsigned position = afterCompute ? *last : index;
    if (grows(problem, operation)) {
      auto &[lastButOne, previous] = growing[{operation.lane, operation.communicator.value_or(0)}];
      position = std::max(position, lastButOne);
      lastButOne = std::exchange(previous, index);
    }
    startedBy[position].push_back(index);
    startsAfter[index] = position;
  }
}

/// Moves collectives whose input another collective produces, such as a sum over pods of what is scattered inside a
/// pod. Such a collective would start right after the other one, and so wait for it. It is moved to where the next
/// collective on the lane of the other one starts, and starts before that one: by then the other one is usually over,
/// so that the wait costs nothing.
void ProgramOrder::placeFollowers() {
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (startsAfter[index] != index || operation.blocking || grows(problem, operation))
      continue;
    std::optional<unsigned> first, lane; // after which all that it reads is issued, and the lane of the last of these
    forEachBefore(index, [&](unsigned other) {
      unsigned position = startsAfter[other].value_or(other);
      if (!first || position >= *first) {
        first = position;
        lane = problem.isAsynchronous(problem.operations[other]) ? std::optional(problem.operations[other].lane)
                                                                 : std::nullopt;
      }
    });
    if (!lane)
      continue;
    auto startsNext = [&](unsigned position) {
      return llvm::any_of(startedBy[position], [&](unsigned other) { return problem.operations[other].lane == *lane; });
    };
    unsigned position = *first + 1;
    while (position < index && !startsNext(position))
      ++position;
    if (position == index)
      continue;
    llvm::erase(startedBy[index], index);
    startedBy[position].insert(startedBy[position].begin(), index);
    startsAfter[index] = position;
  }
}

void ProgramOrder::findReleased() {
  std::vector<unsigned> lastReader(problem.buffers.size());
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    for (unsigned buffer : operation.consumed)
      lastReader[problem.storageOf(buffer)] = index;
  released.resize(problem.operations.size());
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (!problem.isAsynchronous(operation) || grows(problem, operation))
      continue;
    llvm::SmallVector<unsigned> storages;
    for (unsigned buffer : operation.consumed)
      if (unsigned storage = problem.storageOf(buffer);
          lastReader[storage] == index && !problem.buffers[storage].permanent && !problem.buffers[storage].kept)
        storages.push_back(storage);
    released[index] = bytesOf(problem, storages);
    mostReleased = std::max(mostReleased, released[index]);
  }
}

/// Waits for the oldest reductions until those in flight keep at most twice the bytes of the largest one alive.
/// Otherwise all gradients that are summed over ranks could be held until the end of the backward pass.
void ProgramOrder::makeRoom(unsigned index) {
  auto held = [&] {
    return std::accumulate(inFlight.begin(), inFlight.end(), released[index],
                           [&](int64_t sum, unsigned other) { return sum + released[other]; });
  };
  while (released[index] > 0 && held() > 2 * mostReleased)
    wait(*llvm::find_if(inFlight, [&](unsigned other) { return released[other] > 0; }));
}

void ProgramOrder::wait(unsigned index) {
  auto found = llvm::find(inFlight, index);
  if (found == inFlight.end())
    return;
  inFlight.erase(found);
  solution.steps.push_back({StepKind::wait, index});
  if (unpacks[index])
    solution.steps.push_back({StepKind::run, *unpacks[index]});
}

/// Issues an operation before its own position, after what it depends on: a conversion of the parameter, or its copy
/// to the device.
void ProgramOrder::issueWithWhatItNeeds(unsigned index) {
  if (isIssued[index])
    return;
  forEachBefore(index, [&](unsigned other) { issueWithWhatItNeeds(other); });
  issue(index);
}

void ProgramOrder::issue(unsigned index) {
  if (isIssued[index])
    return;
  isIssued[index] = true;
  const Operation &operation = problem.operations[index];
  forEachBefore(index, [&](unsigned other) { wait(other); });
  if (!problem.isAsynchronous(operation)) {
    solution.steps.push_back({StepKind::run, index});
    return;
  }
  makeRoom(index);
  if (packs[index])
    solution.steps.push_back({StepKind::run, *packs[index]});
  inFlight.push_back(index);
  solution.steps.push_back({StepKind::start, index});
  if (operation.blocking)
    wait(index);
}

Solution ProgramOrder::solve() {
  findCopies();
  placePrefetches();
  placeStarts();
  placeFollowers();
  findReleased();
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    for (unsigned gather : startedBefore[index])
      issueWithWhatItNeeds(gather);
    if (!problem.isAsynchronous(operation) && !isIssuedWithCollective(operation))
      issue(index);
    for (unsigned collective : startedBy[index])
      issue(collective);
  }
  while (!inFlight.empty())
    wait(inFlight.front());
  return {insertFrees(problem, solution.steps)};
}

Expected<Solution> meshplan::scheduling::programOrder(const Problem &problem) {
  if (Error error = problem.check())
    return error;
  std::vector<std::vector<unsigned>> merged = programMerges(problem);
  Solution solution;
  if (merged.empty()) {
    solution = ProgramOrder(problem).solve();
  } else {
    Expected<Resolution> resolution = resolve(problem, {merged, {}});
    if (!resolution)
      return resolution.takeError();
    solution = {ProgramOrder(resolution->problem).solve().steps, {std::move(merged), {}}};
  }
  if (Error error = verify(problem, solution))
    return error;
  return solution;
}
