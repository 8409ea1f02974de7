//===- problem.h - what a schedule has to order -----------------*- C++ -*-===//
//
// A program of one rank as a scheduling problem. Every rank runs the same program, so there is one list of operations.
// Sizes that differ between ranks are given for each rank class: the rank with the largest shards, the one with the
// smallest, and where ranks share blocks some in between. Time is in whole nanoseconds.
//
// Operations run on lanes: one after the other on one lane, at the same time on different lanes. Lanes are not
// resources: what is limited are the links that transfers of all lanes share. simulate.h says how long a solution takes
// under these limits.
//
// Plain data without IR or state. check() says whether the problem is complete and consistent; solvers may rely on it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_SCHEDULING_PROBLEM_H
#define MESHPLAN_COMPILER_SCHEDULING_PROBLEM_H

#include "compiler/scheduling/open_choices.h"
#include "runtime/schema/extent.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan::scheduling {

/// The memory that a tensor is in.
enum class Memory { device, host };

/// The groups of a collective: ranks that differ only in these axes.
struct Communicator {
  std::string name;
  llvm::SmallVector<AxisRef, 2> axes;

  bool operator==(const Communicator &) const = default;
};

enum class LaneKind {
  compute,     ///< the kernels of the rank, in the order of the list; at most one lane
  collectives, ///< of one communicator, or of several
  copies,      ///< between device and host memory, in one direction
};

/// Operations on one lane run one after the other, in the order in which they are issued.
struct Lane {
  std::string name;
  LaneKind kind = LaneKind::compute;

  bool operator==(const Lane &) const = default;
};

/// What carries transfers. Everything that crosses it at the same time shares its rate.
struct Link {
  std::string name;
  int64_t bytesPerSecond = 0; ///< of one transfer
  /// Of several at the same time together, in thousandths of the rate of one: more if one does not fill the link.
  int64_t sharedRate = 1000;

  bool operator==(const Link &) const = default;
};

/// A collective, or a pair of send and receive, that several pipeline coordinates take part in. It has the same name in
/// the problems of all of them.
struct Instance {
  std::string name;
  llvm::SmallVector<unsigned, 1> others; ///< the coordinates that take part besides the operation's own

  bool operator==(const Instance &) const = default;
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

  bool operator==(const Buffer &) const = default;
};

/// What an operation copies for a choice.
enum class Copy {
  none,
  pack,   ///< tensors to send, into one buffer: the only result of the operation, which only the collective reads
  unpack, ///< tensors out of the buffer of what was received: the first operand, which the collective produces
  join,   ///< the results of all parts of an operation that is split, into one tensor
  rows,   ///< nothing: its result is a view of what a part reads of a tensor
};

/// A gather of the parameters of an FSDP unit for the forward pass, or for the backward pass: these two are different
/// `unit`s. The solver `program` starts it where the unit is first read that is gathered `ahead` units earlier; with 0
/// at its own position.
struct Prefetch {
  int64_t unit = 0;
  int64_t ahead = 0;

  bool operator==(const Prefetch &) const = default;
};

/// An operation of the program. On the compute lane it is run; on another lane it is asynchronous: it is started and
/// waited for. An operation with a communicator is a collective.
struct Operation {
  std::string name;
  unsigned lane = 0;    ///< index into Problem::lanes
  int64_t duration = 0; ///< on the compute lane: alone, on the rank with the most work; see compiler/cluster
  int64_t latency = 0;  ///< on other lanes: from its beginning to the first byte
  /// On other lanes: all are crossed at the same time, so the slowest link decides.
  llvm::SmallVector<Transfer, 2> transfers;
  llvm::SmallVector<unsigned, 4> consumed; ///< indices into Problem::buffers
  llvm::SmallVector<unsigned, 2> produced; ///< indices into Problem::buffers
  llvm::SmallVector<unsigned, 1> after;    ///< operations that must be over, besides the producers of `consumed`
  /// Those of `consumed` that it updates in place. Earlier operations that read the storage are in `after`; later ones
  /// read what this operation produces.
  llvm::SmallVector<unsigned, 1> overwritten;
  ClassBytes workspace;                 ///< temporaries while it runs; empty means none
  Memory memory = Memory::device;       ///< that the workspace is in
  std::optional<unsigned> communicator; ///< index into Problem::communicators

  bool blocking = false; ///< is waited for where it starts
  std::optional<Prefetch> prefetch;
  Copy copy = Copy::none;

  /// What it is a part of on several pipeline coordinates; empty for a collective inside one coordinate. Several are
  /// one grouped launch, in which none waits for another (ncclGroupStart).
  llvm::SmallVector<Instance, 1> instances;

  bool operator==(const Operation &) const = default;
  bool isCollective() const { return communicator.has_value(); }
};

/// Nanoseconds of a transfer over a link that nothing else uses.
int64_t timeOnLink(int64_t bytes, int64_t bytesPerSecond);

/// Speeds while the rank computes and transfers at the same time, in thousandths of the speeds alone.
struct OverlapSpeed {
  int64_t compute = 1000;  ///< of computing, while an operation of another lane transfers
  int64_t transfer = 1000; ///< of transfers, while the compute lane runs an operation

  bool operator==(const OverlapSpeed &) const = default;
};

struct Problem {
  unsigned rankClasses = 1;
  std::vector<Lane> lanes;
  std::vector<Link> links;
  OverlapSpeed overlapSpeed;
  int64_t issueTime = 0;     ///< nanoseconds in which the host issues an operation (simulate.h)
  bool hostComputes = false; ///< the host's thread is the compute lane, which computes nothing while it issues a start
  std::vector<Communicator> communicators;
  std::vector<Buffer> buffers;
  /// In an order that respects their dependencies.
  std::vector<Operation> operations;
  std::vector<Mergeable> mergeables;
  /// Two may have the same members, to be split into other numbers of parts.
  std::vector<Splittable> splittables;
  /// Temporaries of the caller while it receives the kept buffers; empty means none.
  ClassBytes handover;
  /// Bytes of device memory that a solution may hold at once; empty means that it is not limited.
  ClassBytes memoryLimit;

  bool operator==(const Problem &) const = default;

  /// Fails, with the rule's label and both sides in the message, if the problem is inconsistent:
  /// - K1 indices are in range; K2 there is a size for each rank class, and sizes, times and rates are possible;
  /// - K3 a temporary has one producer, a permanent buffer none; K4 operations come after what they depend on;
  /// - K5 a view has no bytes of its own; K6 its producer reads what it is a view of, and it is not permanent;
  /// - K7 an operation reads what it overwrites, and comes after all others that read the old value;
  /// - K8 one lane computes, collectives of a communicator are on one lane of collectives, and nothing else is there;
  /// - K9 only an operation of the compute lane has a duration; only one of another lane has a latency, transfers or
  ///   instances;
  /// - K10 what may be merged is on one communicator and in one list, overwrites nothing, and is copied for all members
  ///   or for none;
  /// - K11 a copy serves one collective, and is not a collective itself;
  /// - K12 what may be split has one result of its own, overwrites nothing, and is not between coordinates; computing
  ///   and what runs beside it are split together.
  llvm::Error check() const;

  /// True if the operation is started and waited for.
  bool isAsynchronous(const Operation &operation) const { return lanes[operation.lane].kind != LaneKind::compute; }

  /// The lane that computes; the number of lanes if there is none.
  unsigned computeLane() const;

  /// Nanoseconds of the operation if nothing else runs.
  int64_t timeAlone(const Operation &operation) const;

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
