//===- problem.h - what a schedule has to order -----------------*- C++ -*-===//
//
// A program of one rank as a scheduling problem. Every rank runs the same program, so there is one list of operations.
// Sizes that differ between ranks are given for each rank class (the rank with the largest shards, and the one with the
// smallest).
//
// Plain data without IR or state. check() says whether the problem is complete and consistent; solvers may rely on it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_PROBLEM_H
#define MESHPLAN_COMPILER_SCHEDULING_PROBLEM_H

#include "runtime/schema/extent.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan::scheduling {

/// Bytes for each rank class.
using ClassBytes = llvm::SmallVector<int64_t, 2>;

/// The memory that a tensor is in.
enum class Memory { device, host };

/// The groups of a collective: ranks that differ only in these axes.
struct Communicator {
  std::string name;
  llvm::SmallVector<AxisRef, 2> axes;

  /// True if a group of this communicator and a group of `other` can share more than one rank.
  bool overlaps(const Communicator &other) const;
};

/// A tensor of the program.
struct Buffer {
  std::string name;
  ClassBytes bytes;       ///< of its storage; zeros for a view
  bool permanent = false; ///< live before and after the program: weights, constants, inputs
  bool kept = false;      ///< returned to the caller at the end
  /// The buffer whose storage this one shares. Storage lives until all buffers that share it are freed.
  std::optional<unsigned> viewOf;
  Memory memory = Memory::device;
};

/// An operation of the program. One with a communicator is a collective, which is started and waited for.
struct Operation {
  std::string name;
  unsigned stream = 0;                     ///< index into Problem::streams
  int64_t duration = 0;                    ///< nanoseconds on the rank with the most work, see compiler/cluster
  llvm::SmallVector<unsigned, 4> consumed; ///< indices into Problem::buffers
  llvm::SmallVector<unsigned, 2> produced; ///< indices into Problem::buffers
  llvm::SmallVector<unsigned, 1> after;    ///< operations that must be over, besides the producers of `consumed`
  /// Those of `consumed` that it updates in place. Earlier operations that read the storage are in `after`; later ones
  /// read what this operation produces.
  llvm::SmallVector<unsigned, 1> overwritten;
  ClassBytes workspace;           ///< temporaries while it runs; empty means none
  Memory memory = Memory::device; ///< that the workspace is in
  /// Bytes of its results that are allocated only when it ends, to concatenate what was received; empty means none.
  ClassBytes lateResults;
  /// Bytes of the workspace that are freed before the late results are allocated; empty means none.
  ClassBytes earlyFreed;
  std::optional<unsigned> communicator; ///< index into Problem::communicators

  bool blocking = false; ///< a collective that is waited for where it starts

  bool isCollective() const { return communicator.has_value(); }
};

struct Problem {
  unsigned rankClasses = 1;
  std::vector<std::string> streams;
  std::vector<Communicator> communicators;
  std::vector<Buffer> buffers;
  /// In an order that respects their dependencies.
  std::vector<Operation> operations;
  /// Temporaries of the caller while it receives the kept buffers; empty means none.
  ClassBytes handover;

  /// Fails, with the rule's label (K1 to K7) and both sides in the message, if the problem is inconsistent.
  llvm::Error check() const;

  /// The operation that produces each buffer; none for permanent ones. Only after check().
  std::vector<std::optional<unsigned>> producers() const;

  /// The buffer that owns the storage of a buffer: itself unless it is a view.
  unsigned storageOf(unsigned buffer) const;

  /// Calls `visit` with every operation that must be over before `operation` may begin. `producers` are producers().
  template <typename Visitor>
  void forEachDependency(const Operation &operation, const std::vector<std::optional<unsigned>> &producers,
                         Visitor visit) const {
    for (unsigned buffer : operation.consumed)
      if (producers[buffer])
        visit(*producers[buffer]);
    for (unsigned other : operation.after)
      visit(other);
  }
};

} // namespace meshplan::scheduling

#endif // MESHPLAN_COMPILER_SCHEDULING_PROBLEM_H
