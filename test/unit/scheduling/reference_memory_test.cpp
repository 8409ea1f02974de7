//===- reference_memory_test.cpp - what may be issued early ---------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/scheduling/solvers/random.h"
#include "compiler/scheduling/solvers/reference_memory.h"
#include "compiler/scheduling/solvers/walker.h"
#include "test/lib/problem/generate.h"
#include "test/unit/scheduling/problem_fixture.h"
#include <numeric>

using namespace meshplan::scheduling;

namespace {
/// Issues operations in random orders, as often as the memory limit allows before their turn, with some of them in
/// flight, and compares each answer with verify() of the whole order.
class EarlyIssue {
public:
  EarlyIssue(const Problem &problem, std::vector<unsigned> reference, unsigned seed)
      : problem(problem), dependencies(problem), memory(problem), reference(std::move(reference)), random(seed),
        isIssued(problem.operations.size()) {}

  void run() {
    ReferenceMemory own(problem, memory, reference);
    while (issued.size() < reference.size()) {
      std::vector<unsigned> allowed;
      for (unsigned operation : ready()) {
        bool answer = own.allows(operation, inFlight), truth = fitsWith(operation);
        ASSERT_EQ(answer, truth) << problem.operations[operation].name << " after " << issued.size();
        ++(answer ? allowances : refusals);
        if (answer)
          allowed.push_back(operation);
      }
      ASSERT_FALSE(allowed.empty()) << "the next operation of the reference always fits";
      unsigned operation = allowed[random.below(allowed.size())];
      isEarly |= operation != own.next();
      issue(operation);
      own.issue(operation);
    }
  }

  unsigned allowances = 0, refusals = 0;
  bool isEarly = false;

private:
  std::vector<unsigned> ready() const {
    std::vector<unsigned> result;
    for (unsigned operation = 0; operation < reference.size(); ++operation)
      if (!isIssued[operation] &&
          llvm::all_of(dependencies.before[operation], [&](unsigned other) { return isIssued[other]; }))
        result.push_back(operation);
    return result;
  }

