//===- defer.cpp - collectives in flight across instances -----------------===//
//
// Example: the list of a step of three microbatches, with times. `b1`, `b2` are the backward passes of two layers,
// `r1`, `r2` the reductions of their gradients, of 40 each, `a1`, `a2` the additions to the accumulators; computing
// takes 30 each, but 0 for the additions.
//
//   run f, run b2, start r2, run b1, start r1, wait r2, run a2, wait r1, run a1
//
//   an instance alone        f 0-30   b2 30-60   b1 60-90       r2 60-100   r1 100-140
//
// Everything but what follows from r1 and r2 is over at 90, the body's end. Both are in flight then, so both are
// deferred. r2 needs 10 more after the border, r1 50: `wait r2, run a2` come before the first step that begins 10 or
// later, which is `run b2`, and `wait r1, run a1` before the first that begins 50 or later, `run b1`. An instance takes
// 90 instead of 140.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/defer.h"
#include "compiler/scheduling/memory_profile.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace meshplan::scheduling;
using llvm::ArrayRef;
using llvm::BitVector;

namespace {
class Deferral {
public:
  explicit Deferral(Instances &instances)
      : instances(instances), problem(instances.problem), solution(instances.solution),
        dependents(problem.operations.size()) {
    for (unsigned index : instances.occurrences.every.set_bits())
      problem.forEachDependency(problem.operations[index], instances.producers,
                                [&](unsigned other) { dependents[other].push_back(index); });
  }

  /// The steps to defer; empty if no collective is in flight at the end of an instance.
  std::vector<Deferred> find();

private:
  bool replacesWhole();
  void findRelays();
  std::optional<BitVector> followers(unsigned collective) const;
  void findCandidates();
  BitVector followersOf(const BitVector &collectives) const;
  std::vector<bool> stepsOf(const BitVector &collectives) const;
  Timeline simulateInstance(const std::vector<bool> &isDeferred) const;
  int64_t endOfBody(const Timeline &times, const std::vector<bool> &isDeferred) const;
  std::vector<Deferred> group(const std::vector<bool> &isDeferred, const Timeline &times, int64_t bodyEnd) const;
  size_t latestPosition(const Deferred &deferred) const;

  Instances &instances;
  const Problem &problem;
  const Solution &solution;
  std::vector<llvm::SmallVector<unsigned, 2>> dependents; ///< of each operation, in every instance
  BitVector isRelayed;                                    ///< operations that read only what collectives have given
  BitVector isWhole;    ///< buffers: permanent ones, and what instances before the last one make in place of these
  BitVector candidates; ///< collectives that can be deferred
  std::vector<BitVector> following; ///< by operation: what follows from a candidate, itself included
};
} // namespace

/// True if instances before the last one overwrite what outlives them as a whole, and not a part of it: only then is
/// the value that the next instance reads that of one operation.
bool Deferral::replacesWhole() {
  isWhole.resize(problem.buffers.size());
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    if (buffer.permanent)
      isWhole.set(index);
  for (unsigned index : instances.occurrences.every.set_bits()) {
    const Operation &operation = problem.operations[index];
    for (auto [position, old] : llvm::enumerate(operation.overwritten)) {
      if (!problem.buffers[problem.storageOf(old)].permanent)
        continue;
      if (!isWhole[old] || position >= operation.produced.size())
        return false;
      isWhole.set(operation.produced[position]);
    }
  }
  return true;
}

/// True if the operation is a collective that may be in flight between instances, or that the next one may start.
static bool mayBeLater(const Operation &operation) {
  // What a collective overwrites is neither the old nor the new value while it is in flight.
  return operation.isCollective() && !operation.blocking && operation.instances.empty() &&
         operation.overwritten.empty();
}

/// An activation is sent on after it was computed with something else, and what follows from it is the rest of the
/// instance; a gradient that is reduced over one axis after the other is only copied or converted in between.
void Deferral::findRelays() {
  isRelayed.resize(problem.operations.size());
  for (unsigned index : instances.occurrences.every.set_bits()) {
    const Operation &operation = problem.operations[index];
    auto isGiven = [&](unsigned buffer) {
      std::optional<unsigned> producer = instances.producers[buffer];
      if (!producer || !instances.occurrences.every[*producer])
        return false;
      const Operation &from = problem.operations[*producer];
      return problem.isAsynchronous(from) ? mayBeLater(from) : bool(isRelayed[*producer]);
    };
    if (!operation.consumed.empty() && llvm::all_of(operation.consumed, isGiven))
      isRelayed.set(index);
  }
}

