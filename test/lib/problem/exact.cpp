//===- exact.cpp - the optimum of a small problem -------------------------===//

#include "test/lib/problem/exact.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/scheduling/simulate.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace meshplan::scheduling;

namespace {
enum class Progress : char { pending, inFlight, over };

/// A partial list: what was issued, and what is over.
struct State {
  std::vector<Progress> progress;
  Solution solution;
  Simulator simulator;
};

class Branching {
public:
  explicit Branching(const Problem &problem) : problem(problem), costs(problem), before(problem.operations.size()) {
    auto producers = problem.producers();
    for (auto [index, operation] : llvm::enumerate(problem.operations))
      problem.forEachDependency(operation, producers,
                                [&, own = index](unsigned other) { before[own].push_back(other); });
  }

protected:
  State first() const {
    return {std::vector<Progress>(problem.operations.size(), Progress::pending), {}, Simulator(costs)};
  }
  bool isReady(const State &state, unsigned operation) const {
    return state.progress[operation] == Progress::pending &&
           llvm::all_of(before[operation], [&](unsigned other) { return state.progress[other] == Progress::over; });
  }
  bool isDone(const State &state) const {
    return llvm::all_of(state.progress, [](Progress each) { return each == Progress::over; });
  }
  State issued(State state, unsigned operation) const {
    if (problem.isAsynchronous(problem.operations[operation])) {
      state.progress[operation] = Progress::inFlight;
      state.solution.steps.push_back({StepKind::start, operation});
      state.simulator.start(operation);
      return state;
    }
    state.progress[operation] = Progress::over;
    state.solution.steps.push_back({StepKind::run, operation});
    state.simulator.run(operation);
    free(state, operation);
    return state;
  }
  State waited(State state, unsigned operation) const {
    state.progress[operation] = Progress::over;
    state.solution.steps.push_back({StepKind::wait, operation});
    state.simulator.wait(operation);
    free(state, operation);
    return state;
  }
  bool fits(const State &state) const {
    return llvm::all_of(llvm::zip(profileMemory(problem, state.solution).peaks, problem.memoryLimit),
                        [](const auto &each) { return std::get<0>(each).bytes <= std::get<1>(each); });
  }
  bool isBlocked(const State &state) const {
    return llvm::any_of(llvm::enumerate(state.progress), [&](const auto &each) {
      return each.value() == Progress::inFlight && problem.operations[each.index()].blocking;
    });
  }

  const Problem &problem;
  CostTable costs;
  std::vector<std::vector<unsigned>> before;

private:
  /// Frees the buffers whose last use has ended.
  void free(State &state, unsigned operation) const {
    const Operation &own = problem.operations[operation];
    llvm::SmallVector<unsigned> used(own.consumed.begin(), own.consumed.end());
    used.append(own.produced.begin(), own.produced.end());
    llvm::sort(used);
    used.erase(llvm::unique(used), used.end());
    for (unsigned buffer : used) {
      bool isUsed = llvm::any_of(llvm::enumerate(problem.operations), [&](const auto &each) {
        return state.progress[each.index()] != Progress::over &&
               (llvm::is_contained(each.value().consumed, buffer) || llvm::is_contained(each.value().produced, buffer));
      });
      if (!isUsed && !problem.buffers[buffer].permanent && !problem.buffers[buffer].kept)
        state.solution.steps.push_back({StepKind::free, buffer});
    }
  }
};

class BranchAndBound : Branching {
public:
  BranchAndBound(const Problem &problem, int64_t bound, uint64_t mostNodes)
      : Branching(problem), best(bound), mostNodes(mostNodes), paths(problem.operations.size(), 0) {
    for (size_t index = paths.size(); index-- > 0;) {
      paths[index] += costs.operations[index].alone();
      for (unsigned other : before[index])
        paths[other] = std::max(paths[other], paths[index]);
    }
  }

  void search() { visit(first()); }

  int64_t best;
  bool found = false;
  uint64_t nodes = 0;

private:
  int64_t lowerBound(const State &state) const;
  std::vector<int64_t> keyOf(const State &state) const;
  void visit(State state);

  uint64_t mostNodes;
  std::vector<int64_t> paths; ///< alone, from the beginning of each operation to the end of the program
  /// The earliest time of each situation. Of two that differ only in time, all that follows differs by as much.
  std::map<std::vector<int64_t>, int64_t> earliest;
};
} // namespace

