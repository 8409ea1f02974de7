//===- simulate.h - how long a solution takes -------------------*- C++ -*-===//
//
// The one estimate of time: solvers, reports and traces all use it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SIMULATE_H
#define MESHPLAN_COMPILER_SCHEDULING_SIMULATE_H

#include "compiler/scheduling/simulator.h"
#include "compiler/scheduling/solution.h"

namespace meshplan::scheduling {

/// Walks one step of a list. A `free` takes no time.
void advance(Simulator &simulator, Step step);

/// What happens when, under a solution. Vectors have one entry for each operation, or for each lane.
struct Timeline {
  std::vector<Interval> operations; ///< without the time that an operation spends in the queue of its lane
  int64_t makespan = 0;             ///< from the first step to the end of the last one
  std::vector<int64_t> busy;        ///< of each lane: lengths of its operations
  /// Of each operation: time in which the compute lane waits while this operation's lane runs it. What is waited for is
  /// this operation, or one after it in the queue. Zero on the compute lane.
  std::vector<int64_t> exposed;
  std::vector<Interval> waits;        ///< of each operation: the compute lane waits for it; empty on the compute lane
  std::vector<int64_t> exposedOfLane; ///< sums of `exposed`
  /// Time in which the compute lane has nothing to do because nothing is issued. If the host computes: in which it
  /// issues starts.
  int64_t waitsForHost = 0;
};

/// Simulates a rank that keeps to the list of steps.
///
/// - The host issues runs and starts one by one, each in Problem::issueTime; a run without a duration, a view, in no
///   time. The compute lane takes the steps in order. If the host is the compute lane, only a start takes this time,
///   and nothing is computed meanwhile.
/// - `run` occupies the compute lane until the operation is over.
/// - `start` appends the operation to the queue of its lane when the compute lane reaches the step; it begins when what
///   is before it in the queue is over. A collective thus begins after everything that is issued before it on the
///   compute lane, and its buffers may reuse memory that was freed there.
/// - `wait` holds the compute lane until the operation is over.
/// - `free` takes no time.
/// - An asynchronous operation first takes its latency, in which it uses nothing; then it transfers. Transfers and
///   computing in progress share links max-min fairly: no operation could be faster, relative to its speed alone,
///   without slowing one that is not faster. Several on one link have Link::sharedRate together. Then
///   Problem::overlapSpeed applies.
///
/// Every moment is thus spent computing, exposed or waiting for the host:
///
///   makespan = busy[compute lane] + sum of exposed + waitsForHost
///
/// The solution must pass verify() and have no choices: resolve() it first. Times do not depend on the host that
/// computes them.
Timeline simulate(const Problem &problem, const Solution &solution);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SIMULATE_H
