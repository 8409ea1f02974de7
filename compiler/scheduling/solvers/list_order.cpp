//===- list_order.cpp - list scheduling -----------------------------------===//

#include "compiler/scheduling/solvers/list_order.h"
#include "compiler/scheduling/solvers/random.h"
#include "compiler/scheduling/solvers/reference_memory.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <set>

using namespace meshplan::scheduling;

/// Nanoseconds from the beginning of each operation to the end of the program if nothing is shared and the compute lane
/// is unlimited; see Urgency.
///
/// Example for `lanes`: only the reduction r1 reads the gradient g1 of 10; g2 of 10 begins a chain of 20 more that ends
/// with the reduction r2. Both take 50 on one lane. The critical path of g2 is the longer one, 80 and 60. But the lane
/// has 100 to transfer, which only g1 can begin: 10 + 50 + 50 = 110.
static std::vector<int64_t> criticalPaths(const CostTable &costs, const DependencyTable &dependencies,
                                          llvm::ArrayRef<unsigned> reference, Urgency urgency) {
  std::vector<int64_t> paths(costs.operations.size(), 0), left(costs.lanes, 0);
  for (unsigned index : llvm::reverse(reference)) {
    const Cost &cost = costs.operations[index];
    int64_t &path = paths[index];
    for (unsigned other : dependencies.after[index])
      path = std::max(path, paths[other]);
    if (cost.isAsynchronous && urgency == Urgency::lanes)
      path = std::max(path, left[cost.lane]);
    if (cost.isAsynchronous || urgency != Urgency::transfers)
      path += cost.alone();
    if (cost.isAsynchronous)
      left[cost.lane] = path;
  }
  return paths;
}

/// Under a memory limit: how many of the most urgent operations of a lane are considered. Bounds the time for each
/// operation.
static constexpr size_t mostTried = 8;

namespace {
class ListScheduler {
public:
  ListScheduler(const Problem &problem, const CostTable &costs, const DependencyTable &dependencies,
                llvm::ArrayRef<unsigned> reference, llvm::ArrayRef<int64_t> urgency, ListRules rules);

  IssueOrder solve();

private:
  /// Operations that are ready, the most urgent first.
  using Ready = std::set<std::pair<int64_t, unsigned>>;

  void setOver(unsigned operation);
  void issue(unsigned operation);
  void wait(unsigned operation);
  void waitForWhatIsOver();
  bool canIssue(unsigned operation);
  std::optional<unsigned> nextToRun();
  void fillLanes(std::optional<unsigned> run);
  std::optional<unsigned> nextToStart(unsigned lane, std::optional<unsigned> run);
  unsigned nextOver() const;
  template <typename Visitor> void forEachNextOver(Visitor visit) const;
  bool feeds(unsigned operation) const;
  std::optional<unsigned> worthWaitingFor(unsigned run) const;

  const Problem &problem;
  const CostTable &costs;
  const DependencyTable &dependencies;
  ListRules rules;
  Walker walker;
  llvm::ArrayRef<int64_t> urgency;
  std::vector<unsigned> left;                     ///< dependencies of each operation that are not over
  std::optional<ReferenceMemory> referenceMemory; ///< under a limit
  std::vector<Ready> ready;                       ///< for each lane
  IssueOrder result;
};
} // namespace

std::vector<int64_t> meshplan::scheduling::urgenciesOf(const CostTable &costs, const DependencyTable &dependencies,
                                                       llvm::ArrayRef<unsigned> reference, ListRules rules) {
  std::vector<int64_t> urgency(reference.size());
  for (auto [position, operation] : llvm::enumerate(reference))
    urgency[operation] = position;
  if (rules.urgency != Urgency::reference)
    for (auto [own, path] : llvm::zip_equal(urgency, criticalPaths(costs, dependencies, reference, rules.urgency)))
      own = -path;
  Random random(rules.disturbance);
  if (rules.disturbance != 0)
    for (int64_t &own : urgency)
      own = own / 512 * (256 + random.below(513));
  return urgency;
}

ListScheduler::ListScheduler(const Problem &problem, const CostTable &costs, const DependencyTable &dependencies,
                             llvm::ArrayRef<unsigned> reference, llvm::ArrayRef<int64_t> urgency, ListRules rules)
    : problem(problem), costs(costs), dependencies(dependencies), rules(rules), walker(problem, costs, dependencies),
      urgency(urgency), left(problem.operations.size()), ready(problem.lanes.size()) {
  if (walker.bytes().isLimited())
    referenceMemory.emplace(problem, walker.bytes(), reference);
  for (unsigned index = 0; index < left.size(); ++index) {
    left[index] = dependencies.before[index].size();
    if (left[index] == 0)
      ready[costs.operations[index].lane].insert({urgency[index], index});
  }
}

void ListScheduler::setOver(unsigned operation) {
  for (unsigned other : dependencies.after[operation])
    if (--left[other] == 0)
      ready[costs.operations[other].lane].insert({urgency[other], other});
}

/// Issues an operation for which canIssue() holds, or which is next in the reference.
void ListScheduler::issue(unsigned operation) {
  // What issue() itself waits for, to make room, is over as well.
  size_t before = walker.steps().size();
  bool fits = walker.issue(operation);
  assert(fits && "the reference keeps to the limit");
  (void)fits;
  ready[costs.operations[operation].lane].erase({urgency[operation], operation});
  result.operations.push_back(operation);
  if (referenceMemory)
    referenceMemory->issue(operation);
  for (Step step : walker.steps().drop_front(before))
    if (step.kind != StepKind::start)
      setOver(step.index);
}

