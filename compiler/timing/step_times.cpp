//===- step_times.cpp - the estimated times of a step ---------------------===//
//
// A step is the runs of its timeline, one after the other. Example: 4 microbatches of `@step` alone are 3 runs of the
// instance that is not the last one, in which steps `when last` do not run, and one run of the last.
//
//===----------------------------------------------------------------------===//

#include "compiler/timing/step_times.h"
#include "compiler/cluster/estimate.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace meshplan;

static CollectiveGroup &groupOf(StepTimes &step, const trace_form::Label &label) {
  auto isSame = [&](const CollectiveGroup &group) {
    return group.purpose == label.purpose && group.communicator == label.communicator;
  };
  auto found = llvm::find_if(step.groups, isSame);
  return found != step.groups.end() ? *found
                                    : step.groups.emplace_back(CollectiveGroup{label.purpose, label.communicator});
}

static void addRun(StepTimes &step, const ProgramTimes &program, int64_t microbatch) {
  step.runs.push_back({&program, microbatch, step.total});
  step.total += program.makespan;
  step.compute += program.compute;
  step.waitsForHost += program.waitsForHost;
  for (const TimedOperation &operation : program.operations) {
    if (operation.isCopy()) {
      step.copies += operation.time.length();
      step.exposedCopies += operation.exposed;
    }
    if (!operation.isCollective())
      continue;
    CollectiveGroup &group = groupOf(step, operation.label);
    ++group.count;
    group.bytes += operation.label.bytes;
    group.time += operation.time.length();
    group.exposed += operation.exposed;
    step.communication += operation.time.length();
    step.exposed += operation.exposed;
  }
}

static void addModelFlops(StepTimes &step, const ProgramTimes &program) {
  // A gradient of a product takes two products of its size: one for each operand.
  for (const auto &[dtype, flops] : program.forwardFlops)
    step.modelFlops[dtype] += program.trains ? 3 * flops : flops;
}

/// The kinds of instances of a program, in their order.
static std::vector<const ProgramTimes *> kindsOf(const std::vector<ProgramTimes> &programs, llvm::StringRef name) {
  std::vector<const ProgramTimes *> kinds;
  for (const ProgramTimes &each : programs)
    if (each.name == name)
      kinds.push_back(&each);
  return kinds;
}

std::optional<StepTimes> meshplan::stepTimes(const std::vector<ProgramTimes> &programs, llvm::StringRef name) {
  std::vector<const ProgramTimes *> kinds = kindsOf(programs, name);
  if (kinds.empty())
    return std::nullopt;
  const ProgramTimes &last = *kinds.back();
  StepTimes step;
  for (size_t index = 0; index + 1 < last.timeline.size(); ++index) {
    const Instance &instance = last.timeline[index];
    std::vector<const ProgramTimes *> own = kindsOf(programs, instance.program);
    if (own.empty())
      continue;
    // The last instance of the program itself follows below.
    size_t kind = own.size() == 3 && instance.microbatch > 0 ? 1 : 0;
    addRun(step, *own[kind], instance.microbatch);
    // This program recomputes what the others have computed to count over the batch.
    if (instance.program == name)
      addModelFlops(step, *own[kind]);
  }
  addModelFlops(step, last);
  addRun(step, last, last.timeline.empty() ? 0 : last.timeline.back().microbatch);
  auto rank = [](const CollectiveGroup &group) {
    return std::pair(llvm::find(trace_form::purposes, group.purpose), group.communicator);
  };
  llvm::stable_sort(step.groups, [&](const auto &left, const auto &right) { return rank(left) < rank(right); });
  return step;
}

std::optional<double> meshplan::utilization(const StepTimes &step, const Cluster &cluster, int64_t ranks) {
  double seconds = 0;
  for (const auto &[dtype, flops] : step.modelFlops)
    seconds += flops / peakFlops(cluster, dtype);
  if (seconds == 0 || step.total == 0)
    return std::nullopt;
  return seconds / static_cast<double>(ranks) / (static_cast<double>(step.total) * 1e-9);
}
