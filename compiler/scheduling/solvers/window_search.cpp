//===- window_search.cpp - improves an order part by part -----------------===//

#include "compiler/scheduling/solvers/window_search.h"
#include "compiler/scheduling/solvers/random.h"
#include "compiler/scheduling/solvers/repeated_blocks.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <map>

using namespace meshplan::scheduling;

static constexpr int64_t impossible = std::numeric_limits<int64_t>::max();
static constexpr size_t smallProblem = 64, mostWindow = 48, mostPeriod = 512;

namespace {
/// Improves a window of an order. The walker has issued what is before the window.
class WindowSearch {
public:
  WindowSearch(Walker &walker, const DependencyTable &dependencies, llvm::ArrayRef<unsigned> window,
               llvm::ArrayRef<unsigned> tail, bool endsProgram, unsigned &candidates);

  void search(unsigned mostCandidates);
  /// Takes the order if it is possible and faster.
  void offer(llvm::ArrayRef<unsigned> window);

  llvm::ArrayRef<unsigned> best() const { return bestOrder; }
  bool isExhausted() const { return candidates == 0; }

private:
  int64_t timeFrom(size_t position, llvm::ArrayRef<unsigned> window, int64_t limit);
  void setCurrent(std::vector<unsigned> order);
  std::pair<size_t, size_t> reachableFrom(size_t position) const;
  bool improveOnce(unsigned end);
  void disturb();

  Walker &walker;
  const DependencyTable &dependencies;
  llvm::ArrayRef<unsigned> tail;
  bool endsProgram;
  unsigned &candidates;
  std::vector<unsigned> bestOrder, current;
  int64_t bestTime = impossible, currentTime = impossible;
  std::vector<Walker::Mark> marks; ///< before each operation of `current`, and after the last one
  size_t agreed = 0;               ///< operations of `current` that the walker has issued, in this order
  Random random{1};
};
} // namespace

static std::vector<unsigned> moved(llvm::ArrayRef<unsigned> order, size_t from, size_t to) {
  std::vector<unsigned> result = order.vec();
  if (from < to)
    std::rotate(result.begin() + from, result.begin() + from + 1, result.begin() + to + 1);
  else
    std::rotate(result.begin() + to, result.begin() + from, result.begin() + from + 1);
  return result;
}

WindowSearch::WindowSearch(Walker &walker, const DependencyTable &dependencies, llvm::ArrayRef<unsigned> window,
                           llvm::ArrayRef<unsigned> tail, bool endsProgram, unsigned &candidates)
    : walker(walker), dependencies(dependencies), tail(tail), endsProgram(endsProgram), candidates(candidates) {
  marks.push_back(walker.mark());
  setCurrent(window.vec());
  bestOrder = current;
  bestTime = currentTime;
}

/// The time after window and tail, if the window is as in `current` before `position`; `impossible` if it exceeds the
/// memory limit, or is not below `limit`.
int64_t WindowSearch::timeFrom(size_t position, llvm::ArrayRef<unsigned> window, int64_t limit) {
  candidates -= candidates > 0;
  walker.undo(marks[std::min(position, agreed)]);
  for (; agreed < position; ++agreed)
    (void)walker.issue(current[agreed]);
  agreed = position;
  for (unsigned operation : llvm::concat<const unsigned>(window.drop_front(position), tail))
    if (!walker.issue(operation) || walker.now() >= limit)
      return impossible;
  if (endsProgram && !walker.finish())
    return impossible;
  return walker.now() < limit ? walker.now() : impossible;
}

void WindowSearch::setCurrent(std::vector<unsigned> order) {
  current = std::move(order);
  walker.undo(marks.front());
  agreed = 0;
  marks.erase(marks.begin() + 1, marks.end());
  for (unsigned operation : current) {
    if (!walker.issue(operation))
      break;
    marks.push_back(walker.mark());
  }
  agreed = marks.size() - 1;
  currentTime = marks.size() == current.size() + 1 ? timeFrom(current.size(), current, impossible) : impossible;
}

void WindowSearch::offer(llvm::ArrayRef<unsigned> window) {
  int64_t time = timeFrom(0, window, bestTime);
  if (time == impossible)
    return;
  setCurrent(window.vec());
  bestOrder = current;
  bestTime = currentTime;
}

/// The first and the last position to which the operation at a position can move.
std::pair<size_t, size_t> WindowSearch::reachableFrom(size_t position) const {
  unsigned operation = current[position];
  size_t first = position, last = position;
  while (first > 0 && !llvm::is_contained(dependencies.before[operation], current[first - 1]))
    --first;
  while (last + 1 < current.size() && !llvm::is_contained(dependencies.after[operation], current[last + 1]))
    ++last;
  return {first, last};
}

