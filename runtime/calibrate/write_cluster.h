//===- write_cluster.h - measurements as a cluster file ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CALIBRATE_WRITE_CLUSTER_H
#define MESHPLAN_RUNTIME_CALIBRATE_WRITE_CLUSTER_H

#include "runtime/calibrate/calibrate.h"
#include "runtime/calibrate/overlap.h"
#include "runtime/calibrate/rounds.h"

namespace meshplan {

/// What calibrate has measured. `cases` and `measurements` are in the same order.
struct MeasuredCluster {
  CalibrationOptions options;
  int64_t nodes = 1, ranksPerNode = 1;
  bool isHost = true; ///< the device is the processor
  std::vector<Case> cases;
  std::vector<Measurement> measurements;
  Slowdowns slowdowns;
};

/// The cluster file (docs/clusters.md). A measured time that is below that of a smaller size is raised to it, because a
/// larger size takes at least as long.
std::string clusterText(const MeasuredCluster &cluster);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CALIBRATE_WRITE_CLUSTER_H