/// The collective and all operations of an instance before the last one that follow from it; none if it cannot be
/// deferred.
std::optional<BitVector> Deferral::followers(unsigned collective) const {
  BitVector found(problem.operations.size());
  llvm::SmallVector<unsigned> open{collective};
  while (!open.empty()) {
    unsigned index = open.pop_back_val();
    if (found[index])
      continue;
    found.set(index);
    const Operation &operation = problem.operations[index];
    if (index != collective && problem.isAsynchronous(operation) && !(mayBeLater(operation) && isRelayed[index]))
      return std::nullopt;
    // Outputs of an instance before the last one end with it.
    for (unsigned buffer : llvm::concat<const unsigned>(operation.consumed, operation.produced))
      if (problem.buffers[buffer].kept && !isWhole[buffer])
        return std::nullopt;
    llvm::append_range(open, dependents[index]);
  }
  return found;
}

void Deferral::findCandidates() {
  candidates.resize(problem.operations.size());
  following.resize(problem.operations.size());
  for (unsigned index : instances.occurrences.every.set_bits()) {
    if (!mayBeLater(problem.operations[index]))
      continue;
    if (std::optional<BitVector> found = followers(index)) {
      candidates.set(index);
      following[index] = std::move(*found);
    }
  }
}

/// The operations that follow from any of these collectives, but those collectives that follow from no other one.
BitVector Deferral::followersOf(const BitVector &collectives) const {
  BitVector found(problem.operations.size());
  for (unsigned collective : collectives.set_bits()) {
    BitVector others = following[collective];
    others.reset(collective);
    found |= others;
  }
  return found;
}

/// By step: whether it is deferred with these collectives.
std::vector<bool> Deferral::stepsOf(const BitVector &collectives) const {
  BitVector followers = followersOf(collectives), later = followers, used(problem.buffers.size());
  later |= collectives;
  for (unsigned index : later.set_bits())
    for (unsigned buffer :
         llvm::concat<const unsigned>(problem.operations[index].consumed, problem.operations[index].produced))
      used.set(buffer);
  std::vector<bool> isDeferred(solution.steps.size());
  for (auto [position, step] : llvm::enumerate(solution.steps)) {
    if (!instances.isOfEvery(position))
      continue;
    isDeferred[position] = step.kind == StepKind::free    ? used[step.index]
                           : step.kind == StepKind::start ? followers[step.index]
                                                          : later[step.index];
  }
  return isDeferred;
}

/// An instance before the last one, with the deferred steps at its end.
Timeline Deferral::simulateInstance(const std::vector<bool> &isDeferred) const {
  Solution own;
  for (bool deferred : {false, true})
    for (auto [position, step] : llvm::enumerate(solution.steps))
      if (instances.isOfEvery(position) && isDeferred[position] == deferred)
        own.steps.push_back(step);
  return simulate(problem, own);
}

/// When everything of an instance is over that is not deferred.
int64_t Deferral::endOfBody(const Timeline &times, const std::vector<bool> &isDeferred) const {
  int64_t end = 0;
  for (auto [position, step] : llvm::enumerate(solution.steps))
    if (step.kind != StepKind::free && step.kind != StepKind::start && instances.isOfEvery(position) &&
        !isDeferred[position])
      end = std::max(end, times.operations[step.index].end);
  return end;
}

/// The last position in the next instance that deferred steps may have.
size_t Deferral::latestPosition(const Deferred &deferred) const {
  BitVector temporaries(problem.buffers.size()), read(problem.buffers.size()), written(problem.buffers.size());
  for (size_t position : deferred.steps) {
    Step step = solution.steps[position];
    if (step.kind == StepKind::free)
      continue;
    const Operation &operation = problem.operations[step.index];
    for (unsigned buffer : operation.consumed)
      read.set(problem.storageOf(buffer));
    for (unsigned buffer : operation.overwritten)
      written.set(problem.storageOf(buffer));
    for (unsigned buffer : llvm::concat<const unsigned>(operation.consumed, operation.produced))
      temporaries.set(buffer);
  }
  auto conflicts = [&](const Operation &operation) {
    auto isOf = [&](ArrayRef<unsigned> buffers, const BitVector &storages) {
      return llvm::any_of(buffers, [&](unsigned buffer) {
        unsigned storage = problem.storageOf(buffer);
        return problem.buffers[storage].permanent && storages[storage];
      });
    };
    return llvm::any_of(operation.produced, [&](unsigned buffer) { return temporaries[buffer]; }) ||
           isOf(operation.consumed, written) || isOf(operation.overwritten, read);
  };
  // Also those that are deferred themselves: the last instance runs them in its list.
  for (auto [position, step] : llvm::enumerate(solution.steps))
    if ((step.kind == StepKind::run || step.kind == StepKind::start) && instances.isOfEvery(position) &&
        conflicts(problem.operations[step.index]))
      return position;
  return solution.steps.size();
}