/// Makes the best move of one operation, for each operation. False if none helps.
bool WindowSearch::improveOnce(unsigned end) {
  bool isBetter = false;
  for (unsigned operation : std::vector<unsigned>(current)) {
    size_t from = llvm::find(current, operation) - current.begin();
    auto [first, last] = reachableFrom(from);
    std::optional<size_t> bestPosition;
    int64_t time = currentTime;
    for (size_t to = first; to <= last; ++to) {
      if (to == from)
        continue;
      if (candidates <= end)
        return false;
      int64_t other = timeFrom(std::min(from, to), moved(current, from, to), time);
      if (other >= time)
        continue;
      time = other;
      bestPosition = to;
    }
    if (!bestPosition)
      continue;
    setCurrent(moved(current, from, *bestPosition));
    isBetter = true;
  }
  return isBetter;
}

void WindowSearch::disturb() {
  std::vector<unsigned> before = current;
  for (unsigned move = 0, moves = 1 + random.below(3); move < moves; ++move) {
    size_t from = random.below(current.size());
    auto [first, last] = reachableFrom(from);
    current = moved(current, from, first + random.below(last - first + 1));
  }
  setCurrent(std::move(current));
  if (currentTime == impossible)
    setCurrent(std::move(before));
}

void WindowSearch::search(unsigned mostCandidates) {
  if (current.size() < 2 || currentTime == impossible)
    return;
  unsigned end = candidates > mostCandidates ? candidates - mostCandidates : 0;
  while (candidates > end) {
    while (improveOnce(end)) {
    }
    if (currentTime < bestTime) {
      bestTime = currentTime;
      bestOrder = current;
    } else if (currentTime > bestTime && random.below(4) != 0) {
      setCurrent(bestOrder);
    }
    if (candidates <= end)
      return;
    candidates -= 1; // a disturbance costs a candidate, so that the search ends where nothing can move
    disturb();
  }
}

namespace {
/// Blocks that were searched, by the kinds of their operations and of what comes after: the positions, in the block as
/// it was, of its operations in the order that was found.
using KnownBlocks = std::map<std::vector<unsigned>, std::vector<std::vector<unsigned>>>;
} // namespace

static std::vector<unsigned> positionsIn(llvm::ArrayRef<unsigned> before, llvm::ArrayRef<unsigned> after) {
  std::vector<unsigned> positions;
  for (unsigned operation : after)
    positions.push_back(llvm::find(before, operation) - before.begin());
  return positions;
}

/// False if an operation would come before one that it depends on.
static bool respectsDependencies(llvm::ArrayRef<unsigned> order, const DependencyTable &dependencies) {
  for (auto [position, operation] : llvm::enumerate(order))
    for (unsigned later : order.drop_front(position + 1))
      if (llvm::is_contained(dependencies.before[operation], later))
        return false;
  return true;
}

static void improveBlock(WindowSearch &search, llvm::ArrayRef<unsigned> window, std::vector<unsigned> kinds,
                         const DependencyTable &dependencies, KnownBlocks &known, unsigned mostCandidates) {
  auto [entry, isNew] = known.try_emplace(std::move(kinds));
  for (llvm::ArrayRef<unsigned> positions : entry->second) {
    std::vector<unsigned> order;
    for (unsigned position : positions)
      order.push_back(window[position]);
    if (respectsDependencies(order, dependencies))
      search.offer(order);
  }
  if (!isNew)
    return;
  search.search(mostCandidates);
  entry->second.push_back(positionsIn(window, search.best()));
}

IssueOrder meshplan::scheduling::improve(const Problem &problem, const CostTable &costs,
                                         const DependencyTable &dependencies, IssueOrder start, SearchBudget &budget) {
  std::vector<unsigned> order = start.operations, kinds = kindsOf(problem), kindsInOrder;
  for (unsigned operation : order)
    kindsInOrder.push_back(kinds[operation]);
  bool isSmall = order.size() <= smallProblem;
  std::vector<Block> blocks =
      isSmall ? std::vector<Block>{{0, order.size()}} : repeatedBlocks(kindsInOrder, mostWindow, mostPeriod);
  Walker walker(problem, costs, dependencies);
  KnownBlocks known;
  for (Block block : blocks) {
    llvm::ArrayRef<unsigned> all(order), window = all.slice(block.begin, block.size());
    llvm::ArrayRef<unsigned> tail = all.drop_front(block.end).take_front(mostWindow);
    llvm::ArrayRef<unsigned> key = llvm::ArrayRef(kindsInOrder).slice(block.begin, block.size() + tail.size());
    Walker::Mark mark = walker.mark();
    WindowSearch search(walker, dependencies, window, tail, block.end + tail.size() == order.size(), budget.candidates);
    improveBlock(search, window, key.vec(), dependencies, known, isSmall ? budget.candidates : budget.ofWindow);
    walker.undo(mark);
    std::vector<unsigned> found = search.best().vec();
    llvm::copy(found, order.begin() + block.begin);
    for (unsigned operation : found)
      if (!walker.issue(operation))
        return start; // the waits of the order that was given cannot come as late as a walker's
  }
  if (!walker.finish() || walker.now() >= start.makespan)
    return start;
  return {order, walker.steps().vec(), walker.now()};
}