void ListScheduler::wait(unsigned operation) {
  walker.wait(operation);
  setOver(operation);
}

void ListScheduler::waitForWhatIsOver() {
  for (unsigned operation : std::vector<unsigned>(walker.inFlight()))
    if (walker.times().isOver(operation))
      wait(operation);
}

/// True if the operation fits now without a wait, and the rest can follow the reference after it.
bool ListScheduler::canIssue(unsigned operation) {
  return !referenceMemory || (walker.bytes().fits(operation) && referenceMemory->allows(operation, walker.inFlight()));
}

std::optional<unsigned> ListScheduler::nextToRun() {
  bool feedsNow = rules.feeds && walker.inFlight().empty();
  std::optional<unsigned> most;
  for (auto [lane, candidates] : llvm::zip_equal(problem.lanes, ready))
    if (lane.kind == LaneKind::compute)
      for (auto [tried, candidate] : llvm::enumerate(candidates)) {
        if (tried == mostTried)
          break;
        if (!canIssue(candidate.second))
          continue;
        if (!feedsNow || feeds(candidate.second))
          return candidate.second;
        most = most ? most : candidate.second;
      }
  return most;
}

std::optional<unsigned> ListScheduler::nextToStart(unsigned lane, std::optional<unsigned> run) {
  for (auto [tried, candidate] : llvm::enumerate(ready[lane])) {
    unsigned operation = candidate.second;
    if (tried == mostTried)
      break;
    if (!canIssue(operation))
      continue;
    if (!run || !rules.computeFirst)
      return operation;
    MemoryTracker &memory = walker.bytes();
    MemoryTracker::Mark mark = memory.mark();
    memory.begin(operation);
    bool leavesRoom = memory.fits(*run);
    memory.undo(mark);
    if (leavesRoom)
      return operation;
  }
  return std::nullopt;
}

/// Starts operations on lanes that would otherwise be idle before `run` is over, or, if nothing can run, before
/// something in flight is over.
void ListScheduler::fillLanes(std::optional<unsigned> run) {
  for (unsigned lane = 0; lane < problem.lanes.size(); ++lane) {
    if (problem.lanes[lane].kind == LaneKind::compute)
      continue;
    int64_t until = run ? std::max<int64_t>(costs.operations[*run].alone(), 1) : 1;
    while (!rules.justInTime || walker.times().backlog(lane) < until) {
      std::optional<unsigned> operation = nextToStart(lane, run);
      if (!operation)
        break;
      issue(*operation);
    }
  }
}

/// Calls `visit` with the operation of each lane that is over next, unless all are, and how long that takes, as far as
/// lanes tell.
template <typename Visitor> void ListScheduler::forEachNextOver(Visitor visit) const {
  for (unsigned operation : walker.inFlight()) {
    llvm::ArrayRef<unsigned> queue = walker.times().laneOf(costs.operations[operation].lane).queue;
    if (queue.empty() || queue.front() != operation)
      continue;
    int64_t left = walker.times().backlog(costs.operations[operation].lane);
    for (unsigned other : queue.drop_front())
      left -= costs.operations[other].alone();
    visit(operation, left);
  }
}

/// The operation in flight that is over next.
unsigned ListScheduler::nextOver() const {
  std::optional<std::pair<int64_t, unsigned>> next;
  forEachNextOver([&](unsigned operation, int64_t left) {
    if (!next || left < next->first)
      next = {left, operation};
  });
  return next->second;
}

/// True if transfers that can begin only after this operation of the compute lane take at least half as long as it.
bool ListScheduler::feeds(unsigned operation) const {
  int64_t fed = 0;
  for (unsigned other : dependencies.after[operation])
    if (left[other] == 1 && costs.operations[other].isAsynchronous)
      fed += costs.operations[other].work;
  return fed > 0 && 2 * fed >= costs.operations[operation].alone();
}

/// An operation in flight after which something that feeds could run instead of `run`, which does not.
std::optional<unsigned> ListScheduler::worthWaitingFor(unsigned run) const {
  std::optional<unsigned> awaited;
  forEachNextOver([&](unsigned operation, int64_t time) {
    if (4 * time < costs.operations[run].alone() && !awaited &&
        llvm::any_of(
            dependencies.after[operation],
            [&](unsigned other) {
              return left[other] == 1 && !costs.operations[other].isAsynchronous && feeds(other);
            }))
      awaited = operation;
  });
  return awaited;
}

IssueOrder ListScheduler::solve() {
  while (result.operations.size() < problem.operations.size()) {
    waitForWhatIsOver();
    std::optional<unsigned> run = nextToRun();
    size_t issued = result.operations.size();
    fillLanes(run);
    std::optional<unsigned> awaited = run && rules.feeds && !feeds(*run) ? worthWaitingFor(*run) : std::nullopt;
    if (awaited)
      wait(*awaited);
    else if (run && canIssue(*run))
      issue(*run);
    else if (run || result.operations.size() > issued)
      continue; // what was started may have changed what is ready
    else if (!walker.inFlight().empty())
      wait(nextOver());
    else // nothing that is ready fits
      issue(referenceMemory->next());
  }
  walker.finish();
  result.steps = walker.steps();
  result.makespan = walker.now();
  return std::move(result);
}

IssueOrder meshplan::scheduling::listOrder(const Problem &problem, const CostTable &costs,
                                           const DependencyTable &dependencies, llvm::ArrayRef<unsigned> reference,
                                           llvm::ArrayRef<int64_t> urgency, ListRules rules) {
  return ListScheduler(problem, costs, dependencies, reference, urgency, rules).solve();
}
