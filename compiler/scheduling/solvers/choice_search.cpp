//===- choice_search.cpp - what is merged and what is split ---------------===//
//
// First the choices, then the order: a choice changes which orders are possible, and list scheduling is fast enough to
// compare choices. What is merged is decided first: merges are for small collectives, splits for long ones. What a
// collective costs whatever its size (its latency, and Mergeable::once) decides which sizes are tried: collectives that
// transfer for many times as long gain little.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/solvers/choice_search.h"
#include "compiler/scheduling/simulate.h"
#include "compiler/scheduling/solvers/least_memory.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <set>

using namespace meshplan::scheduling;
using llvm::Expected;

using OrderedMembers = std::vector<const MergeMember *>;
using Lists = std::vector<std::vector<unsigned>>;

/// Merges are tried one by one for up to so many collectives of one kind, else only by buckets of one size.
static constexpr size_t fewMembers = 16;

/// Collectives are merged until they transfer for so many times as long as what each of them costs whatever its size.
static constexpr int64_t sizesOfBuckets[] = {4, 16};

/// Cuts members into lists of at most `mostBytes` bytes, or of any number of them for 0. `cuts(index)` says that the
/// member does not join the one before.
static Lists cut(llvm::ArrayRef<const MergeMember *> members, int64_t mostBytes,
                 llvm::function_ref<bool(size_t)> cuts) {
  Lists lists;
  std::vector<unsigned> own;
  int64_t bytes = 0;
  auto close = [&] {
    if (own.size() > 1)
      lists.push_back(own);
    own.clear();
    bytes = 0;
  };
  for (auto [index, member] : llvm::enumerate(members)) {
    if (cuts(index) || (mostBytes != 0 && bytes + member->bytes > mostBytes))
      close();
    own.push_back(member->operation);
    bytes += member->bytes;
  }
  close();
  return lists;
}

static bool resolves(const Problem &problem, const Lists &lists) {
  Expected<Resolution> resolution = resolve(problem, {lists, {}});
  bool isPossible = static_cast<bool>(resolution);
  llvm::consumeError(resolution.takeError());
  return isPossible;
}

static OrderedMembers inOrderOfProblem(const Mergeable &mergeable) {
  OrderedMembers members;
  for (const MergeMember &member : mergeable.members)
    members.push_back(&member);
  llvm::sort(members,
             [](const MergeMember *one, const MergeMember *other) { return one->operation < other->operation; });
  return members;
}

Lists meshplan::scheduling::programMerges(const Problem &problem) {
  Lists all;
  for (const Mergeable &mergeable : problem.mergeables)
    if (mergeable.mostBytes != 0)
      llvm::append_range(all, cut(inOrderOfProblem(mergeable), mergeable.mostBytes, [](size_t) { return false; }));
  if (all.empty() || resolves(problem, all))
    return all;
  Lists possible;
  for (std::vector<unsigned> &list : all)
    // The members that come first are those on which later ones may depend.
    for (; list.size() > 1; list.erase(list.begin())) {
      possible.push_back(list);
      if (resolves(problem, possible))
        break;
      possible.pop_back();
    }
  return possible;
}

namespace {
class ChoiceSearch {
public:
  explicit ChoiceSearch(const Problem &problem) : problem(problem) {}

  Expected<Decision> search(ChoiceEffort effort);

private:
  using Cuts = std::vector<bool>; ///< for each member of a Mergeable but the first: it does not join the one before

  /// How long computing waits.
  struct Waits {
    std::vector<int64_t> exposed; ///< for each operation of the problem; of merged ones for the first
    int64_t forHost = 0;
  };

  Expected<Decision> evaluate(Choices choices) const;
  OrderedMembers membersInOrder(const Mergeable &mergeable) const;
  Waits waits() const;
  bool mergesMayHelp() const;
  Lists bucketsOf(const Mergeable &mergeable, int64_t size) const;
  void improve(const Mergeable &mergeable);
  /// Takes other cuts of one list if they are faster.
  bool offer(const Mergeable &mergeable, llvm::ArrayRef<const MergeMember *> members, const Cuts &cuts);
  /// Takes other choices if they are faster.
  bool offer(Choices choices);
  std::vector<unsigned> promisingSplits(llvm::ArrayRef<int64_t> gains, unsigned parts) const;
  /// Splits what computing waits for if that is faster.
  void split(ChoiceEffort effort);

  const Problem &problem;
  std::optional<Decision> best;
};
} // namespace

