//===- main.cpp - execute-solutions -----------------------------------------===//
//
// Runs the answers of all solvers to random problems on the backend `threads`, or the lists of a file. Exit status 1 if
// one hangs or gives wrong elements, with all that is needed to run it again.
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/algorithms.h"
#include "compiler/scheduling/choices.h"
#include "runtime/comm/threads/issue_order.h"
#include "test/lib/problem/execution/execute.h"
#include "test/lib/problem/execution/watch.h"
#include "test/lib/problem/generate.h"
#include "test/lib/problem/problem_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cstdlib>

using namespace meshplan;
using namespace meshplan::scheduling;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace {
struct Options {
  unsigned random = 0, first = 0, jobs = 4;
  ExecutionOptions execution;
  StringRef file;
};

/// Runs random problems and counts.
class RandomRuns {
public:
  explicit RandomRuns(const Options &options) : options(options), next(options.first) {}

  /// False, with reports, if something is wrong.
  bool run();

private:
  void work();
  void runProblem(unsigned seed, const NamedSolver &solver);
  void runCoordinates(unsigned seed, const NamedSolver &solver);
  void runRefused(unsigned seed, const NamedSolver &solver, llvm::ArrayRef<Coordinate> coordinates, StringRef refusal);
  Status runWatched(unsigned seed, StringRef solver, llvm::ArrayRef<Coordinate> coordinates, bool checksOrder);
  void report(unsigned seed, StringRef solver, const Twine &failure, llvm::ArrayRef<Coordinate> coordinates,
              bool checksOrder);

  const Options &options;
  std::atomic<unsigned> next;
  std::atomic<unsigned> runs = 0, ofSeveral = 0, refusals = 0, failures = 0;
  std::mutex output;
};
} // namespace

static std::string replayOf(llvm::ArrayRef<Coordinate> coordinates, uint64_t seed, bool checksOrder) {
  return ("// to run it again: execute-solutions --seed=" + Twine(seed) + (checksOrder ? "" : " --no-order-check") +
          " FILE, with this file:\n" + textOf(coordinates))
      .str();
}

void RandomRuns::report(unsigned seed, StringRef solver, const Twine &failure, llvm::ArrayRef<Coordinate> coordinates,
                        bool checksOrder) {
  std::lock_guard lock(output);
  ++failures;
  llvm::errs() << "error: problem " << seed << ", " << solver << ": " << failure << '\n'
               << replayOf(coordinates, seed, checksOrder);
}

/// Half of the runs are without the check of the order, as in builds without assertions.
static bool checksOrderOf(unsigned seed) { return seed % 2; }

Status RandomRuns::runWatched(unsigned seed, StringRef solver, llvm::ArrayRef<Coordinate> coordinates,
                              bool checksOrder) {
  ExecutionOptions own = options.execution;
  own.seed = seed;
  own.checksOrder = checksOrder;
  // Waits for other ranks end at their time-out. What hangs elsewhere never ends, and threads cannot be ended from
  // outside.
  Watch watch(2 * own.timeout, [&] {
    report(seed, solver, "hang: it does not return", coordinates, checksOrder);
    std::_Exit(1);
  });
  return execute(coordinates, own);
}

void RandomRuns::runProblem(unsigned seed, const NamedSolver &solver) {
  static constexpr std::pair<int64_t, int64_t> meshes[] = {{2, 4}, {3, 2}, {2, 3}, {1, 4}, {2, 2}, {1, 2}};
  Problem problem = randomAnswerable(seed);
  auto [outer, inner] = meshes[seed % std::size(meshes)];
  resizeMesh(problem, outer, inner);
  // Program order does not look at the limit.
  if (solver.name == "program")
    problem.memoryLimit.clear();
  Coordinate coordinate{"", problem, {}};
  llvm::Expected<Solution> solution = solver.solve(problem);
  if (!solution)
    return report(seed, solver.name, llvm::toString(solution.takeError()), coordinate, checksOrderOf(seed));
  coordinate.problem = llvm::cantFail(resolve(problem, solution->choices)).problem;
  coordinate.solution.steps = solution->steps;
  ++runs;
  Status status = runWatched(seed, solver.name, coordinate, checksOrderOf(seed));
  if (!status.ok())
    report(seed, solver.name, status.message(), coordinate, checksOrderOf(seed));
}

