//===- memory_profile.cpp - bytes that a solution needs -------------------===//

#include "compiler/scheduling/memory_profile.h"
#include "llvm/ADT/STLExtras.h"

using namespace meshplan::scheduling;
using llvm::Error;
using llvm::Twine;

namespace {
/// Bytes held at each moment of a replay.
class Meter {
public:
  Meter(const Problem &problem, Memory memory)
      : problem(problem), memory(memory), sharers(problem.buffers.size(), 0), held(problem.rankClasses, 0) {
    for (const Buffer &buffer : problem.buffers)
      if (buffer.permanent)
        add(buffer, 1);
    profile.permanent = held;
    for (int64_t bytes : held)
      profile.peaks.push_back({bytes, 0});
  }

  MemoryProfile run(const Solution &solution);

private:
  void add(const Buffer &buffer, int64_t sign) {
    if (buffer.memory == memory)
      add(buffer.bytes, sign);
  }
  /// Nothing where it works in the other memory.
  void addWorkspace(const Operation &operation, int64_t sign) {
    if (operation.memory == memory)
      add(operation.workspace, sign);
  }
  void add(const ClassBytes &bytes, int64_t sign) {
    for (auto [total, part] : llvm::zip(held, bytes))
      total += sign * part;
  }
  /// The operation begins: its workspace is there, and its results but for those that come late.
  void begin(const Operation &operation) {
    addWorkspace(operation, 1);
    if (memory == Memory::device)
      add(operation.lateResults, -1);
    for (unsigned buffer : operation.produced) {
      ++sharers[problem.storageOf(buffer)];
      add(problem.buffers[buffer], 1);
    }
  }
  /// The operation ends: all its results are there, and its workspace goes.
  void end(const Operation &operation, size_t step) {
    if (memory == Memory::device && !operation.lateResults.empty()) {
      add(operation.earlyFreed, -1);
      add(operation.lateResults, 1);
      record(step);
      add(operation.earlyFreed, 1);
    }
    addWorkspace(operation, -1);
  }
  void free(unsigned buffer) {
    unsigned storage = problem.storageOf(buffer);
    if (--sharers[storage] == 0 && !problem.buffers[storage].permanent)
      add(problem.buffers[storage], -1);
  }
  void record(size_t step) {
    for (auto [peak, bytes] : llvm::zip_equal(profile.peaks, held))
      if (bytes > peak.bytes)
        peak = {bytes, step};
  }

  const Problem &problem;
  const Memory memory;
  /// Live temporaries that share each storage.
  std::vector<unsigned> sharers;
  ClassBytes held;
  MemoryProfile profile;
};
} // namespace

MemoryProfile Meter::run(const Solution &solution) {
  for (auto [index, step] : llvm::enumerate(solution.steps)) {
    if (step.kind == StepKind::free) {
      free(step.index);
      continue;
    }
    const Operation &operation = problem.operations[step.index];
    if (step.kind != StepKind::wait) {
      begin(operation);
      record(index);
    }
    if (step.kind != StepKind::start)
      end(operation, index);
  }
  if (memory == Memory::device)
    add(problem.handover, 1);
  record(solution.steps.empty() ? 0 : solution.steps.size() - 1);
  return profile;
}

MemoryProfile meshplan::scheduling::profileMemory(const Problem &problem, const Solution &solution, Memory memory) {
  return Meter(problem, memory).run(solution);
}

Error meshplan::scheduling::verifyMemory(const Problem &problem, const Solution &solution) {
  if (!problem.memoryLimit)
    return Error::success();
  MemoryProfile profile = profileMemory(problem, solution);
  for (auto [rankClass, peak] : llvm::enumerate(profile.peaks)) {
    if (peak.bytes <= *problem.memoryLimit)
      continue;
    std::string where = solution.steps.empty() ? "the start" : describe(problem, solution.steps[peak.step]);
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "V7: rank class " + Twine(rankClass) + " holds " + Twine(peak.bytes) +
                                       " bytes at '" + where + "', the limit is " + Twine(*problem.memoryLimit));
  }
  return Error::success();
}
