//===- least_memory.cpp - an order that fits into memory ------------------===//

#include "compiler/scheduling/solvers/least_memory.h"
#include "compiler/scheduling/memory_profile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <numeric>
#include <set>

using namespace meshplan::scheduling;
using llvm::Twine;

namespace {
/// Depth-first search over sets of operations that are over. What can come after a set does not depend on the order in
/// which it was reached, so each set is visited once.
class MemorySearch {
public:
  /// Tries first what is most urgent, or, without urgencies, what frees most.
  MemorySearch(const Problem &problem, const DependencyTable &dependencies, llvm::ArrayRef<int64_t> urgency,
               unsigned mostVisited)
      : problem(problem), dependencies(dependencies), urgency(urgency), memory(problem),
        left(problem.operations.size()), isOver(problem.operations.size(), false), mostVisited(mostVisited) {
    for (auto [count, before] : llvm::zip_equal(left, dependencies.before))
      count = before.size();
  }

  bool keepsToProgramOrder();
  bool search();

  std::vector<unsigned> order;
  /// Where the search came furthest: the first operation that did not fit there.
  size_t furthest = 0;
  std::optional<unsigned> stuck;
  bool isComplete() const { return visited.size() < mostVisited; }

private:
  struct Frame {
    std::vector<unsigned> candidates; ///< the last one is next
    MemoryTracker::Mark mark;
  };

  bool advance(unsigned operation);
  void retreat(const MemoryTracker::Mark &mark);
  std::vector<unsigned> candidates();

  const Problem &problem;
  const DependencyTable &dependencies;
  llvm::ArrayRef<int64_t> urgency;
  MemoryTracker memory;
  std::vector<unsigned> left; ///< dependencies of each operation that are not over
  std::vector<bool> isOver;
  std::set<std::vector<bool>> visited;
  unsigned mostVisited;
};
} // namespace

bool MemorySearch::advance(unsigned operation) {
  MemoryTracker::Mark mark = memory.mark();
  bool fits = memory.fits(operation);
  memory.begin(operation);
  memory.end(operation);
  if (!fits) {
    memory.undo(mark);
    if (!stuck || order.size() > furthest) {
      stuck = operation;
      furthest = order.size();
    }
    return false;
  }
  order.push_back(operation);
  isOver[operation] = true;
  for (unsigned other : dependencies.after[operation])
    --left[other];
  return true;
}

void MemorySearch::retreat(const MemoryTracker::Mark &mark) {
  unsigned operation = order.back();
  order.pop_back();
  memory.undo(mark);
  isOver[operation] = false;
  for (unsigned other : dependencies.after[operation])
    ++left[other];
}

std::vector<unsigned> MemorySearch::candidates() {
  std::vector<unsigned> ready;
  for (unsigned index = 0; index < left.size(); ++index)
    if (!isOver[index] && left[index] == 0)
      ready.push_back(index);
  std::vector<std::pair<int64_t, unsigned>> ranked;
  for (unsigned operation : ready)
    ranked.push_back({urgency.empty() ? memory.growth(operation) : urgency[operation], operation});
  llvm::sort(ranked, std::greater<>());
  llvm::transform(ranked, ready.begin(), [](const auto &each) { return each.second; });
  return ready;
}

bool MemorySearch::keepsToProgramOrder() {
  for (unsigned operation = 0; operation < problem.operations.size(); ++operation)
    if (!advance(operation))
      return false;
  return memory.fitsAtEnd();
}

bool MemorySearch::search() {
  if (!memory.fitsAtEnd() && problem.operations.empty())
    return false;
  std::vector<Frame> frames;
  frames.push_back({candidates(), memory.mark()});
  while (!frames.empty()) {
    if (order.size() == problem.operations.size())
      return memory.fitsAtEnd(); // the same in any order
    Frame &frame = frames.back();
    if (frame.candidates.empty() || !isComplete()) {
      frames.pop_back();
      if (!frames.empty())
        retreat(frames.back().mark);
      continue;
    }
    unsigned operation = frame.candidates.back();
    frame.candidates.pop_back();
    if (!advance(operation))
      continue;
    if (!visited.insert(isOver).second) {
      retreat(frame.mark);
      continue;
    }
    frames.push_back({candidates(), memory.mark()});
  }
  return problem.operations.empty();
}

static std::string textOf(const ClassBytes &bytes) {
  std::string text;
  for (int64_t each : bytes)
    text += (Twine(text.empty() ? "" : ", ") + Twine(each)).str();
  return text;
}