Expected<Decision> ChoiceSearch::evaluate(Choices choices) const {
  Expected<Resolution> resolution = resolve(problem, choices);
  if (!resolution)
    return resolution.takeError();
  CostTable costs(resolution->problem);
  DependencyTable dependencies(resolution->problem);
  Expected<std::vector<IssueOrder>> orders = listCandidates(resolution->problem, costs, dependencies);
  if (!orders)
    return orders.takeError();
  return Decision{std::move(choices), std::move(*resolution), std::move(*orders)};
}

/// In the order in which they start in the best solution so far: what starts together is a good candidate for a merge.
OrderedMembers ChoiceSearch::membersInOrder(const Mergeable &mergeable) const {
  std::vector<size_t> start(problem.operations.size());
  for (auto [position, operation] : llvm::enumerate(best->orders.front().operations))
    if (best->resolution.problem.operations[operation].isCollective())
      for (unsigned member : best->resolution.members[operation])
        start[member] = position;
  OrderedMembers members = inOrderOfProblem(mergeable);
  llvm::stable_sort(members, [&](const MergeMember *one, const MergeMember *other) {
    return start[one->operation] < start[other->operation];
  });
  return members;
}

/// In the best solution so far.
ChoiceSearch::Waits ChoiceSearch::waits() const {
  Timeline timeline = simulate(best->resolution.problem, {best->orders.front().steps});
  Waits waits{std::vector<int64_t>(problem.operations.size()), timeline.waitsForHost};
  for (auto [index, members] : llvm::enumerate(best->resolution.members))
    waits.exposed[members.front()] += timeline.exposed[index];
  return waits;
}

/// True if computing waits for what may be merged, or for the host, which merges give less to issue.
bool ChoiceSearch::mergesMayHelp() const {
  if (problem.mergeables.empty())
    return false;
  Waits now = waits();
  return now.forHost > 0 || llvm::any_of(problem.mergeables, [&](const Mergeable &mergeable) {
           return llvm::any_of(mergeable.members,
                               [&](const MergeMember &member) { return now.exposed[member.operation] > 0; });
         });
}

/// Lists that are closed when their transfers take `size` times as long as what each collective costs whatever its
/// size. Members that reach this size alone are not merged with smaller ones.
Lists ChoiceSearch::bucketsOf(const Mergeable &mergeable, int64_t size) const {
  auto timeOf = [&](llvm::ArrayRef<Transfer> transfers) {
    int64_t longest = 0;
    for (Transfer transfer : transfers)
      longest = std::max(longest, timeOnLink(transfer.bytes, problem.links[transfer.link].bytesPerSecond));
    return longest;
  };
  int64_t once = timeOf(mergeable.once), filled = 0;
  OrderedMembers small;
  for (const MergeMember *member : membersInOrder(mergeable)) {
    const Operation &operation = problem.operations[member->operation];
    if (timeOf(operation.transfers) - once < size * (operation.latency + once))
      small.push_back(member);
  }
  return cut(small, mergeable.mostBytes, [&](size_t index) {
    const Operation &operation = problem.operations[small[index]->operation];
    bool isFull = filled >= size * (operation.latency + once);
    filled = (isFull ? 0 : filled) + timeOf(operation.transfers) - once;
    return isFull;
  });
}

bool ChoiceSearch::offer(Choices choices) {
  Expected<Decision> decision = evaluate(std::move(choices));
  if (!decision) {
    llvm::consumeError(decision.takeError()); // they depend on each other, or do not fit into memory together
    return false;
  }
  if (best && decision->makespan() >= best->makespan())
    return false;
  best = std::move(*decision);
  return true;
}

bool ChoiceSearch::offer(const Mergeable &mergeable, llvm::ArrayRef<const MergeMember *> members, const Cuts &cuts) {
  Lists lists;
  for (const std::vector<unsigned> &list : best->choices.merged)
    if (llvm::none_of(members, [&](const MergeMember *member) { return member->operation == list.front(); }))
      lists.push_back(list);
  llvm::append_range(lists,
                     cut(members, mergeable.mostBytes, [&](size_t index) { return index > 0 && cuts[index - 1]; }));
  return offer({std::move(lists), {}});
}

