//===- memory_profile.cpp - bytes that a solution needs -------------------===//

#include "compiler/scheduling/memory_profile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace meshplan::scheduling;

namespace {
/// Replays a solution and tracks the bytes that each rank class holds.
///
/// The program is `a = load; g = all_gather(a); y = mm(g, w)` with a weight `w` of 8 bytes, `a` of 2, `g` of 4 and `y`
/// of 1. `held` after each step, and the two points where a peak is recorded:
///
///   step              held   comment
///   (before)            8    w is permanent
///   run load           10    + a
///   start all_gather   14    + g, as soon as the collective starts
///   wait all_gather    14    the workspace of the collective, if any, ends here
///   free a             12
///   run mm             13    + y
///   free g              9
///
/// The peak is 14 bytes, at step 1. A step can reach a new peak only at its begin, when its results and its workspace
/// are allocated.
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

  /// Replays until the rank class holds `bytes`.
  HeldAtPeak runTo(const Solution &solution, unsigned rankClass, int64_t bytes);

private:
  /// Replays, and calls `see` with the index of the step wherever more may be held than before, until it returns false.
  /// After the last step it calls `see` with the number of steps.
  void replay(const Solution &solution, llvm::function_ref<bool(size_t step)> see);

  void add(const Buffer &buffer, int64_t sign) {
    if (buffer.memory == memory)
      add(buffer.bytes, sign);
  }
  /// Only if the operation works in this memory.
  void addWorkspace(const Operation &operation, int64_t sign) {
    if (operation.memory == memory)
      add(operation.workspace, sign);
  }
  void add(const ClassBytes &bytes, int64_t sign) {
    for (auto [total, part] : llvm::zip(held, bytes))
      total += sign * part;
  }
  void begin(const Operation &operation) {
    addWorkspace(operation, 1);
    for (unsigned buffer : operation.produced) {
      ++sharers[problem.storageOf(buffer)];
      add(problem.buffers[buffer], 1);
    }
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
  /// Number of live temporaries that share each storage.
  std::vector<unsigned> sharers;
  ClassBytes held;
  MemoryProfile profile;
};
} // namespace

void Meter::replay(const Solution &solution, llvm::function_ref<bool(size_t step)> see) {
  for (auto [index, step] : llvm::enumerate(solution.steps)) {
    if (step.kind == StepKind::free) {
      free(step.index);
      continue;
    }
    const Operation &operation = problem.operations[step.index];
    if (step.kind != StepKind::wait) {
      begin(operation);
      if (!see(index))
        return;
    }
    if (step.kind != StepKind::start)
      addWorkspace(operation, -1);
  }
  // At the end, the caller's own temporaries come on top of what is still held.
  if (memory == Memory::device)
    add(problem.handover, 1);
  (void)see(solution.steps.size());
}

MemoryProfile Meter::run(const Solution &solution) {
  size_t last = solution.steps.empty() ? 0 : solution.steps.size() - 1;
  replay(solution, [&](size_t step) {
    record(std::min(step, last));
    return true;
  });
  return profile;
}

HeldAtPeak Meter::runTo(const Solution &solution, unsigned rankClass, int64_t bytes) {
  HeldAtPeak result;
  replay(solution, [&](size_t step) {
    if (held[rankClass] != bytes)
      return true;
    if (step < solution.steps.size())
      result.operation = solution.steps[step].index;
    return false;
  });
  int64_t listed = 0;
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    bool isLive = buffer.memory == memory && !buffer.viewOf && (buffer.permanent || sharers[index] != 0);
    if (!isLive || buffer.bytes[rankClass] == 0)
      continue;
    result.storages.push_back({index, buffer.bytes[rankClass]});
    listed += buffer.bytes[rankClass];
  }
  result.workspace = bytes - listed;
  return result;
}

MemoryProfile meshplan::scheduling::profileMemory(const Problem &problem, const Solution &solution, Memory memory) {
  return Meter(problem, memory).run(solution);
}

HeldAtPeak meshplan::scheduling::heldAtPeak(const Problem &problem, const Solution &solution, unsigned rankClass) {
  int64_t peak = profileMemory(problem, solution).peaks[rankClass].bytes;
  return Meter(problem, Memory::device).runTo(solution, rankClass, peak);
}

std::string meshplan::scheduling::describeHeld(const Problem &problem, const Solution &solution, unsigned rankClass) {
  static constexpr size_t mostNamed = 3;
  HeldAtPeak held = heldAtPeak(problem, solution, rankClass);
  std::vector<std::pair<int64_t, std::string>> parts;
  for (auto [buffer, bytes] : held.storages)
    parts.push_back({bytes, problem.buffers[buffer].name});
  if (held.workspace > 0)
    parts.push_back({held.workspace, held.operation ? "workspace" : "what is handed over"});
  llvm::stable_sort(parts, [](const auto &one, const auto &other) { return one.first > other.first; });
  std::string text;
  for (const auto &[bytes, name] : llvm::ArrayRef(parts).take_front(mostNamed))
    text += (llvm::Twine(text.empty() ? "" : ", ") + name + " " + llvm::Twine(bytes)).str();
  if (parts.size() > mostNamed)
    text += (" and " + llvm::Twine(parts.size() - mostNamed) + " more").str();
  return held.operation ? text + " at '" + problem.operations[*held.operation].name + "'" : text + " at the end";
}
