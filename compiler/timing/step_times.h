//===- step_times.h - the estimated times of a step -------------*- C++ -*-===//
//
// What scheduling::simulate finds for each operation of a program, with the names of the model and the plan, and the
// sums for a whole step: step time, exposed communication by collective group, model flops utilization. Reports, traces
// and the contracts of a plan read it. Plain data without IR; the schedule phase fills ProgramTimes. All times are in
// nanoseconds, on the rank with the most work.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_TIMING_STEP_TIMES_H
#define MESHPLAN_COMPILER_TIMING_STEP_TIMES_H

#include "compiler/cluster/cluster.h"
#include "compiler/scheduling/simulator.h"
#include "runtime/schema/trace_form.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// A location in the plan.
struct PlanLocation {
  std::string file; ///< empty if it is not known
  int64_t line = 0, column = 0, endColumn = 0;
};

struct TimedOperation {
  trace_form::Label label;
  scheduling::Interval time; ///< from the beginning of the program
  int64_t exposed = 0;       ///< time in which the compute lane waits while the operation's own lane runs it
  scheduling::Interval wait; ///< the compute lane waits for it; empty for an operation of the compute lane
  PlanLocation location;     ///< of the statement that causes a collective
  /// Of a collective, its window: the operators that are issued between its start and its wait, as positions in
  /// ProgramTimes::computed.
  size_t windowBegin = 0, windowEnd = 0;

  bool isCollective() const { return !label.communicator.empty(); }
  bool isCopy() const { return !label.memory.empty(); } ///< between device and host memory
};

/// A program for one microbatch.
struct Instance {
  std::string program;
  int64_t microbatch = 0;
};

/// One kind of instance of a program. A program has one, or two: all instances before the last one, and the last one;
/// or, if collectives are in flight between instances, three: the first, those between, and the last.
struct ProgramTimes {
  std::string name;
  /// Of the last instance: what a step runs, this program last. Empty: only this program.
  std::vector<Instance> timeline;
  bool trains = false; ///< has a backward pass: a training step, or the program of its microbatches
  std::vector<TimedOperation> operations;
  std::vector<size_t> computed; ///< operations of the compute lane, in the order in which they run
  int64_t makespan = 0, compute = 0, waitsForHost = 0;
  /// Collectives that may be split into parts together with the products next to them, and those that have been split.
  int64_t splittable = 0, split = 0;
  /// Flops of the matrix products and attentions of the forward pass on whole tensors, by dtype.
  std::map<std::string, double> forwardFlops;
};

/// One execution of a program in a step.
struct ProgramRun {
  const ProgramTimes *program = nullptr;
  int64_t microbatch = 0;
  int64_t begin = 0;
};

/// Collectives of one purpose and communicator.
struct CollectiveGroup {
  std::string purpose, communicator;
  int64_t count = 0;
  int64_t bytes = 0;   ///< sent by the rank that sends most
  int64_t time = 0;    ///< in which its collectives are in progress
  int64_t exposed = 0; ///< part of it in which the compute lane waits

  int64_t hidden() const { return time - exposed; }
};

/// A step, or one run of another program, with the programs that it runs for microbatches:
///
///   total = compute + exposed + exposedCopies + waitsForHost
struct StepTimes {
  std::vector<ProgramRun> runs; ///< in their order, one after the other
  int64_t total = 0, compute = 0, waitsForHost = 0;
  int64_t communication = 0, exposed = 0; ///< of collectives
  int64_t copies = 0, exposedCopies = 0;  ///< between device and host memory
  std::vector<CollectiveGroup> groups;    ///< by purpose, then by communicator
  /// By dtype: of the forward pass, three times that for a training step. Without those of other programs that it runs.
  std::map<std::string, double> modelFlops;
};

/// The times of the program of this name. `programs` are all of a module, each with its kinds of instances in their
/// order, and must outlive the result. Nothing if there is none.
std::optional<StepTimes> stepTimes(const std::vector<ProgramTimes> &programs, llvm::StringRef name);

/// Model flops utilization: the time that the model's flops take on all ranks at their peak, relative to the step.
///
///   MFU = sum over dtypes of (model flops / peak flop/s of a rank) / ranks / step time
///
/// Nothing for a step without flops or without time.
std::optional<double> utilization(const StepTimes &step, const Cluster &cluster, int64_t ranks);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TIMING_STEP_TIMES_H