/// Each operation is over before the next one begins.
static Solution oneByOne(const Problem &problem, llvm::ArrayRef<unsigned> order) {
  std::vector<Step> steps;
  for (unsigned operation : order)
    if (problem.isAsynchronous(problem.operations[operation]))
      steps.insert(steps.end(), {{StepKind::start, operation}, {StepKind::wait, operation}});
    else
      steps.push_back({StepKind::run, operation});
  return {insertFrees(problem, steps)};
}

namespace {
/// An order of a problem, and by how many bytes more than the limit it needs on the class of ranks where this is most.
struct Excess {
  explicit Excess(const Problem &problem, llvm::ArrayRef<unsigned> order) : solution(oneByOne(problem, order)) {
    for (const Peak &peak : profileMemory(problem, solution).peaks) {
      peaks.push_back(peak.bytes);
      int64_t more = peak.bytes - problem.memoryLimit[peaks.size() - 1];
      if (peaks.size() == 1 || more > bytes) {
        bytes = more;
        rankClass = peaks.size() - 1;
      }
    }
  }

  Solution solution;
  ClassBytes peaks;
  int64_t bytes = 0;
  unsigned rankClass = 0;
};
} // namespace

/// The least excess, by bisection. `isLeast` becomes false if it is only the least that was found.
static Excess leastExcess(const Problem &problem, const DependencyTable &dependencies, unsigned mostVisited,
                          bool &isLeast) {
  static constexpr size_t mostOperations = 64; // of a problem that is searched about forty times
  std::vector<unsigned> order(problem.operations.size());
  std::iota(order.begin(), order.end(), 0);
  Excess best(problem, order);
  isLeast = order.size() <= mostOperations;
  Problem wider = problem;
  for (int64_t tooFew = 0; isLeast && best.bytes - tooFew > 1;) {
    int64_t more = tooFew + (best.bytes - tooFew) / 2;
    for (auto [limit, own] : llvm::zip_equal(wider.memoryLimit, problem.memoryLimit))
      limit = own + more;
    MemorySearch search(wider, dependencies, {}, mostVisited);
    if (search.search())
      best = Excess(problem, search.order);
    else if (search.isComplete())
      tooFew = more;
    else
      isLeast = false;
  }
  return best;
}

llvm::Error meshplan::scheduling::explainMemory(const Problem &problem, llvm::Error other) {
  static constexpr unsigned mostVisited = 20000;
  DependencyTable dependencies(problem);
  llvm::Expected<std::vector<unsigned>> order = leastMemoryOrder(problem, dependencies, mostVisited);
  if (order)
    return other;
  llvm::consumeError(std::move(other));
  llvm::consumeError(order.takeError());
  bool isLeast = false;
  Excess excess = leastExcess(problem, dependencies, mostVisited, isLeast);
  return llvm::createStringError("V9: no order of the operations " + Twine(isLeast ? "keeps" : "was found that keeps") +
                                 " to the memory limit of " + textOf(problem.memoryLimit) +
                                 " bytes, must be at least " + textOf(excess.peaks) + ", for " +
                                 describeHeld(problem, excess.solution, excess.rankClass));
}

llvm::Expected<std::vector<unsigned>> meshplan::scheduling::leastMemoryOrder(const Problem &problem,
                                                                             const DependencyTable &dependencies,
                                                                             unsigned mostVisited) {
  std::vector<unsigned> order(problem.operations.size());
  std::iota(order.begin(), order.end(), 0);
  if (problem.memoryLimit.empty() || MemorySearch(problem, dependencies, {}, mostVisited).keepsToProgramOrder())
    return order;
  MemorySearch search(problem, dependencies, {}, mostVisited);
  if (search.search())
    return search.order;
  std::string where = search.stuck ? " does not fit '" + problem.operations[*search.stuck].name + "' after " +
                                         std::to_string(search.furthest) + " operations"
                                   : " does not fit what is held at the end";
  return llvm::createStringError("V9: no order of the operations " +
                                 Twine(search.isComplete() ? "keeps" : "was found that keeps") +
                                 " to the memory limit of " + textOf(problem.memoryLimit) + " bytes, which" + where);
}

std::optional<std::vector<unsigned>> meshplan::scheduling::urgentOrder(const Problem &problem,
                                                                       const DependencyTable &dependencies,
                                                                       llvm::ArrayRef<int64_t> urgency,
                                                                       unsigned mostVisited) {
  MemorySearch search(problem, dependencies, urgency, mostVisited);
  if (!search.search())
    return std::nullopt;
  return search.order;
}
