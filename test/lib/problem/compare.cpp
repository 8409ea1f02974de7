//===- compare.cpp - compare-solvers ----------------------------------------===//
//
// Compares solvers with the optimum, verifies their answers to many random problems, and measures how their time grows.
// Prints figures; exit status 1 if a solution is wrong or a figure exceeds its bound.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/choices.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/scheduling/simulate.h"
#include "test/lib/problem/exact.h"
#include "test/lib/problem/generate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>

using namespace meshplan::scheduling;
using llvm::StringRef;

static int64_t makespanOf(const Problem &problem, const Solution &solution) {
  return simulate(llvm::cantFail(resolve(problem, solution.choices)).problem, {solution.steps}).makespan;
}

/// The makespan that a solver reaches; none, with a message, if its answer is an error.
static std::optional<int64_t> solved(StringRef name, const Problem &problem, unsigned seed) {
  llvm::Expected<Solution> solution = findSolver(name)->solve(problem);
  if (solution)
    return makespanOf(problem, *solution);
  llvm::errs() << "seed " << seed << ": " << name << ": " << llvm::toString(solution.takeError()) << '\n';
  return std::nullopt;
}

namespace {
constexpr uint64_t mostNodes = 300'000;

/// A problem and its optimum.
struct Sample {
  Problem problem;
  int64_t optimum, program;
};

/// How far solvers are from the optimum, in the mean and at most.
struct Gap {
  double sum = 0, largest = 0;
  unsigned optimal = 0, count = 0;

  void add(int64_t makespan, int64_t optimum) {
    double gap = static_cast<double>(makespan) / static_cast<double>(optimum) - 1;
    sum += gap;
    largest = std::max(largest, gap);
    optimal += makespan == optimum;
    ++count;
  }
  void add(const Gap &other) {
    sum += other.sum;
    largest = std::max(largest, other.largest);
    optimal += other.optimal;
    count += other.count;
  }
};

struct Gaps {
  Gap program, list, search;

  void add(const Gaps &other) {
    program.add(other.program);
    list.add(other.list);
    search.add(other.search);
  }
};
} // namespace

static std::optional<int64_t> optimumOf(const Problem &problem, int64_t known) {
  uint64_t nodes = 0;
  return exactMakespan(problem, known + 1, mostNodes, nodes);
}

static bool isFar(int64_t makespan, int64_t optimum) { return makespan * 100 >= optimum * 115; }

/// A random problem on which program order is at least 15 % slower than the optimum. If it is limited, then to the
/// memory of program order, and the optimum without the limit is faster than the one with it.
static std::optional<Sample> sampleOf(unsigned seed, bool isLimited) {
  Problem problem = randomOverlap(seed);
  Solution program = llvm::cantFail(programOrder(problem));
  int64_t known = makespanOf(problem, program);
  std::optional<int64_t> optimum = optimumOf(problem, known);
  if (!optimum || !isFar(known, *optimum))
    return std::nullopt;
  if (!isLimited)
    return Sample{problem, *optimum, known};
  problem.memoryLimit = {profileMemory(problem, program).peaks[0].bytes};
  std::optional<int64_t> limited = optimumOf(problem, known);
  if (!limited || *limited == *optimum || !isFar(known, *limited))
    return std::nullopt;
  return Sample{problem, *limited, known};
}

static void print(const Gaps &gaps) {
  for (auto [name, gap] : {std::pair("program", &gaps.program), {"list", &gaps.list}, {"search", &gaps.search}})
    llvm::outs() << llvm::format("  %-8s %6.2f %% above the optimum in the mean, %6.2f %% at most, optimal in %u\n",
                                 name, gap->sum / std::max(gap->count, 1u) * 100, gap->largest * 100, gap->optimal);
}

/// False if a solver has no answer, or one that is better than the optimum.
static bool addGaps(unsigned count, bool isLimited, Gaps &all) {
  Gaps own;
  bool isRight = true;
  unsigned seed = 0;
  for (unsigned found = 0; found < count; ++seed) {
    std::optional<Sample> sample = sampleOf(seed, isLimited);
    if (!sample)
      continue;
    ++found;
    own.program.add(sample->program, sample->optimum);
    for (auto [name, gap] : {std::pair("list", &own.list), {"search", &own.search}}) {
      std::optional<int64_t> makespan = solved(name, sample->problem, seed);
      isRight &= makespan && *makespan >= sample->optimum;
      if (makespan)
        gap->add(*makespan, sample->optimum);
    }
  }
  llvm::outs() << count << " problems " << (isLimited ? "with" : "without") << " a binding memory limit, of " << seed
               << " random ones\n";
  print(own);
  all.add(own);
  return isRight;
}

/// Half of the problems have a binding memory limit. `list` must be within 5 % in the mean, `search` within 2 %.
static bool compareWithOptimum(unsigned count) {
  Gaps all;
  bool isRight = addGaps(count / 2, false, all);
  isRight &= addGaps(count - count / 2, true, all);
  llvm::outs() << "all\n";
  print(all);
  return isRight && all.list.sum <= 0.05 * count && all.search.sum <= 0.02 * count;
}

/// `list` and `search`, on random problems of any kind.
static bool verifyRandom(unsigned count) {
  bool isRight = true;
  for (unsigned seed = 0; seed < count; ++seed) {
    Problem problem = randomAnswerable(seed);
    for (StringRef name : {"list", "search"})
      isRight &= solved(name, problem, seed).has_value(); // solvers verify what they return
  }
  llvm::outs() << count << " random problems: " << (isRight ? "every answer is verified\n" : "some are not solved\n");
  return isRight;
}

/// Of this thread, so that other programs do not count.
static double secondsOf(llvm::function_ref<void()> work) {
  std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

static bool scale() {
  bool isRight = true;
  for (const NamedSolver &solver : solvers())
    for (unsigned layers : {40, 160}) {
      Problem problem = trainingStep(layers);
      problem.memoryLimit = {profileMemory(problem, llvm::cantFail(programOrder(problem))).peaks[0].bytes};
      std::optional<int64_t> makespan;
      double seconds = secondsOf([&] { makespan = solved(solver.name, problem, layers); });
      isRight &= makespan.has_value();
      int64_t computing = 0;
      for (const Operation &operation : problem.operations)
        computing += operation.duration;
      llvm::outs() << llvm::format("%-8s %4u layers, %5zu operations: %7.3f s, step %.1f ms, computing %.1f ms\n",
                                   solver.name.data(), layers, problem.operations.size(), seconds,
                                   makespan.value_or(0) * 1e-6, computing * 1e-6);
      llvm::outs().flush();
    }
  return isRight;
}

int main(int argc, char **argv) {
  llvm::ArrayRef<char *> arguments(argv + 1, argv + argc);
  bool isRight = !arguments.empty();
  for (StringRef argument : arguments) {
    unsigned count = 0;
    if (argument == "--scale")
      isRight &= scale();
    else if (argument.consume_front("--optimum=") && !argument.getAsInteger(10, count))
      isRight &= compareWithOptimum(count);
    else if (argument.consume_front("--random=") && !argument.getAsInteger(10, count))
      isRight &= verifyRandom(count);
    else
      isRight = false;
  }
  if (arguments.empty())
    llvm::errs() << "usage: compare-solvers [--optimum=PROBLEMS] [--random=PROBLEMS] [--scale]\n";
  return isRight ? 0 : 1;
}
