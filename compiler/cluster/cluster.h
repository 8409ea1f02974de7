//===- cluster.h - the machines that estimates are made for -----*- C++ -*-===//
//
// What a cluster file says (docs/clusters.md), as plain data. Read by read_cluster.h, used by estimate.h.
//
// All rates and times are those of one rank while all ranks of its node do the same at once, so that they include what
// ranks share.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_CLUSTER_CLUSTER_H
#define MESHPLAN_COMPILER_CLUSTER_CLUSTER_H

#include "compiler/cluster/rate_table.h"
#include "compiler/support/diagnostics.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace meshplan {

/// Attained times of an operator of one dtype, by flops or by bytes.
struct OperatorTable {
  bool byFlops = false;
  RateTable times;
};

/// Attained times of the operator `target`, by bytes, with operands that are not alike (cluster_keys::accesses).
struct AccessTable {
  std::string target;
  RateTable times;
};

/// Rates of a rank's device. Keys of maps are dtypes: "f32".
struct ComputeRates {
  std::map<std::string, double> flops;                ///< peak flop/s
  double bytes = 0;                                   ///< peak bytes/s of its memory
  double launchSeconds = 0;                           ///< least time of an operator
  std::map<std::string, RateTable> products;          ///< times of matrix products by flops
  std::map<std::string, ProductTable> shapedProducts; ///< and by shape
  RateTable traffic;                                  ///< times of memory-bound operators by bytes; may be empty
  std::map<std::string, std::map<std::string, OperatorTable>> operators; ///< by target, then by dtype
  std::map<std::string, std::map<std::string, AccessTable>> accesses;    ///< by access, then by dtype
};

/// A link of a rank, in one direction.
struct LinkRates {
  double latencySeconds = 0;
  double bytes = 0;     ///< bytes/s of a rank
  double nodeBytes = 0; ///< bytes/s of all ranks of a node together; 0: as many as each has
};

/// Attained times of one kind of collective among `ranks` ranks, by the bytes that a rank sends (base::sentBytes).
struct CollectiveTable {
  std::string kind;     ///< "all_reduce"
  std::string backend;  ///< "nccl"
  bool crosses = false; ///< the ranks are in several nodes
  int64_t ranks = 0;
  RateTable times;
};

/// Factors, at least 1, by which operations take longer while others run beside them. Without a measurement only two
/// collectives on one link slow each other down: each has half of the rate.
struct OverlapRates {
  double compute = 1;       ///< an operator, while a collective is in flight
  double communication = 1; ///< a collective, while operators run
  double concurrent = 2;    ///< a collective, while one of another communicator uses the same link
};

struct Cluster {
  std::string name;                  ///< "h100"
  std::string source;                ///< where the numbers are from; may be empty
  std::string file;                  ///< path as it was given; empty for a preset
  std::string text;                  ///< of the file or the preset
  bool isAssumed = false;            ///< not asked for: the default of the device
  SourceRange kindRange, nodesRange; ///< of device kind and number of nodes in the file
  std::string deviceKind;            ///< "cpu" or "cuda"
  std::string deviceName;            ///< "NVIDIA H100 80GB HBM3"
  int64_t nodes = 0;                 ///< 0: as many as the mesh needs
  int64_t devicesPerNode = 1, ranksPerDevice = 1;
  ComputeRates compute;
  double hostBytes = 0;          ///< bytes/s of host memory, of operators that run there
  LinkRates node, network, host; ///< inside a node, between nodes, between device and host memory
  std::vector<CollectiveTable> collectives;
  OverlapRates overlap;

  int64_t ranksPerNode() const { return devicesPerNode * ranksPerDevice; }
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_CLUSTER_CLUSTER_H
