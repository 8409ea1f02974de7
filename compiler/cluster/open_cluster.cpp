//===- open_cluster.cpp - the cluster of a command line -------------------===//
//
// Without `--cluster` the device decides: the preset for it is assumed, and reports say so. A name other than those of
// the presets is the path of a file.
//
//===----------------------------------------------------------------------===//

#include "compiler/cluster/read_cluster.h"
#include "compiler/support/nearest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace meshplan;
using llvm::StringRef;

static std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (const ClusterPreset &preset : clusterPresets())
    names.push_back(preset.name.str());
  return names;
}

/// A preset is part of the program, so it has no errors (a test reads all of them).
Cluster meshplan::clusterOfPreset(const ClusterPreset &preset) {
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Cluster> cluster = parseCluster(sources.add(preset.name.str(), preset.text.str()), diagnostics);
  assert(cluster && "a preset is well formed");
  cluster->kindRange = cluster->nodesRange = {};
  return *cluster;
}

static std::optional<Cluster> clusterOfFile(StringRef path, Sources &sources, Diagnostics &diagnostics) {
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!text) {
    std::vector<std::string> near = nearestNames(path, presetNames());
    diagnostics.error({sources.add(path.str()).file()}, "cannot be read: " + text.getError().message())
        .help(near.empty() ? "--cluster names a file, or one of the presets " + quotedList(presetNames(), "and")
                           : "did you mean the preset " + quotedList(near) + "?")
        .help("'meshplan-run calibrate -o FILE' measures the machine that it runs on");
    return std::nullopt;
  }
  std::optional<Cluster> cluster = parseCluster(sources.add(path.str(), (*text)->getBuffer().str()), diagnostics);
  if (cluster)
    cluster->file = path.str();
  return cluster;
}

std::optional<Cluster> meshplan::openCluster(StringRef given, StringRef device, Sources &sources,
                                             Diagnostics &diagnostics) {
  const ClusterPreset *preset = findClusterPreset(given.empty() ? defaultClusterPreset(device) : given);
  std::optional<Cluster> cluster = preset ? clusterOfPreset(*preset) : clusterOfFile(given, sources, diagnostics);
  if (!cluster)
    return std::nullopt;
  cluster->isAssumed = given.empty();
  if (cluster->deviceKind == device)
    return cluster;
  diagnostics
      .error(cluster->kindRange, "the devices of '" + given.str() + "' are " + cluster->deviceKind +
                                     ", and the program is for " + device.str())
      .help("compile with --device " + cluster->deviceKind + ", or name a cluster of " + device.str() +
            " devices, such as --cluster " + defaultClusterPreset(device).str());
  return std::nullopt;
}

std::string meshplan::clusterText(StringRef name, StringRef file, bool isAssumed) {
  if (!file.empty())
    return (name + " (" + file + ")").str();
  return (name + (isAssumed ? " (a preset, assumed: --cluster names another)" : " (a preset)")).str();
}

std::string meshplan::clusterText(const Cluster &cluster) {
  return clusterText(cluster.name, cluster.file, cluster.isAssumed);
}

bool meshplan::checkSize(const Cluster &cluster, int64_t worldSize, SourceRange mesh, Diagnostics &diagnostics) {
  int64_t ranks = cluster.nodes * cluster.ranksPerNode();
  if (cluster.nodes == 0 || worldSize <= ranks)
    return true;
  std::string nodes = std::to_string(cluster.nodes) + (cluster.nodes == 1 ? " node" : " nodes");
  Diagnostic &error =
      diagnostics
          .error(cluster.nodesRange, "the cluster has " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
                                         ": " + nodes + " of " + std::to_string(cluster.ranksPerNode()) +
                                         ", and the mesh has " + std::to_string(worldSize))
          .help("describe or measure a cluster of this size, or leave out 'nodes' for as many as a mesh needs");
  if (mesh.hasFile())
    error.note(mesh, "the mesh");
  return false;
}
