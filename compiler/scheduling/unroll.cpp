//===- unroll.cpp - the instances of a program as one problem -------------===//
//
// Instances are appended one by one. `current` maps the permanent buffers to their values at that moment: an addition
// to an accumulator makes a view of it, which the next instance reads instead. Everything that an instance makes has an
// index of its own, so that the rules of one list say what holds across borders: that no operation overwrites what a
// deferred collective still reads, or that a buffer of an instance lives until its deferred wait. What only the first
// instance makes has one index, under which all others read it.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/unroll.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace meshplan::scheduling;
using llvm::ArrayRef;

Instances::Instances(const Problem &problem, const Solution &solution, OccurrenceTable occurrences, int64_t count)
    : problem(problem), solution(solution), occurrences(std::move(occurrences)), count(count),
      producers(problem.producers()), isHeld(problem.buffers.size()) {
  llvm::BitVector isReadByOthers(problem.buffers.size());
  for (auto [index, operation] : llvm::enumerate(problem.operations))
    if (this->occurrences.of(index) != Occurrence::first)
      for (unsigned buffer : operation.consumed)
        isReadByOthers.set(buffer);
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    if (producers[index] && this->occurrences.first[*producers[index]] && (buffer.kept || isReadByOthers[index]))
      isHeld.set(index);
}

Occurrence Instances::occurrenceOf(size_t step) const {
  Step own = solution.steps[step];
  if (own.kind != StepKind::free)
    return occurrences.of(own.index);
  return isHeld[own.index] ? Occurrence::last : occurrences.of(*producers[own.index]);
}

static std::vector<bool> markDeferred(const Instances &instances) {
  std::vector<bool> isDeferred(instances.solution.steps.size(), false);
  for (const Deferred &deferred : instances.deferred)
    for (size_t step : deferred.steps)
      isDeferred[step] = true;
  return isDeferred;
}

namespace {
class Unroller {
public:
  explicit Unroller(const Instances &instances)
      : instances(instances), problem(instances.problem), isDeferred(markDeferred(instances)),
        current(problem.buffers.size()) {
    unrolled.problem = problem;
    unrolled.problem.buffers.clear();
    unrolled.problem.operations.clear();
    unrolled.problem.mergeables.clear();
    unrolled.problem.splittables.clear();
    for (auto [index, buffer] : llvm::enumerate(problem.buffers))
      if (buffer.permanent)
        current[index] = add(buffer, index);
  }

  Unrolled run();

private:
  struct Copies {
    std::vector<std::optional<unsigned>> operations, buffers;
  };

  unsigned add(Buffer buffer, unsigned source) {
    unrolled.problem.buffers.push_back(std::move(buffer));
    unrolled.sourceBuffers.push_back(source);
    return unrolled.problem.buffers.size() - 1;
  }
  /// True if the instance that is appended has what occurs there.
  bool has(Occurrence occurrence) const { return occursIn(occurrence, isFirst, isLast); }
  void addOperations();
  void addOperation(unsigned index, Copies &copies);
  /// Appends a step of an instance.
  void append(Step step, const Copies &copies);
  void addSteps();

  const Instances &instances;
  const Problem &problem;
  std::vector<bool> isDeferred;       ///< by step
  bool isFirst = true, isLast = true; ///< the instance that is appended
  /// By buffer: its value now, of a permanent one.
  std::vector<std::optional<unsigned>> current;
  /// By storage of the unrolled problem: the operations that read it.
  llvm::DenseMap<unsigned, llvm::SmallVector<unsigned, 4>> readers;
  std::vector<Copies> copies; ///< by instance
  Unrolled unrolled;
};
} // namespace

