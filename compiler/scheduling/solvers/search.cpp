//===- search.cpp - the solver `search` -----------------------------------===//
//
// First what travels together, then the order: a merge changes which orders are possible, and list scheduling is fast
// enough to compare merges.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/solvers/window_search.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;
using llvm::Expected;

/// Merges are tried one by one for up to so many collectives of one kind, else only by buckets of one size.
static constexpr size_t fewMembers = 16;

namespace {
/// Candidates for one way to merge.
struct Merged {
  std::vector<std::vector<unsigned>> lists;
  Resolution resolution;
  std::vector<IssueOrder> orders; ///< the fastest first

  int64_t makespan() const { return orders.front().makespan; }
};

class MergeSearch {
public:
  explicit MergeSearch(const Problem &problem) : problem(problem) {}

  Expected<Merged> search();

private:
  using Cuts = std::vector<bool>; ///< for each member of a Mergeable but the first: it does not join the one before

  Expected<Merged> evaluate(std::vector<std::vector<unsigned>> lists) const;
  std::vector<const MergeMember *> membersInOrder(const Mergeable &mergeable) const;
  void improve(const Mergeable &mergeable);
  /// Takes other cuts of one list if they are faster.
  bool offer(const Mergeable &mergeable, llvm::ArrayRef<const MergeMember *> members, const Cuts &cuts);

  const Problem &problem;
  std::optional<Merged> best;
};
} // namespace

Expected<Merged> MergeSearch::evaluate(std::vector<std::vector<unsigned>> lists) const {
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

/// In the order in which they start in the best solution so far: what starts together may well travel together.
std::vector<const MergeMember *> MergeSearch::membersInOrder(const Mergeable &mergeable) const {
  std::vector<size_t> start(problem.operations.size());
  for (auto [position, operation] : llvm::enumerate(best->orders.front().operations))
    for (unsigned member : best->resolution.members[operation])
      start[member] = position;
  std::vector<const MergeMember *> members;
  for (const MergeMember &member : mergeable.members)
    members.push_back(&member);
  llvm::stable_sort(members, [&](const MergeMember *one, const MergeMember *other) {
    return start[one->operation] < start[other->operation];
  });
  return members;
}

bool MergeSearch::offer(const Mergeable &mergeable, llvm::ArrayRef<const MergeMember *> members, const Cuts &cuts) {
  std::vector<std::vector<unsigned>> lists;
  for (const std::vector<unsigned> &list : best->lists)
    if (llvm::none_of(members, [&](const MergeMember *member) { return member->operation == list.front(); }))
      lists.push_back(list);
  std::vector<unsigned> own;
  int64_t bytes = 0;
  auto close = [&] {
    if (own.size() > 1)
      lists.push_back(own);
    own.clear();
    bytes = 0;
  };
  for (auto [index, member] : llvm::enumerate(members)) {
    bool isFull = mergeable.mostBytes != 0 && bytes + member->bytes > mergeable.mostBytes;
    if (index > 0 && (cuts[index - 1] || isFull))
      close();
    own.push_back(member->operation);
    bytes += member->bytes;
  }
  close();
  Expected<Merged> merged = evaluate(std::move(lists));
  if (!merged) {
    llvm::consumeError(merged.takeError()); // they depend on each other, or do not fit into memory together
    return false;
  }
  if (merged->makespan() >= best->makespan())
    return false;
  best = std::move(*merged);
  return true;
}

void MergeSearch::improve(const Mergeable &mergeable) {
  std::vector<const MergeMember *> members = membersInOrder(mergeable);
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

Expected<Merged> MergeSearch::search() {
  Expected<Merged> unmerged = evaluate({});
  if (!unmerged)
    return unmerged.takeError();
  best = std::move(*unmerged);
  for (const Mergeable &mergeable : problem.mergeables)
    improve(mergeable);
  return std::move(*best);
}

Expected<Solution> meshplan::scheduling::search(const Problem &problem) {
  if (llvm::Error error = problem.check())
    return error;
  Expected<Merged> merged = MergeSearch(problem).search();
  if (!merged)
    return merged.takeError();
  const Problem &resolved = merged->resolution.problem;
  CostTable costs(resolved);
  DependencyTable dependencies(resolved);
  SearchBudget budget;
  IssueOrder order = improve(resolved, costs, dependencies, merged->orders.front(), budget);
  Solution solution{insertFrees(resolved, order.steps), merged->lists};
  if (llvm::Error error = verify(problem, solution))
    return error;
  return solution;
}
