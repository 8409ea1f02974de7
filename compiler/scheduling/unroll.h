//===- unroll.h - the instances of a program as one problem -----*- C++ -*-===//
//
// A training step runs one list of steps once for each microbatch. Each time is an instance. What every instance runs
// computes the next values of the accumulators; the last instance also runs the rest, such as the optimizer.
//
// An instance may defer steps to the next one. With a forward pass f, a backward pass b, a reduction r of its gradient
// and the addition a of the result to an accumulator, 3 instances of the list on the left are
//
//   run f                      f0 b0 | f1 b1 | f2 b2 u2      the lane of computing, if nothing is deferred:
//   run b                           r0 a0   r1 a1  r2 a2     each addition waits for its reduction
//   start r
//   wait r    deferred         f0 b0 f1 a0 b1 f2 a1 b2 a2 u2 with `wait r` and `run a` deferred until after f:
//   run a     deferred               r0       r1      r2     the reduction runs beside the next forward pass
//   run u     last
//
// The last instance has no next one, so it runs what it could defer at its position in the list.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_UNROLL_H
#define MESHPLAN_COMPILER_SCHEDULING_UNROLL_H

#include "compiler/scheduling/simulate.h"
#include "compiler/scheduling/solution.h"
#include "llvm/ADT/BitVector.h"

namespace meshplan::scheduling {

/// Steps of an instance that the next one runs.
struct Deferred {
  size_t before = 0;         ///< index into Solution::steps: the step of the next instance that they come before
  std::vector<size_t> steps; ///< indices into Solution::steps, ascending

  bool operator==(const Deferred &) const = default;
};

/// A list of steps and what each instance has of it.
struct Instances {
  /// `problem` is that of the last instance, which runs everything; `every` are the operations that each instance runs,
  /// `count` the number of instances. Problem and solution must outlive it; nothing is merged.
  Instances(const Problem &problem, const Solution &solution, llvm::BitVector every, int64_t count)
      : problem(problem), solution(solution), every(std::move(every)), count(count), producers(problem.producers()) {}

  /// True if instances before the last one have the step, in their order or deferred.
  bool isOfEvery(size_t step) const {
    Step own = solution.steps[step];
    // A temporary is freed by the instance that makes it.
    return every[own.kind == StepKind::free ? *producers[own.index] : own.index];
  }

  const Problem &problem;
  const Solution &solution;
  llvm::BitVector every;
  int64_t count;
  std::vector<std::optional<unsigned>> producers; ///< by buffer
  std::vector<Deferred> deferred;
};

/// Several instances one after the other, as a problem and a solution: check(), verify(), simulate() and
/// profileMemory() hold for the whole. Operations and temporaries exist once for each instance that has them. A
/// permanent buffer that an instance overwrites reaches the next one as the new value.
struct Unrolled {
  Problem problem;
  Solution solution;
  std::vector<size_t> begins; ///< of each instance: its first step, as an index into Solution::steps
  /// By instance and operation of the problem of one instance: that of `problem`, or none.
  std::vector<std::vector<std::optional<unsigned>>> operations;
};

/// The first, the last and, of more than two, one instance between them: all others are as this one.
Unrolled unroll(const Instances &instances);

/// The times of one kind of instance.
struct InstanceTimes {
  /// By operation of the problem of one instance, from the beginning of the instance that starts it: what is deferred
  /// ends after it. Empty for operations that it does not have.
  std::vector<Interval> operations, waits;
  std::vector<int64_t> exposed, busy; ///< by operation, and by lane: sums of its own operations
  int64_t makespan = 0;               ///< until the next instance begins
  int64_t waitsForHost = 0;
};

/// The times of the kinds of instances, in their order: of the only one; of all before the last, and of the last; or,
/// if something is deferred and there are more than two, of the first, of those between, and of the last.
std::vector<InstanceTimes> simulate(const Instances &instances);

/// The time of all instances. `times` are those of simulate().
int64_t totalTime(const Instances &instances, llvm::ArrayRef<InstanceTimes> times);

/// How many instances are of each of `kinds` kinds, as simulate() returns them.
llvm::SmallVector<int64_t, 3> countKinds(int64_t count, size_t kinds);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_UNROLL_H
