//===- cluster_keys.h - the names in a cluster file -------------*- C++ -*-===//
//
// The keys of a cluster file (docs/clusters.md), and the names that its values may have. `meshplan-run calibrate`
// writes them and the compiler reads them.
//
// Header only, standard library only, no state.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_SCHEMA_CLUSTER_KEYS_H
#define MESHPLAN_RUNTIME_SCHEMA_CLUSTER_KEYS_H

#include <array>
#include <string_view>

namespace meshplan::cluster_keys {

using Key = std::string_view;

// Of the file.
inline constexpr Key name = "name", source = "source", device = "device", nodes = "nodes",
                     devicesPerNode = "devices_per_node", ranksPerDevice = "ranks_per_device", compute = "compute",
                     host = "host", links = "links", collectives = "collectives", overlap = "overlap";

// Of `device`, which also has `name`.
inline constexpr Key kind = "kind";

// Of `compute`. `host` has the second one, tables have all three.
inline constexpr Key flopsPerSecond = "flops_per_second", bytesPerSecond = "bytes_per_second", spread = "spread";
inline constexpr Key launchSeconds = "launch_seconds", products = "products", operators = "operators";

// Of a table of `products` or `operators`; the last one of `operators` by bytes only.
inline constexpr Key dtype = "dtype", target = "target", flops = "flops", bytes = "bytes", m = "m", n = "n", k = "k",
                     access = "access";

/// The target of the table of copies between tensors and the buffers of collectives.
inline constexpr Key copyTarget = "copy";

// Of `links`, and of a link.
inline constexpr Key node = "node", network = "network", latencySeconds = "latency_seconds",
                     nodeBytesPerSecond = "node_bytes_per_second";

// Of a table of `collectives`, which also has `kind`.
inline constexpr Key backend = "backend", link = "link", ranks = "ranks";

// Of `overlap`.
inline constexpr Key computeSlowdown = "compute_slowdown", communicationSlowdown = "communication_slowdown",
                     concurrentSlowdown = "concurrent_slowdown";
/// The largest value of these. It also stands for a collective that does not move at all while its ranks compute.
inline constexpr double mostSlowdown = 100;

inline constexpr std::array<Key, 2> deviceKinds = {"cpu", "cuda"};
inline constexpr std::array<Key, 3> backends = {"threads", "mpi", "nccl"};
inline constexpr std::array<Key, 5> collectiveKinds = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                                       "permute"};
/// How an operator accesses its operands: an operand has fewer elements than the result; operands lie in memory in
/// different orders; operands have different dtypes. Without one of them all are alike.
inline constexpr Key broadcast = "broadcast", strided = "strided", converted = "converted";
inline constexpr std::array<Key, 3> accesses = {broadcast, strided, converted};
inline constexpr std::array<Key, 4> dtypes = {"f64", "f32", "bf16", "f16"};

} // namespace meshplan::cluster_keys

#endif // MESHPLAN_RUNTIME_SCHEMA_CLUSTER_KEYS_H
