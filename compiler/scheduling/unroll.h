//===- unroll.h - the instances of a program as one problem -----*- C++ -*-===//
//
// A training step runs one list of steps once for each microbatch. Each time is an instance. What every instance runs
// computes the next values of the accumulators; the last instance also runs the rest, such as the optimizer. What is
// the same in all of them, such as a gather of parameters, the first one may run for all.
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

/// Which instances have an operation, or a step.
enum class Occurrence { first, every, last };

/// True if an instance, which may be the first and the last one, has what occurs there.
inline bool occursIn(Occurrence occurrence, bool isFirst, bool isLast) {
  return occurrence == Occurrence::every || (occurrence == Occurrence::first ? isFirst : isLast);
}

/// The operations that only the first instance runs, and those that each of them runs. The last one runs all others.
struct OccurrenceTable {
  llvm::BitVector first, every;

  Occurrence of(unsigned operation) const {
    return first[operation] ? Occurrence::first : every[operation] ? Occurrence::every : Occurrence::last;
  }
};

/// A list of steps and what each instance has of it.
struct Instances {
  /// `problem` is that of a program of one instance, which runs everything; `count` is the number of instances. Of one,
  /// no operation is of the first alone. Problem and solution must outlive it; nothing is merged.
  Instances(const Problem &problem, const Solution &solution, OccurrenceTable occurrences, int64_t count);

  /// Which instances have a step, in their order or deferred. A temporary is freed by the instance that makes it, but
  /// what the first one has made for all by the last.
  Occurrence occurrenceOf(size_t step) const;
  bool isOfEvery(size_t step) const { return occurrenceOf(step) == Occurrence::every; }

  /// True if several instances are not the same list after the same list: their times and their memory are those of all
  /// of them together.
  bool isLinked() const { return !deferred.empty() || occurrences.first.any(); }

  const Problem &problem;
  const Solution &solution;
  OccurrenceTable occurrences;
  int64_t count;
  std::vector<std::optional<unsigned>> producers; ///< by buffer
  llvm::BitVector isHeld;                         ///< buffers that the first instance makes for all
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
  /// By operation, and by buffer of `problem`: that of the problem of one instance.
  std::vector<unsigned> sourceOperations, sourceBuffers;
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
/// if they are linked and there are more than two, of the first, of those between, and of the last.
std::vector<InstanceTimes> simulate(const Instances &instances);

/// The time of all instances. `times` are those of simulate().
int64_t totalTime(const Instances &instances, llvm::ArrayRef<InstanceTimes> times);

/// How many instances are of each of `kinds` kinds, as simulate() returns them.
llvm::SmallVector<int64_t, 3> countKinds(int64_t count, size_t kinds);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_UNROLL_H