/// Groups of deferred steps, one for each wait, at the positions where their collectives are over.
std::vector<Deferred> Deferral::group(const std::vector<bool> &isDeferred, const Timeline &times,
                                      int64_t bodyEnd) const {
  std::vector<Deferred> groups;
  std::vector<int64_t> left; // of each group: until its collective is over, from the begin of the next instance
  std::vector<std::optional<unsigned>> waited;                             // by group: its collective
  std::vector<std::optional<size_t>> startedIn(problem.operations.size()); // by operation: the group that starts it
  for (auto [position, step] : llvm::enumerate(solution.steps)) {
    if (!isDeferred[position])
      continue;
    if (groups.empty() || step.kind == StepKind::wait) {
      groups.emplace_back();
      left.push_back(0);
      waited.emplace_back();
    }
    groups.back().steps.push_back(position);
    if (step.kind == StepKind::start)
      startedIn[step.index] = groups.size() - 1;
    if (step.kind == StepKind::wait) {
      left.back() = times.operations[step.index].end - bodyEnd;
      waited.back() = step.index;
    }
  }
  auto beginOf = [&](size_t position) {
    return position < solution.steps.size() ? times.operations[solution.steps[position].index].begin : int64_t(0);
  };
  size_t before = 0, latest = solution.steps.size();
  // From the last group: each must come before those that follow it.
  std::vector<size_t> latestPositions(groups.size());
  for (size_t index = groups.size(); index-- > 0;)
    latestPositions[index] = latest = std::min(latest, latestPosition(groups[index]));
  for (auto [index, each] : llvm::enumerate(groups)) {
    // One that the next instance starts may begin later than at the end of this one.
    if (std::optional<size_t> first = waited[index] ? startedIn[*waited[index]] : std::nullopt)
      left[index] = std::max(left[index], beginOf(groups[*first].before) + times.operations[*waited[index]].length());
    auto isOver = [&](size_t position) {
      Step step = solution.steps[position];
      return step.kind == StepKind::run && instances.isOfEvery(position) && !isDeferred[position] &&
             times.operations[step.index].begin >= left[index];
    };
    while (before < latestPositions[index] && !isOver(before))
      ++before;
    each.before = before;
  }
  return groups;
}

std::vector<Deferred> Deferral::find() {
  if (instances.count < 2 || !solution.choices.empty() || !replacesWhole())
    return {};
  findRelays();
  findCandidates();
  // With fewer waits in it the body ends earlier, so more collectives may be in flight at its end.
  BitVector chosen(problem.operations.size());
  while (true) {
    std::vector<bool> isDeferred = stepsOf(chosen);
    Timeline times = simulateInstance(isDeferred);
    // What follows from a candidate is not a part of the body, whether it is deferred or not.
    int64_t bodyEnd = endOfBody(times, stepsOf(candidates));
    BitVector inFlight = chosen;
    for (unsigned collective : candidates.set_bits())
      if (times.operations[collective].end > bodyEnd)
        inFlight.set(collective);
    if (inFlight == chosen)
      return chosen.none() ? std::vector<Deferred>() : group(isDeferred, times, bodyEnd);
    chosen = std::move(inFlight);
  }
}

static bool fits(const Unrolled &unrolled) {
  if (unrolled.problem.memoryLimit.empty())
    return true;
  MemoryProfile profile = profileMemory(unrolled.problem, unrolled.solution);
  return llvm::all_of(llvm::zip_equal(profile.peaks, unrolled.problem.memoryLimit),
                      [](auto pair) { return std::get<0>(pair).bytes <= std::get<1>(pair); });
}

llvm::Error meshplan::scheduling::defer(Instances &instances) {
  instances.deferred.clear();
  std::vector<Deferred> found = Deferral(instances).find();
  if (found.empty())
    return llvm::Error::success();
  int64_t before = totalTime(instances, simulate(instances));
  instances.deferred = std::move(found);
  Unrolled unrolled = unroll(instances);
  if (!fits(unrolled) || totalTime(instances, simulate(instances)) >= before) {
    instances.deferred.clear();
    return llvm::Error::success();
  }
  if (llvm::Error error = unrolled.problem.check())
    return error;
  return verify(unrolled.problem, unrolled.solution);
}
