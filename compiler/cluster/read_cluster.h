//===- read_cluster.h - cluster files ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_CLUSTER_READ_CLUSTER_H
#define MESHPLAN_COMPILER_CLUSTER_READ_CLUSTER_H

#include "compiler/cluster/cluster.h"
#include "compiler/cluster/presets.h"
#include "compiler/support/diagnostics.h"

#include <optional>

namespace meshplan {

/// Reads the text of a cluster file. Reports every error at its location, and then returns nothing: a text that is not
/// JSON, an unknown, missing or repeated key, a value of another kind than expected, a number out of range, a table
/// whose sizes do not increase or whose times decrease, a second table of the same products, operators or collectives.
std::optional<Cluster> parseCluster(const SourceBuffer &file, Diagnostics &diagnostics);

/// The cluster of a preset.
Cluster clusterOfPreset(const ClusterPreset &preset);

/// The cluster of a command line: the path of a file or the name of a preset, or, if `given` is empty, the preset for
/// `device` ("cpu" or "cuda"), which is then marked as assumed. `sources` are those of `diagnostics`, and own the text.
/// A file that cannot be read and a device of another kind than `device` are errors as well.
std::optional<Cluster> openCluster(llvm::StringRef given, llvm::StringRef device, Sources &sources,
                                   Diagnostics &diagnostics);

/// "own (own.json)", "h100 (a preset, assumed: --cluster names another)": a cluster in messages and reports. An empty
/// `file` means a preset.
std::string clusterText(llvm::StringRef name, llvm::StringRef file, bool isAssumed);
std::string clusterText(const Cluster &cluster);

/// False, with an error, if the cluster is too small for a mesh of `worldSize` ranks that is declared at `mesh`.
bool checkSize(const Cluster &cluster, int64_t worldSize, SourceRange mesh, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_CLUSTER_READ_CLUSTER_H
