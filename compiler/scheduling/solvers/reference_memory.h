//===- reference_memory.h - what may be issued early ------------*- C++ -*-===//
//
// A reference is an order that keeps to the memory limit if its operations run one after the other. Operations may be
// issued before their turn as long as all others can still follow in the order of the reference: then there is no dead
// end.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_REFERENCE_MEMORY_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_REFERENCE_MEMORY_H

#include "compiler/scheduling/solvers/memory_tracker.h"
#include <optional>

namespace meshplan::scheduling {

/// Answers for each operation of a problem with a memory limit whether it may be issued. Refers to the problem, to the
/// reference, and to the tracker, in which it begins and ends operations and undoes that again.
///
/// An answer is exact, but the rest of the reference is seldom walked for it. The last walk has found how much is held
/// at each position of the reference. Operations of later positions that were issued since have added what they made,
/// and freed what they used. So at a position that is still to come, at most the sum of both is held: what the walk
/// found, and what these operations made.
class ReferenceMemory {
public:
  ReferenceMemory(const Problem &problem, MemoryTracker &memory, llvm::ArrayRef<unsigned> reference);

  /// True if at most mostAhead() operations that take time are passed, and the rest of the reference fits after it and
  /// all that is in flight are over. Whether the operation itself fits is another question.
  bool allows(unsigned operation, llvm::ArrayRef<unsigned> inFlight);

  /// Notes that an operation is issued.
  void issue(unsigned operation);

  /// The first operation of the reference that is not issued.
  unsigned next() const { return reference[front]; }

  /// How many operations that take time may be passed. Bounds the time for all operations, as each of them may look at
  /// so many.
  unsigned mostAhead() const { return std::max<size_t>(256, (size_t(1) << 21) / reference.size()); }

private:
  static constexpr unsigned none = ~0u;

  bool isIssued(size_t position) const { return issuedAs[reference[position]] != none; }
  bool surelyFits(unsigned operation) const;
  bool walk(unsigned operation, llvm::ArrayRef<unsigned> inFlight);
  size_t endWith(unsigned operation) const { return std::max<size_t>(reached, positionOf[operation] + 1); }

  const Problem &problem;
  MemoryTracker &memory;
  llvm::ArrayRef<unsigned> reference;
  std::vector<unsigned> positionOf; ///< of each operation, in the reference
  std::vector<unsigned> timedUntil; ///< by position: how many operations before it take time
  std::vector<unsigned> issuedAs;   ///< how many were issued before each operation; `none` if it is not issued
  unsigned issued = 0;              ///< how many are
  size_t front = 0;                 ///< operations of the reference before this position are issued
  size_t reached = 0;               ///< and those from this position on are not

  /// What is held while the operation at a position runs, if those before it in the reference and the first `known`
  /// that were issued are over.
  std::vector<ClassBytes> held;
  unsigned known = 0;
  /// What operations at `front` or later have made that were issued after those.
  ClassBytes early;

  /// What the last walk found from `front` on, with this operation; adopted if it is issued.
  std::vector<ClassBytes> walked;
  std::optional<unsigned> walkedWith;

  /// The last answer for an operation, and how many were issued then.
  struct Answer {
    unsigned issued = none;
    bool isAllowed = false;
  };
  std::vector<Answer> answers;
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_REFERENCE_MEMORY_H