void RandomRuns::runCoordinates(unsigned seed, const NamedSolver &solver) {
  std::vector<Coordinate> coordinates = randomCoordinates(seed);
  for (Coordinate &coordinate : coordinates) {
    llvm::Expected<Solution> solution = solver.solve(coordinate.problem);
    if (!solution)
      return report(seed, solver.name, llvm::toString(solution.takeError()), coordinates, checksOrderOf(seed));
    coordinate.solution = *solution;
  }
  // Each list was found without regard to the others.
  if (Error error = verify(coordinates))
    return runRefused(seed, solver, coordinates, llvm::toString(std::move(error)));
  ++ofSeveral;
  Status status = runWatched(seed, solver.name, coordinates, checksOrderOf(seed));
  if (!status.ok())
    report(seed, solver.name, status.message(), coordinates, checksOrderOf(seed));
}

/// Whether they hang depends on the backend and on who is first; that they could is found in every run.
void RandomRuns::runRefused(unsigned seed, const NamedSolver &solver, llvm::ArrayRef<Coordinate> coordinates,
                            StringRef refusal) {
  if (!refusal.starts_with("V8"))
    return report(seed, solver.name, refusal, coordinates, /*checksOrder=*/true);
  if (!checksIssueOrder)
    return;
  ++refusals;
  Status status = runWatched(seed, solver.name, coordinates, /*checksOrder=*/true);
  if (status.code() != StatusCode::invalid)
    report(seed, solver.name, "the run does not report " + refusal + ": " + status.message(), coordinates,
           /*checksOrder=*/true);
}

void RandomRuns::work() {
  for (unsigned seed = next++; seed < options.first + options.random; seed = next++)
    for (const NamedSolver &solver : solvers()) {
      runProblem(seed, solver);
      if (seed % 4 == 0)
        runCoordinates(seed, solver);
    }
}

bool RandomRuns::run() {
  // Ranks sleep most of the time.
  std::vector<std::thread> workers;
  for (unsigned job = 0; job < options.jobs; ++job)
    workers.emplace_back([this] { work(); });
  for (std::thread &worker : workers)
    worker.join();
  llvm::outs() << options.random << " random problems: " << runs << " answers were run, " << ofSeveral
               << " lists of several coordinates, and " << refusals
               << " that V8 refuses and the run must report: " << failures << " failures\n";
  return failures == 0;
}

static Error runFile(const Options &options) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.file);
  if (!buffer)
    return llvm::errorCodeToError(buffer.getError());
  llvm::Expected<ProblemText> text = parseProblem((*buffer)->getBuffer());
  if (!text)
    return text.takeError();
  std::vector<Coordinate> coordinates = std::move(text->coordinates);
  if (coordinates.empty()) {
    if (!text->solution)
      return llvm::createStringError("the file has no steps");
    coordinates.push_back({"", text->problem, *text->solution});
  }
  for (const Coordinate &coordinate : coordinates)
    if (Error error = coordinate.problem.check())
      return error;
  Watch watch(2 * options.execution.timeout, [] {
    llvm::errs() << "error: hang: it does not return\n";
    std::_Exit(1);
  });
  Status status = execute(coordinates, options.execution);
  if (!status.ok())
    return llvm::createStringError((status.code() == StatusCode::timeout ? "hang: " : "") + status.message());
  llvm::outs() << "the lists of " << coordinates.size() << " coordinates have run on " << ranksOf(coordinates)
               << " ranks\n";
  return Error::success();
}

static bool parse(llvm::ArrayRef<char *> arguments, Options &options) {
  unsigned milliseconds = 0;
  for (StringRef argument : arguments)
    if (argument == "--no-order-check")
      options.execution.checksOrder = false;
    else if (argument.consume_front("--timeout-ms=") && !argument.getAsInteger(10, milliseconds))
      options.execution.timeout = std::chrono::milliseconds(milliseconds);
    else if ((argument.consume_front("--random=") && !argument.getAsInteger(10, options.random)) ||
             (argument.consume_front("--first=") && !argument.getAsInteger(10, options.first)) ||
             (argument.consume_front("--jobs=") && !argument.getAsInteger(10, options.jobs)) ||
             (argument.consume_front("--seed=") && !argument.getAsInteger(10, options.execution.seed)))
      continue;
    else if (!argument.starts_with("--") && options.file.empty())
      options.file = argument;
    else
      return false;
  return (options.random == 0) == !options.file.empty();
}

int main(int argc, char **argv) {
  Options options;
  if (!parse({argv + 1, argv + argc}, options)) {
    llvm::errs() << "usage: execute-solutions --random=PROBLEMS [--first=SEED] [--jobs=N] [--timeout-ms=N]\n"
                    "       execute-solutions [--seed=N] [--timeout-ms=N] [--no-order-check] FILE\n";
    return 2;
  }
  if (options.file.empty())
    return RandomRuns(options).run() ? 0 : 1;
  if (Error error = runFile(options)) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
