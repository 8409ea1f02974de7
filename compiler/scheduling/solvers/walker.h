//===- walker.h - issues operations one by one ------------------*- C++ -*-===//
//
// All solvers but `program` use it: it turns an order of issue into steps, and knows time and memory after each of
// them. Steps can be undone.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_WALKER_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_WALKER_H

#include "compiler/scheduling/simulator.h"
#include "compiler/scheduling/solution.h"
#include "compiler/scheduling/solvers/memory_tracker.h"

namespace meshplan::scheduling {

/// What an operation depends on and what depends on it, without repetition, in ascending order.
struct DependencyTable {
  explicit DependencyTable(const Problem &problem);

  std::vector<llvm::SmallVector<unsigned, 4>> before, after;
};

/// Issues operations of a problem. Refers to the problem and the tables. It waits as late as it can: where an operation
/// is issued that depends on the one in flight, or where memory is needed. Not thread safe.
class Walker {
public:
  Walker(const Problem &problem, const CostTable &costs, const DependencyTable &dependencies)
      : problem(problem), costs(costs), dependencies(dependencies), simulator(costs), memory(problem),
        progress(problem.operations.size(), Progress::pending) {}

  /// Issues an operation whose dependencies are issued. False if the memory limit does not allow it now,
  /// whatever is waited for; undo() must follow.
  bool issue(unsigned operation);
  /// Waits for an operation that is in flight.
  void wait(unsigned operation);
  /// Waits for everything that is in flight. False if Problem::handover does not fit then.
  bool finish();

  int64_t now() const { return simulator.now(); }
  const Simulator &times() const { return simulator; }
  MemoryTracker &bytes() { return memory; }
  bool isIssued(unsigned operation) const { return progress[operation] != Progress::pending; }
  bool isInFlight(unsigned operation) const { return progress[operation] == Progress::inFlight; }
  /// In the order of their starts.
  llvm::ArrayRef<unsigned> inFlight() const { return flying; }
  /// Runs, starts and waits so far.
  llvm::ArrayRef<Step> steps() const { return taken; }

  struct Mark {
    Simulator simulator;
    MemoryTracker::Mark memory;
    llvm::SmallVector<unsigned, 8> flying;
    size_t steps;
  };
  Mark mark() const { return {simulator, memory.mark(), flying, taken.size()}; }
  void undo(const Mark &mark);

private:
  enum class Progress : char { pending, inFlight, over };

  bool makeRoom(unsigned operation);

  const Problem &problem;
  const CostTable &costs;
  const DependencyTable &dependencies;
  Simulator simulator;
  MemoryTracker memory;
  std::vector<Progress> progress;
  llvm::SmallVector<unsigned, 8> flying;
  std::vector<Step> taken;
};

/// Adds the frees to runs, starts and waits: each buffer is freed after the last step that needs it. A started
/// operation needs its buffers until its wait.
std::vector<Step> insertFrees(const Problem &problem, llvm::ArrayRef<Step> steps);

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_WALKER_H
