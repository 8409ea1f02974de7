//===- operation_costs.h - times of operations -----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_OPERATION_COSTS_H
#define MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_OPERATION_COSTS_H

#include "compiler/cluster/estimate.h"
#include "compiler/scheduling/problem.h"
#include "compiler/sharding/op_record.h"
#include "compiler/transforms/schedule/layout_table.h"

namespace meshplan {

/// The links of every program, as indices into Problem::links.
inline constexpr unsigned nodeLink = 0, networkLink = 1;
/// Two links, because a bus between device and host carries copies in both directions at once, each at the full rate.
inline constexpr unsigned toDeviceLink = 2, toHostLink = 3;

int64_t toNanoseconds(double seconds);

/// Bytes that a collective sends, or several that are one.
double sentBytesOf(llvm::ArrayRef<mlir::Operation *> ops);

/// A call on a rank.
struct CallCost {
  int64_t duration = 0; ///< nanoseconds
  int64_t workspaceBytes = 0;
  bool aliases = false; ///< the results are views of operand 0
};

/// Times of calls, collectives and copies on a cluster. Refers to the cluster and the layouts. Not thread safe.
class OperationCosts {
public:
  OperationCosts(const Cluster &cluster, LayoutTable &layouts) : cluster(cluster), layouts(layouts), rates(links()) {}

  /// The cost of a call that a rank runs as `view`. An operator without a cost is taken to read its operands and to
  /// write its results.
  CallCost costOf(plan::CallOp call, const CallView &view) const;

  /// The links that setCollective and setTransfer name.
  std::vector<scheduling::Link> links() const;

  /// Sets latency and transfers of an operation that takes `seconds` alone: the latency of its link, and as many bytes
  /// as the link moves in the rest. These may be more bytes than the operation moves, because an attained time is
  /// longer than that of the bytes at the rate of the link.
  void setTransfer(scheduling::Operation &operation, double seconds, unsigned link, double latency) const;

  /// The same for a collective over a communicator of the list, for which a rank sends `bytes`.
  void setCollective(scheduling::Operation &operation, base::CollectiveKind kind, double bytes,
                     llvm::ArrayRef<scheduling::Communicator> communicators);

  /// Nanoseconds to copy `bytes` within device memory: into the buffer of a collective, out of it, or as a slice.
  int64_t timeOfCopy(int64_t bytes) const;

private:
  const Cluster &cluster;
  LayoutTable &layouts;
  std::vector<scheduling::Link> rates;
  llvm::DenseMap<unsigned, GroupSpread> groups; ///< by communicator
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_TRANSFORMS_SCHEDULE_OPERATION_COSTS_H