void ChoiceSearch::improve(const Mergeable &mergeable) {
  OrderedMembers members = membersInOrder(mergeable);
  if (members.size() < 2)
    return;
  Cuts cuts(members.size() - 1, true);
  for (size_t size = 2; size / 2 < members.size(); size *= 2) {
    Cuts tried(cuts.size());
    for (size_t index = 0; index < tried.size(); ++index)
      tried[index] = (index + 1) % size == 0;
    if (offer(mergeable, members, tried))
      cuts = tried;
  }
  if (members.size() > fewMembers)
    return;
  for (size_t index = 0; index < cuts.size(); ++index) {
    Cuts tried = cuts;
    tried[index] = !tried[index];
    if (offer(mergeable, members, tried))
      cuts = tried;
  }
}

/// What a split saves, if `exposed` is what computing waits for each operation: all but one part of each wait, less
/// what parts take longer than the whole, and what it takes to issue and to join them.
static int64_t gainOf(const Problem &problem, const Splittable &splittable, llvm::ArrayRef<int64_t> exposed) {
  int64_t gain = 0;
  for (const SplitMember &member : splittable.members) {
    const Operation &operation = problem.operations[member.operation];
    gain += exposed[member.operation] - exposed[member.operation] / splittable.parts;
    gain -= member.joinTime;
    if (!problem.isAsynchronous(operation))
      gain -= splittable.parts * member.duration - operation.duration;
    gain -= (splittable.parts - 1) * problem.issueTime;
  }
  return gain;
}

/// The splits that seem to gain most, of those with so many parts or, for 0, with any number of them. What is merged,
/// or split already, is not split.
std::vector<unsigned> ChoiceSearch::promisingSplits(llvm::ArrayRef<int64_t> gains, unsigned parts) const {
  std::vector<bool> isTaken(problem.operations.size());
  for (const std::vector<unsigned> &list : best->choices.merged)
    for (unsigned operation : list)
      isTaken[operation] = true;
  std::vector<unsigned> order(problem.splittables.size()), chosen;
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](unsigned one, unsigned other) { return gains[one] > gains[other]; });
  for (unsigned index : order) {
    const Splittable &splittable = problem.splittables[index];
    if (gains[index] <= 0 || (parts != 0 && splittable.parts != parts) ||
        llvm::any_of(splittable.members, [&](const SplitMember &member) { return isTaken[member.operation]; }))
      continue;
    for (const SplitMember &member : splittable.members)
      isTaken[member.operation] = true;
    chosen.push_back(index);
  }
  llvm::sort(chosen);
  return chosen;
}

void ChoiceSearch::split(ChoiceEffort effort) {
  if (problem.splittables.empty())
    return;
  std::vector<int64_t> exposed = waits().exposed, gains;
  std::set<unsigned> counts = {0};
  for (const Splittable &splittable : problem.splittables) {
    gains.push_back(gainOf(problem, splittable, exposed));
    counts.insert(splittable.parts);
  }
  std::set<std::vector<unsigned>> tried = {{}};
  for (unsigned count : counts)
    if (std::vector<unsigned> chosen = promisingSplits(gains, count); tried.insert(chosen).second)
      offer({best->choices.merged, std::move(chosen)});
  if (effort == ChoiceEffort::few || best->choices.split.size() > fewMembers)
    return;
  for (unsigned split : std::vector<unsigned>(best->choices.split)) {
    Choices without = best->choices;
    llvm::erase(without.split, split);
    offer(std::move(without));
  }
}

Expected<Decision> ChoiceSearch::search(ChoiceEffort effort) {
  // Of two ways that are as fast, what the plan asks for is taken: it is tried first.
  Expected<Decision> asPlanned = evaluate({programMerges(problem), {}});
  if (asPlanned)
    best = std::move(*asPlanned);
  // What is not merged needs no copies.
  if (!best || !best->choices.merged.empty())
    offer(Choices());
  if (!best)
    return explainMemory(problem, asPlanned.takeError());
  llvm::consumeError(asPlanned.takeError());
  for (int64_t size : sizesOfBuckets) {
    if (!mergesMayHelp())
      break;
    Lists lists;
    for (const Mergeable &mergeable : problem.mergeables)
      llvm::append_range(lists, bucketsOf(mergeable, size));
    if (!lists.empty())
      offer({std::move(lists), {}});
  }
  if (effort == ChoiceEffort::many && mergesMayHelp())
    for (const Mergeable &mergeable : problem.mergeables)
      improve(mergeable);
  split(effort);
  return std::move(*best);
}

Expected<Decision> meshplan::scheduling::searchChoices(const Problem &problem, ChoiceEffort effort) {
  return ChoiceSearch(problem).search(effort);
}