void Unroller::addOperation(unsigned index, Copies &copies) {
  const Operation &source = problem.operations[index];
  std::string suffix = " of instance " + std::to_string(this->copies.size());
  Operation operation = source;
  operation.name += suffix;
  unsigned position = unrolled.problem.operations.size();
  auto bufferOf = [&](unsigned buffer) {
    return problem.buffers[buffer].permanent ? *current[buffer] : *copies.buffers[buffer];
  };
  for (unsigned &buffer : operation.consumed)
    buffer = bufferOf(buffer);
  for (unsigned &buffer : operation.overwritten)
    buffer = bufferOf(buffer);
  llvm::erase_if(operation.after, [&](unsigned other) { return !copies.operations[other]; });
  for (unsigned &other : operation.after)
    other = *copies.operations[other];
  // Also the readers in earlier instances.
  for (unsigned buffer : operation.overwritten)
    for (unsigned reader : readers[unrolled.problem.storageOf(buffer)])
      if (!llvm::is_contained(operation.after, reader))
        operation.after.push_back(reader);
  for (unsigned buffer : operation.consumed)
    readers[unrolled.problem.storageOf(buffer)].push_back(position);
  for (unsigned &made : operation.produced) {
    Buffer buffer = problem.buffers[made];
    buffer.name += suffix;
    if (buffer.viewOf)
      buffer.viewOf = bufferOf(*buffer.viewOf);
    // The caller receives what the last instance makes, or the first one for all.
    buffer.kept &= isLast || instances.isHeld[made];
    copies.buffers[made] = add(std::move(buffer), made);
    made = *copies.buffers[made];
  }
  // What is made in place of a permanent buffer is there for the next instance, whatever this one frees.
  if (!isLast)
    for (auto [old, made] : llvm::zip(source.overwritten, operation.produced))
      unrolled.problem.buffers[made].kept = problem.buffers[problem.storageOf(old)].permanent;
  copies.operations[index] = position;
  unrolled.problem.operations.push_back(std::move(operation));
  unrolled.sourceOperations.push_back(index);
}

void Unroller::addOperations() {
  Copies own{std::vector<std::optional<unsigned>>(problem.operations.size()),
             std::vector<std::optional<unsigned>>(problem.buffers.size())};
  for (unsigned buffer : instances.isHeld.set_bits())
    if (!isFirst)
      own.buffers[buffer] = copies.front().buffers[buffer];
  for (unsigned index = 0; index < problem.operations.size(); ++index)
    if (has(instances.occurrences.of(index)))
      addOperation(index, own);
  // By permanent buffer: what the instance has made in place of it.
  for (auto [index, operation] : llvm::enumerate(problem.operations)) {
    if (!has(instances.occurrences.of(index)))
      continue;
    for (auto [old, made] : llvm::zip(operation.overwritten, operation.produced))
      if (unsigned storage = problem.storageOf(old); problem.buffers[storage].permanent)
        current[storage] = own.buffers[made];
  }
  copies.push_back(std::move(own));
}

void Unroller::append(Step step, const Copies &copies) {
  bool isFree = step.kind == StepKind::free;
  step.index = isFree ? *copies.buffers[step.index] : *copies.operations[step.index];
  if (!isFree || !unrolled.problem.buffers[step.index].kept)
    unrolled.solution.steps.push_back(step);
}

void Unroller::addSteps() {
  ArrayRef<Step> steps = instances.solution.steps;
  unrolled.begins.push_back(unrolled.solution.steps.size());
  const Copies &own = copies.back();
  for (size_t index = 0; index < steps.size(); ++index) {
    if (copies.size() > 1)
      for (const Deferred &deferred : instances.deferred)
        if (deferred.before == index)
          for (size_t step : deferred.steps)
            append(steps[step], copies[copies.size() - 2]);
    if (has(instances.occurrenceOf(index)) && (isLast || !isDeferred[index]))
      append(steps[index], own);
  }
  if (isLast)
    return;
  // Outputs that every instance makes: the next one recomputes them.
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    if (buffer.kept && own.buffers[index])
      append({StepKind::free, static_cast<unsigned>(index)}, own);
}

