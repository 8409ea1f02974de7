//===- program_estimates.cpp - memory and time of a program ---------------===//

#include "compiler/transforms/schedule/program_estimates.h"
#include "compiler/scheduling/asked_outputs.h"
#include "compiler/scheduling/memory_profile.h"
#include "compiler/transforms/schedule/describe_peak.h"
#include "dialect/plan/attributes.h"
#include "dialect/plan/programs.h"

using namespace mlir;

namespace meshplan {

namespace {
class Estimator {
public:
  Estimator(func::FuncOp function, const ProjectedFunction &projection, const scheduling::Instances &instances)
      : function(function), projection(projection), problem(projection.problem), instances(instances) {
    if (instances.isLinked())
      unrolled = scheduling::unroll(instances);
    device = profile(scheduling::Memory::device);
  }

  sched::MemoryAttr memory();
  sched::PeakAttr peak();
  sched::TimeAttr time(ArrayRef<scheduling::InstanceTimes> times);

private:
  /// The memory of all instances together.
  scheduling::MemoryProfile profile(scheduling::Memory memory) const {
    return unrolled ? scheduling::profileMemory(unrolled->problem, unrolled->solution, memory)
                    : scheduling::profileMemory(problem, instances.solution, memory);
  }
  scheduling::HeldAtPeak heldAtPeak(unsigned rankClass) const;
  /// The largest and the smallest peak if only the loss is an output.
  std::pair<int64_t, int64_t> peaksForLoss();

  func::FuncOp function;
  const ProjectedFunction &projection;
  const scheduling::Problem &problem;
  const scheduling::Instances &instances;
  std::optional<scheduling::Unrolled> unrolled; ///< of linked instances
  scheduling::MemoryProfile device;
};
} // namespace

/// The smallest and the largest peak of the rank classes.
static std::pair<const scheduling::Peak *, const scheduling::Peak *>
extremesOf(const scheduling::MemoryProfile &profile) {
  return std::minmax_element(profile.peaks.begin(), profile.peaks.end(),
                             [](const auto &left, const auto &right) { return left.bytes < right.bytes; });
}

std::pair<int64_t, int64_t> Estimator::peaksForLoss() {
  // Validation during a training reads the loss only. The runtime then skips the operations that only other outputs
  // need, so that the peak is lower than that of the whole program.
  llvm::BitVector asked(problem.buffers.size());
  Operation *end = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands()))
    if (plan::resultAttr<plan::attr::Loss>(function, index))
      asked.set(std::distance(projection.buffers.begin(), llvm::find(projection.buffers, value)));
  scheduling::Problem forLoss = problem;
  // Only the loss is handed over, and it is a single number.
  forLoss.handover.clear();
  scheduling::MemoryProfile profile =
      scheduling::profileMemory(forLoss, scheduling::forOutputs(forLoss, instances.solution, asked));
  auto [least, largest] = extremesOf(profile);
  return {largest->bytes, least->bytes};
}

scheduling::HeldAtPeak Estimator::heldAtPeak(unsigned rankClass) const {
  if (!unrolled)
    return scheduling::heldAtPeak(problem, instances.solution, rankClass);
  scheduling::HeldAtPeak held = scheduling::heldAtPeak(unrolled->problem, unrolled->solution, rankClass);
  for (auto &[buffer, bytes] : held.storages)
    buffer = unrolled->sourceBuffers[buffer];
  if (held.operation)
    held.operation = unrolled->sourceOperations[*held.operation];
  return held;
}

sched::PeakAttr Estimator::peak() {
  auto largest = extremesOf(device).second;
  if (largest == device.peaks.end() || plan::roleOf(function) == base::ProgramRole::reference)
    return {};
  return describePeak(function, projection, heldAtPeak(largest - device.peaks.begin()));
}

sched::MemoryAttr Estimator::memory() {
  using scheduling::Memory;
  scheduling::MemoryProfile host = profile(Memory::host);
  int64_t parameters = 0, inputs = 0, states = 0, constants = 0, accumulators = 0, hostParameters = 0, hostStates = 0;
  // Each kind is reported for the rank that holds most of it, which may be a different rank for each kind.
  for (unsigned rankClass = 0; rankClass < problem.rankClasses; ++rankClass) {
    int64_t ownParameters = 0, ownInputs = 0, ownStates = 0, ownAccumulators = 0, ownHostStates = 0;
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      std::optional<plan::ArgumentKind> kind = plan::argumentKind(function.getArgument(index));
      if (problem.buffers[index].memory == Memory::host) {
        ownHostStates += kind == plan::ArgumentKind::state ? problem.buffers[index].bytes[rankClass] : 0;
        continue;
      }
      int64_t &own = kind == plan::ArgumentKind::state                                          ? ownStates
                     : kind == plan::ArgumentKind::accumulator                                  ? ownAccumulators
                     : kind == plan::ArgumentKind::input || kind == plan::ArgumentKind::setting ? ownInputs
                                                                                                : ownParameters;
      own += problem.buffers[index].bytes[rankClass];
    }
    parameters = std::max(parameters, ownParameters);
    inputs = std::max(inputs, ownInputs);
    states = std::max(states, ownStates);
    hostStates = std::max(hostStates, ownHostStates);
    hostParameters = std::max(hostParameters, host.permanent[rankClass] - ownHostStates);
    accumulators = std::max(accumulators, ownAccumulators);
    // Permanent buffers are the arguments and the constants.
    constants =
        std::max(constants, device.permanent[rankClass] - ownParameters - ownInputs - ownStates - ownAccumulators);
  }
  auto [least, largest] = extremesOf(device);
  int64_t hostPeak = extremesOf(host).second->bytes;
  auto [evaluation, leastEvaluation] =
      plan::roleOf(function) == base::ProgramRole::eval ? peaksForLoss() : std::pair<int64_t, int64_t>();
  return sched::MemoryAttr::get(function.getContext(), parameters, constants, inputs, largest->bytes, least->bytes,
                                states, accumulators, hostParameters, hostStates, hostPeak, evaluation, leastEvaluation,
                                /*balanced=*/0, /*worst=*/0);
}

int64_t peakOf(const scheduling::Instances &instances) {
  if (!instances.isLinked())
    return extremesOf(scheduling::profileMemory(instances.problem, instances.solution)).second->bytes;
  scheduling::Unrolled unrolled = scheduling::unroll(instances);
  return extremesOf(scheduling::profileMemory(unrolled.problem, unrolled.solution)).second->bytes;
}

sched::TimeAttr Estimator::time(ArrayRef<scheduling::InstanceTimes> times) {
  int64_t compute = 0, communication = 0, copies = 0;
  for (auto [each, count] : llvm::zip_equal(times, scheduling::countKinds(instances.count, times.size())))
    for (auto [lane, busy] : llvm::zip_equal(problem.lanes, each.busy)) {
      bool computes = lane.kind == scheduling::LaneKind::compute;
      (computes ? compute : lane.kind == scheduling::LaneKind::copies ? copies : communication) += count * busy;
    }
  return sched::TimeAttr::get(function.getContext(), compute, communication, copies);
}

ProgramEstimates estimatesOf(func::FuncOp function, const ProjectedFunction &projection,
                             const scheduling::Instances &instances, ArrayRef<scheduling::InstanceTimes> times) {
  Estimator estimator(function, projection, instances);
  return {estimator.memory(), estimator.time(times), estimator.peak()};
}

} // namespace meshplan
