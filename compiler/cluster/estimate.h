//===- estimate.h - how long an operation takes -----------------*- C++ -*-===//
//
// The time of one operation alone on its lane, from the rates of a cluster. An attained rate counts where the cluster
// has one, else a peak: then the time is a lower bound. All times are in seconds. Pure functions.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_CLUSTER_ESTIMATE_H
#define MESHPLAN_COMPILER_CLUSTER_ESTIMATE_H

#include "compiler/cluster/cluster.h"
#include "runtime/schema/cluster_keys.h"
#include "runtime/schema/extent.h"
#include "llvm/ADT/StringRef.h"

#include <span>

namespace meshplan {

/// The work of an operator on a rank.
struct OperatorWork {
  llvm::StringRef target;                   ///< "aten.mm.default"
  llvm::StringRef dtype;                    ///< of its operands: "bf16"
  double flops = 0, bytes = 0;              ///< bytes are those read and written
  std::optional<ProductShape> product = {}; ///< of a matrix product or a convolution; its flops are those of the shape
  double equalParts = 1;                    ///< number of equal parts that it consists of: heads of attention
  llvm::StringRef access = {};              ///< of cluster_keys::accesses; empty: all operands are alike
};

/// Seconds of an operator on the device of a rank. In this order: the cluster's table of the operator and its dtype, by
/// bytes or by flops of one of its equal parts; for a product the table of products, but at least its memory traffic;
/// else the longer of arithmetic at the peak and memory traffic. Tables by bytes and memory traffic hold for operands
/// that are alike. Operands that are not take longer by a factor: the cluster's table of this access relative to its
/// table of the same operator. At least the launch time; 0 for an operator without flops and bytes, a view.
double operatorSeconds(const Cluster &cluster, const OperatorWork &work);

/// Seconds of an operator on the host that reads and writes `bytes` there. Host operators (the optimizer) are bound by
/// memory traffic, so arithmetic is not counted.
double hostSeconds(const Cluster &cluster, double bytes);

/// Seconds of a copy of `bytes` from device memory to host memory, or back.
double transferSeconds(const Cluster &cluster, double bytes);

/// Peak flop/s of a dtype: its own, for a 16-bit float that of the other one, else that of f32.
double peakFlops(const Cluster &cluster, llvm::StringRef dtype);

/// How the ranks of a group lie in the nodes of a cluster, which are filled in the order of the ranks.
struct GroupSpread {
  int64_t ranks = 1;
  int64_t ranksInNode = 1; ///< if a group crosses nodes, the fewest ranks of a group that lie in one node; else all

  bool crosses() const { return ranksInNode < ranks; }
};

/// The spread of the groups over `axes` of a mesh with sizes `meshSizes`.
GroupSpread groupSpread(std::span<const AxisRef> axes, std::span<const int64_t> meshSizes, int64_t ranksPerNode);

/// A collective on a rank.
struct CollectiveWork {
  llvm::StringRef kind; ///< "all_reduce"
  double bytes = 0;     ///< sent by the rank (base::sentBytes)
  GroupSpread group;
};

/// Bytes/s that a rank of a group sends in a collective, at the peak. Groups that cross nodes send over the network
/// links of all their ranks in a node; an all_to_all sends what leaves the node over the rank's own one. Where the
/// links of a node have a limit together, each rank gets its share.
double linkBytes(const Cluster &cluster, llvm::StringRef kind, const GroupSpread &group);

/// Seconds of a collective, while all groups over the same axes do the same. From the cluster's tables of its kind,
/// link (inside a node or between nodes) and backend, linearly interpolated between their numbers of ranks; below the
/// first size of a table the time is linear from the latency on. Without a table, the latency of the link for each
/// doubling of ranks, and the bytes at linkBytes. The backend is `nccl` for cuda; for cpu it is `threads` inside a node
/// if there is a table of it, else `mpi`.
double collectiveSeconds(const Cluster &cluster, const CollectiveWork &work);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_CLUSTER_ESTIMATE_H