Unrolled Unroller::run() {
  int64_t shown = std::min<int64_t>(instances.count, 3);
  for (int64_t instance = 0; instance < shown; ++instance) {
    isFirst = instance == 0;
    isLast = instance + 1 == shown;
    addOperations();
    addSteps();
  }
  for (Copies &each : copies)
    unrolled.operations.push_back(std::move(each.operations));
  return std::move(unrolled);
}

Unrolled meshplan::scheduling::unroll(const Instances &instances) { return Unroller(instances).run(); }

/// The times of an instance by itself.
static InstanceTimes simulateAlone(const Instances &instances, bool isLast) {
  const Solution &solution = instances.solution;
  Solution own;
  for (size_t step = 0; step < solution.steps.size(); ++step)
    if (isLast || instances.isOfEvery(step))
      own.steps.push_back(solution.steps[step]);
  Timeline times = simulate(instances.problem, own);
  return {std::move(times.operations), std::move(times.waits), std::move(times.exposed),
          std::move(times.busy),       times.makespan,         times.waitsForHost};
}

static std::vector<InstanceTimes> simulateUnrolled(const Instances &instances) {
  Unrolled unrolled = unroll(instances);
  const Problem &problem = instances.problem;
  size_t count = unrolled.problem.operations.size();
  CostTable costs(unrolled.problem);
  Simulator simulator(costs);
  SimulationRecord record{std::vector<Interval>(count), std::vector<int64_t>(count, 0), std::vector<Interval>(count)};
  simulator.recordInto(record);
  std::vector<InstanceTimes> times(unrolled.begins.size());
  for (auto [instance, own] : llvm::enumerate(times)) {
    int64_t begin = simulator.now(), waited = record.waitsForHost;
    size_t first = unrolled.begins[instance];
    size_t end = instance + 1 < times.size() ? unrolled.begins[instance + 1] : unrolled.solution.steps.size();
    for (Step step : ArrayRef(unrolled.solution.steps).slice(first, end - first))
      advance(simulator, step);
    own.makespan = simulator.now() - begin;
    own.waitsForHost = record.waitsForHost - waited;
  }
  int64_t begin = 0;
  for (auto [own, operations] : llvm::zip_equal(times, unrolled.operations)) {
    own.operations.resize(problem.operations.size());
    own.waits.resize(problem.operations.size());
    own.exposed.resize(problem.operations.size(), 0);
    own.busy.resize(problem.lanes.size(), 0);
    for (auto [index, copy] : llvm::enumerate(operations)) {
      if (!copy)
        continue;
      Interval time = record.intervals[*copy], wait = record.waits[*copy];
      own.operations[index] = {time.begin - begin, time.end - begin};
      if (wait.length() > 0)
        own.waits[index] = {wait.begin - begin, wait.end - begin};
      own.exposed[index] = record.exposed[*copy];
      own.busy[problem.operations[index].lane] += time.length();
    }
    begin += own.makespan;
  }
  return times;
}

std::vector<InstanceTimes> meshplan::scheduling::simulate(const Instances &instances) {
  if (instances.isLinked())
    return simulateUnrolled(instances);
  std::vector<InstanceTimes> times;
  if (instances.count > 1)
    times.push_back(simulateAlone(instances, /*isLast=*/false));
  times.push_back(simulateAlone(instances, /*isLast=*/true));
  return times;
}

llvm::SmallVector<int64_t, 3> meshplan::scheduling::countKinds(int64_t count, size_t kinds) {
  if (kinds == 3)
    return {1, count - 2, 1};
  return kinds == 2 ? llvm::SmallVector<int64_t, 3>{count - 1, 1} : llvm::SmallVector<int64_t, 3>{1};
}

int64_t meshplan::scheduling::totalTime(const Instances &instances, ArrayRef<InstanceTimes> times) {
  int64_t sum = 0;
  for (auto [each, count] : llvm::zip_equal(times, countKinds(instances.count, times.size())))
    sum += count * each.makespan;
  return sum;
}
