//===- memory_tracker.h - device memory, step by step -----------*- C++ -*-===//
//
// What profileMemory computes for a whole solution, in steps that can be undone. It frees each buffer after its
// last use. verify() does not use it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_SOLVERS_MEMORY_TRACKER_H
#define MESHPLAN_COMPILER_SCHEDULING_SOLVERS_MEMORY_TRACKER_H

#include "compiler/scheduling/problem.h"
#include "llvm/ADT/ArrayRef.h"

namespace meshplan::scheduling {

/// The device memory of a rank of each class under a checked problem with a limit, to which the tracker refers. Without
/// a limit everything fits, and nothing is tracked.
class MemoryTracker {
public:
  explicit MemoryTracker(const Problem &problem);

  bool isLimited() const { return !problem.memoryLimit.empty(); }

  /// True if an operation may begin now.
  bool fits(unsigned operation) const { return !isLimited() || fits(needs[operation].atBegin); }
  /// Bytes of what an operation produces, and those that are held now. Only under a limit.
  const ClassBytes &bytesMade(unsigned operation) const { return needs[operation].afterwards; }
  const ClassBytes &bytesHeld() const { return held; }
  void begin(unsigned operation);
  /// Ends the operation and frees the buffers that no operation uses from now on.
  void end(unsigned operation);
  /// True if the end of the operation, which is in flight, makes memory free.
  bool releases(unsigned operation) const;
  /// Bytes by which the held memory grows if an operation begins and ends now, on the class where this is most.
  /// Negative if it frees more than it allocates.
  int64_t growth(unsigned operation) const;
  /// At the end of the program: true if Problem::handover fits beside what is held.
  bool fitsAtEnd() const;

  /// A point to which the tracker can return.
  struct Mark {
    size_t changes;
    ClassBytes held;
  };
  Mark mark() const { return {journal.size(), held}; }
  void undo(const Mark &mark);

private:
  /// True if so many bytes more than now keep to the limit.
  bool fits(const ClassBytes &added) const;

  /// What an operation adds to the bytes that are held.
  struct Need {
    ClassBytes atBegin;                      ///< while it runs
    ClassBytes afterwards;                   ///< before buffers are freed
    llvm::SmallVector<unsigned, 4> used;     ///< temporaries that are freed after their last use
    llvm::SmallVector<unsigned, 2> storages; ///< of what it produces
  };
  /// A changed counter; the journal holds what undo() adds to it.
  struct Change {
    int *counter;
    int difference;
  };

  void change(int &counter, int difference) {
    counter += difference;
    journal.push_back({&counter, -difference});
  }
  Need needOf(const Operation &operation) const;

  const Problem &problem;
  std::vector<Need> needs;
  std::vector<int> usesLeft; ///< of each buffer, by operations that are not over
  std::vector<int> sharers;  ///< of each storage: buffers that are live
  std::vector<Change> journal;
  ClassBytes held;
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_SOLVERS_MEMORY_TRACKER_H