  /// What is issued, then the operation, then the rest of the reference, one after the other. The operations before
  /// the rest fit at their own positions, because others are not in flight.
  bool fitsWith(unsigned operation) const {
    std::vector<unsigned> order = issued;
    order.push_back(operation);
    for (unsigned other : reference)
      if (!isIssued[other] && other != operation)
        order.push_back(other);
    std::vector<Step> steps;
    for (unsigned each : order)
      if (problem.isAsynchronous(problem.operations[each]))
        steps.insert(steps.end(), {{StepKind::start, each}, {StepKind::wait, each}});
      else
        steps.push_back({StepKind::run, each});
    // The operation itself is not asked about: it runs where nothing is limited.
    Problem unlimited = problem;
    unlimited.memoryLimit.clear();
    std::vector<int64_t> peaks = peaksAfter(unlimited, insertFrees(problem, steps), operation);
    return llvm::all_of(llvm::zip_equal(peaks, problem.memoryLimit),
                        [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
  }

  /// The peaks of the steps after those of an operation, by a count of what is live.
  static std::vector<int64_t> peaksAfter(const Problem &problem, llvm::ArrayRef<Step> steps, unsigned operation) {
    std::vector<int64_t> held(problem.rankClasses), peaks(problem.rankClasses);
    std::vector<int> sharers(problem.buffers.size());
    auto add = [](std::vector<int64_t> &sum, const ClassBytes &bytes, int64_t sign) {
      for (auto [total, part] : llvm::zip(sum, bytes))
        total += sign * part;
    };
    for (const Buffer &buffer : problem.buffers)
      if (buffer.permanent && buffer.memory == Memory::device)
        add(held, buffer.bytes, 1);
    bool isAfter = false;
    for (Step step : steps) {
      if (step.kind == StepKind::free) {
        unsigned storage = problem.storageOf(step.index);
        const Buffer &owner = problem.buffers[storage];
        if (--sharers[storage] == 0 && !owner.permanent && owner.memory == Memory::device)
          add(held, owner.bytes, -1);
        continue;
      }
      if (step.kind == StepKind::wait)
        continue;
      const Operation &own = problem.operations[step.index];
      for (unsigned buffer : own.produced) {
        ++sharers[problem.storageOf(buffer)];
        if (problem.buffers[buffer].memory == Memory::device)
          add(held, problem.buffers[buffer].bytes, 1);
      }
      std::vector<int64_t> running = held;
      if (own.memory == Memory::device)
        add(running, own.workspace, 1);
      for (auto [peak, bytes] : llvm::zip_equal(peaks, running))
        peak = isAfter ? std::max(peak, bytes) : peak;
      isAfter |= step.index == operation;
    }
    return peaks;
  }

  void issue(unsigned operation) {
    isIssued[operation] = true;
    issued.push_back(operation);
    for (unsigned other : std::vector<unsigned>(inFlight))
      if (llvm::is_contained(dependencies.before[operation], other) || random.below(2) == 0)
        end(other);
    memory.begin(operation);
    inFlight.push_back(operation);
    if (!problem.isAsynchronous(problem.operations[operation]))
      end(operation);
  }

  void end(unsigned operation) {
    llvm::erase(inFlight, operation);
    memory.end(operation);
  }

  const Problem &problem;
  DependencyTable dependencies;
  MemoryTracker memory;
  std::vector<unsigned> reference;
  Random random;
  std::vector<bool> isIssued;
  std::vector<unsigned> issued, inFlight;
};
} // namespace

namespace {
struct LimitedProblem {
  Problem problem;
  std::vector<unsigned> reference;
};
} // namespace

/// Program order with nothing at the same time, and a limit of the memory that it needs and a part of that more.
static LimitedProblem limited(Problem problem, int64_t part) {
  problem.splittables.clear();
  Problem blocking = problem;
  for (Operation &operation : blocking.operations)
    operation.blocking = true;
  Solution solution = llvm::cantFail(programOrder(blocking));
  problem.memoryLimit.clear();
  for (const Peak &peak : profileMemory(problem, solution).peaks)
    problem.memoryLimit.push_back(peak.bytes + (part == 0 ? 0 : peak.bytes / part));
  std::vector<unsigned> reference;
  for (Step step : solution.steps)
    if (step.kind == StepKind::run || step.kind == StepKind::start)
      reference.push_back(step.index);
  return {std::move(problem), std::move(reference)};
}

TEST(ReferenceMemory, AnswersAsAWholeOrderDoes) {
  unsigned refusals = 0, allowances = 0, early = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    auto [problem, reference] = limited(randomAnswerable(seed), seed % 3 == 0 ? 0 : 8);
    EarlyIssue issue(problem, reference, seed);
    ASSERT_NO_FATAL_FAILURE(issue.run()) << "seed " << seed;
    refusals += issue.refusals;
    allowances += issue.allowances;
    early += issue.isEarly;
  }
  EXPECT_GT(refusals, 100u);
  EXPECT_GT(allowances, 1000u);
  EXPECT_GT(early, 100u);
}

TEST(ReferenceMemory, AnswersAsAWholeOrderDoesInATrainingStep) {
  for (int64_t part : {0, 64, 8}) {
    auto [problem, reference] = limited(trainingStep(4), part);
    EarlyIssue issue(problem, reference, 1);
    ASSERT_NO_FATAL_FAILURE(issue.run()) << part;
    EXPECT_GT(issue.refusals, 0u) << part;
    EXPECT_TRUE(issue.isEarly) << part;
  }
}

TEST(ReferenceMemory, RefusesWhatIsFarAhead) {
  Problem problem = parse(twoLanes + "memory_limit 9000\n").problem;
  constexpr unsigned count = 4096, mostAhead = (1 << 21) / count;
  for (unsigned index = 0; index < count; ++index) {
    Operation operation;
    operation.duration = 1;
    operation.produced = {static_cast<unsigned>(problem.buffers.size())};
    problem.buffers.push_back({"b", {1}});
    problem.operations.push_back(operation);
  }
  std::vector<unsigned> reference(problem.operations.size());
  std::iota(reference.begin(), reference.end(), 0);
  MemoryTracker memory(problem);
  ReferenceMemory own(problem, memory, reference);
  EXPECT_EQ(own.mostAhead(), mostAhead);
  EXPECT_TRUE(own.allows(mostAhead, {}));
  EXPECT_FALSE(own.allows(mostAhead + 1, {}));
  own.issue(0);
  EXPECT_TRUE(own.allows(mostAhead + 1, {})) << "it is one position closer";
}
