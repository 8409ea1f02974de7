//===- merge_search.cpp - which collectives are merged --------------------===//
//
// First what is merged, then the order: a merge changes which orders are possible, and list scheduling is fast enough
// to compare merges. What a collective costs whatever its size (its latency, and Mergeable::once) decides which sizes
// are tried: collectives that transfer for many times as long gain little.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/solvers/merge_search.h"
#include "compiler/scheduling/simulate.h"
#include "llvm/ADT/STLExtras.h"

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
  Expected<Resolution> resolution = resolve(problem, lists);
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
class MergeSearch {
public:
  explicit MergeSearch(const Problem &problem) : problem(problem) {}

  Expected<Merged> search(MergeEffort effort);

private:
  using Cuts = std::vector<bool>; ///< for each member of a Mergeable but the first: it does not join the one before

  Expected<Merged> evaluate(Lists lists) const;
  OrderedMembers membersInOrder(const Mergeable &mergeable) const;
  int64_t exposedOfMembers() const;
  Lists bucketsOf(const Mergeable &mergeable, int64_t size) const;
  void improve(const Mergeable &mergeable);
  /// Takes other cuts of one list if they are faster.
  bool offer(const Mergeable &mergeable, llvm::ArrayRef<const MergeMember *> members, const Cuts &cuts);
  /// Takes other merges if they are faster.
  bool offer(Lists lists);

  const Problem &problem;
  std::optional<Merged> best;
};
} // namespace

Expected<Merged> MergeSearch::evaluate(Lists lists) const {
  Expected<Resolution> resolution = resolve(problem, lists);
  if (!resolution)
    return resolution.takeError();
  CostTable costs(resolution->problem);
  DependencyTable dependencies(resolution->problem);
  Expected<std::vector<IssueOrder>> orders = listCandidates(resolution->problem, costs, dependencies);
  if (!orders)
    return orders.takeError();
  return Merged{std::move(lists), std::move(*resolution), std::move(*orders)};
}

/// In the order in which they start in the best solution so far: what starts together is a good candidate for a merge.
OrderedMembers MergeSearch::membersInOrder(const Mergeable &mergeable) const {
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

/// How long computing waits for what may be merged, in the best solution so far.
int64_t MergeSearch::exposedOfMembers() const {
  const Problem &resolved = best->resolution.problem;
  std::vector<bool> isMember(problem.operations.size());
  for (const Mergeable &mergeable : problem.mergeables)
    for (const MergeMember &member : mergeable.members)
      isMember[member.operation] = true;
  Timeline timeline = simulate(resolved, {best->orders.front().steps});
  int64_t exposed = timeline.waitsForHost; // merges leave less to issue
  for (auto [index, members] : llvm::enumerate(best->resolution.members))
    if (resolved.operations[index].isCollective() && isMember[members.front()])
      exposed += timeline.exposed[index];
  return exposed;
}

/// Lists that are closed when their transfers take `size` times as long as what each collective costs whatever its
/// size. Members that reach this size alone are not merged with smaller ones.
Lists MergeSearch::bucketsOf(const Mergeable &mergeable, int64_t size) const {
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

bool MergeSearch::offer(Lists lists) {
  Expected<Merged> merged = evaluate(std::move(lists));
  if (!merged) {
    llvm::consumeError(merged.takeError()); // they depend on each other, or do not fit into memory together
    return false;
  }
  if (best && merged->makespan() >= best->makespan())
    return false;
  best = std::move(*merged);
  return true;
}

bool MergeSearch::offer(const Mergeable &mergeable, llvm::ArrayRef<const MergeMember *> members, const Cuts &cuts) {
  Lists lists;
  for (const std::vector<unsigned> &list : best->lists)
    if (llvm::none_of(members, [&](const MergeMember *member) { return member->operation == list.front(); }))
      lists.push_back(list);
  llvm::append_range(lists,
                     cut(members, mergeable.mostBytes, [&](size_t index) { return index > 0 && cuts[index - 1]; }));
  return offer(std::move(lists));
}

void MergeSearch::improve(const Mergeable &mergeable) {
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

Expected<Merged> MergeSearch::search(MergeEffort effort) {
  // Of two ways that are as fast, what the plan asks for is taken: it is tried first.
  Expected<Merged> asPlanned = evaluate(programMerges(problem));
  if (asPlanned)
    best = std::move(*asPlanned);
  // What is not merged needs no copies.
  if (!best || !best->lists.empty())
    offer({});
  if (!best)
    return asPlanned.takeError();
  llvm::consumeError(asPlanned.takeError());
  for (int64_t size : sizesOfBuckets) {
    if (exposedOfMembers() == 0)
      break;
    Lists lists;
    for (const Mergeable &mergeable : problem.mergeables)
      llvm::append_range(lists, bucketsOf(mergeable, size));
    if (!lists.empty())
      offer(std::move(lists));
  }
  if (effort == MergeEffort::many && exposedOfMembers() > 0)
    for (const Mergeable &mergeable : problem.mergeables)
      improve(mergeable);
  return std::move(*best);
}

Expected<Merged> meshplan::scheduling::searchMerges(const Problem &problem, MergeEffort effort) {
  return MergeSearch(problem).search(effort);
}