/// No solution from here ends earlier: each lane, each link and each chain of operations takes its time.
int64_t BranchAndBound::lowerBound(const State &state) const {
  int64_t now = state.simulator.now(), bound = now;
  std::vector<int64_t> ofLane(costs.lanes, now), ofLink(costs.shared.size(), 0);
  for (unsigned lane = 0; lane < costs.lanes; ++lane)
    ofLane[lane] += state.simulator.backlog(lane);
  for (auto [index, progress] : llvm::enumerate(state.progress)) {
    const Cost &cost = costs.operations[index];
    if (progress != Progress::pending)
      continue;
    bound = std::max(bound, now + paths[index]);
    ofLane[cost.lane] += cost.alone();
    for (const Share &share : cost.shares)
      ofLink[share.link] += cost.work * share.part / std::max(fullSpeed, costs.shared[share.link]);
  }
  return std::max({bound, *llvm::max_element(ofLane), now + *llvm::max_element(ofLink)});
}

std::vector<int64_t> BranchAndBound::keyOf(const State &state) const {
  std::vector<int64_t> key;
  for (Progress progress : state.progress)
    key.push_back(static_cast<int64_t>(progress));
  for (unsigned lane = 0; lane < costs.lanes; ++lane) {
    const Simulator::LaneState &own = state.simulator.laneOf(lane);
    key.insert(key.end(), own.queue.begin(), own.queue.end());
    key.insert(key.end(), {-1, own.queue.empty() ? 0 : own.left, own.transfers && !own.queue.empty()});
  }
  return key;
}

void BranchAndBound::visit(State state) {
  if (nodes >= mostNodes)
    return;
  ++nodes;
  for (unsigned operation = 0; operation < state.progress.size(); ++operation)
    if (state.progress[operation] == Progress::inFlight && state.simulator.isOver(operation))
      state = waited(std::move(state), operation);
  if (lowerBound(state) >= best || !fits(state))
    return;
  if (isDone(state)) {
    llvm::Error error = verify(problem, state.solution);
    found |= !error;
    if (!error)
      best = state.simulator.now();
    llvm::consumeError(std::move(error));
    return;
  }
  auto [entry, isNew] = earliest.try_emplace(keyOf(state), state.simulator.now());
  if (!isNew && entry->second <= state.simulator.now())
    return;
  entry->second = state.simulator.now();
  std::vector<std::pair<int64_t, unsigned>> ready;
  if (!isBlocked(state))
    for (unsigned operation = 0; operation < state.progress.size(); ++operation)
      if (isReady(state, operation))
        ready.push_back({-paths[operation], operation});
  llvm::sort(ready);
  for (auto [path, operation] : ready)
    visit(issued(state, operation));
  for (unsigned operation = 0; operation < state.progress.size(); ++operation)
    if (state.progress[operation] == Progress::inFlight)
      visit(waited(state, operation));
}

std::optional<int64_t> meshplan::scheduling::exactMakespan(const Problem &problem, int64_t bound, uint64_t mostNodes,
                                                           uint64_t &nodes) {
  BranchAndBound search(problem, bound, mostNodes);
  search.search();
  nodes = search.nodes;
  return search.found && nodes < mostNodes ? std::optional(search.best) : std::nullopt;
}

namespace {
class Enumeration : Branching {
public:
  using Branching::Branching;

  std::optional<int64_t> best;

  void search() { visit(first()); }

private:
  void visit(const State &state) {
    if (isDone(state)) {
      llvm::Error error = verify(problem, state.solution);
      if (!error) {
        int64_t makespan = simulate(problem, state.solution).makespan;
        best = std::min(best.value_or(makespan), makespan);
      }
      llvm::consumeError(std::move(error));
      return;
    }
    for (unsigned operation = 0; operation < state.progress.size(); ++operation)
      if (isReady(state, operation))
        visit(issued(state, operation));
      else if (state.progress[operation] == Progress::inFlight)
        visit(waited(state, operation));
  }
};
} // namespace

std::optional<int64_t> meshplan::scheduling::enumeratedMakespan(const Problem &problem) {
  Enumeration enumeration(problem);
  enumeration.search();
  return enumeration.best;
}
