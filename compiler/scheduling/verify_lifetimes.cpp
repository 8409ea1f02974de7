//===- verify_lifetimes.cpp - rules V1 to V6 of a solution ----------------===//
//
// Replays the steps with two small state machines, and fails at the first step that they do not allow:
//
//   operation   pending -run-> over, or pending -start-> started -wait-> over
//   buffer      absent -its producer is over-> live -free-> freed
//
// A permanent buffer is live from the beginning and never freed; a kept one is live at the end. An operation in flight
// reads its inputs until its wait, so they must not be freed before (V5).
//
//===----------------------------------------------------------------------===//

#include "compiler/scheduling/solution.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Twine;

namespace {
enum class Progress { pending, started, over };
enum class Life { absent, live, freed };

/// Replays the steps and fails at the first that breaks a rule.
class Replay {
public:
  explicit Replay(const Problem &problem)
      : problem(problem), producers(problem.producers()), progress(problem.operations.size(), Progress::pending),
        life(problem.buffers.size(), Life::absent), readers(problem.buffers.size()) {
    for (auto [buffer, state] : llvm::zip_equal(problem.buffers, life))
      state = buffer.permanent ? Life::live : Life::absent;
  }

  Error step(Step step);
  Error end() const;

private:
  Error fail(const Twine &message) const { return llvm::createStringError(llvm::inconvertibleErrorCode(), message); }
  Error failAt(const char *rule, const Twine &message) const {
    return fail(Twine(rule) + ": step '" + describe(problem, current) + "' " + message);
  }
  Error begin(unsigned index);
  void finish(unsigned index);
  Error free(unsigned index);

  const Problem &problem;
  std::vector<std::optional<unsigned>> producers;
  std::vector<Progress> progress;
  std::vector<Life> life;
  /// Operations in flight that use each buffer.
  std::vector<llvm::SmallVector<unsigned, 1>> readers;
  /// A blocking operation that was started last.
  std::optional<unsigned> blocking;
  Step current;
};
} // namespace

/// An operation begins: its inputs are live, and everything that it depends on is over.
Error Replay::begin(unsigned index) {
  const Operation &operation = problem.operations[index];
  if (progress[index] != Progress::pending)
    return failAt("V1", "is repeated");
  std::optional<unsigned> missing;
  problem.forEachDependency(operation, producers, [&](unsigned other) {
    if (progress[other] != Progress::over)
      missing = other;
  });
  if (missing)
    return failAt("V3", "comes before '" + Twine(problem.operations[*missing].name) + "' is over");
  for (unsigned buffer : operation.consumed)
    if (life[buffer] == Life::freed)
      return failAt("V4", "uses buffer '" + Twine(problem.buffers[buffer].name) + "' after it was freed");
  return Error::success();
}

void Replay::finish(unsigned index) {
  progress[index] = Progress::over;
  for (unsigned buffer : problem.operations[index].produced)
    life[buffer] = Life::live;
}

Error Replay::free(unsigned index) {
  const Buffer &buffer = problem.buffers[index];
  if (buffer.permanent || buffer.kept)
    return failAt("V5", buffer.permanent ? "frees a permanent buffer" : "frees a buffer that the caller receives");
  if (life[index] != Life::live)
    return failAt("V5", life[index] == Life::freed ? "is repeated" : "comes before the buffer is produced");
  if (!readers[index].empty())
    return failAt("V5", "comes while '" + Twine(problem.operations[readers[index].front()].name) + "' is in flight");
  life[index] = Life::freed;
  return Error::success();
}

Error Replay::step(Step step) {
  current = step;
  size_t size = step.kind == StepKind::free ? problem.buffers.size() : problem.operations.size();
  if (step.index >= size)
    return failAt("V1", "names index " + Twine(step.index) + " of " + Twine(size));
  if (step.kind == StepKind::free)
    return free(step.index);
  if (std::optional<unsigned> started = std::exchange(blocking, std::nullopt);
      started && (step.kind != StepKind::wait || step.index != *started))
    return failAt("V2", "comes before the wait for '" + Twine(problem.operations[*started].name) +
                            "', which is waited for where it starts");
  const Operation &operation = problem.operations[step.index];
  if (bool isAsynchronous = problem.isAsynchronous(operation); (step.kind == StepKind::run) == isAsynchronous)
    return failAt("V1", isAsynchronous ? "runs an operation that is started and waited for"
                                       : "is for asynchronous operations, this one runs on the compute lane");
  if (step.kind == StepKind::wait) {
    if (progress[step.index] != Progress::started)
      return failAt("V2", progress[step.index] == Progress::over ? "is repeated" : "comes before the start");
    for (unsigned buffer : operation.consumed)
      llvm::erase(readers[buffer], step.index);
    finish(step.index);
    return Error::success();
  }
  if (Error error = begin(step.index))
    return error;
  if (step.kind == StepKind::run) {
    finish(step.index);
    return Error::success();
  }
  progress[step.index] = Progress::started;
  if (operation.blocking)
    blocking = step.index;
  for (unsigned buffer : operation.consumed)
    readers[buffer].push_back(step.index);
  return Error::success();
}

Error Replay::end() const {
  for (auto [operation, state] : llvm::zip_equal(problem.operations, progress)) {
    if (state == Progress::pending)
      return fail("V1: operation '" + Twine(operation.name) + "' never runs");
    if (state == Progress::started)
      return fail("V2: operation '" + Twine(operation.name) + "' is never waited for");
  }
  for (auto [buffer, state] : llvm::zip_equal(problem.buffers, life))
    if (state == Life::live && !buffer.permanent && !buffer.kept)
      return fail("V6: buffer '" + Twine(buffer.name) + "' is never freed");
  return Error::success();
}

Error meshplan::scheduling::verifyLifetimes(const Problem &problem, const Solution &solution) {
  Replay replay(problem);
  for (Step step : solution.steps)
    if (Error error = replay.step(step))
      return error;
  return replay.end();
}
