//===- time_report.h - the estimated times in a report ----------*- C++ -*-===//
//
// Plain structs, computed from the timeline of a step (compiler/timing) and the cluster that it is estimated for.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_REPORT_TIME_REPORT_H
#define MESHPLAN_COMPILER_REPORT_TIME_REPORT_H

#include "compiler/cluster/cluster.h"
#include "compiler/timing/step_times.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

struct Report;

/// The machines that times are estimated for (compiler/cluster).
struct MachineReport {
  std::string name;       ///< "h100"; empty if it is not known
  std::string file;       ///< cluster file; empty for a preset
  bool isAssumed = false; ///< a preset that was not asked for
  std::string device;     ///< "cuda"
  std::string deviceName; ///< "NVIDIA H100 80GB HBM3"
  int64_t nodes = 0;      ///< 0: as many as the mesh needs
  int64_t devicesPerNode = 0, ranksPerDevice = 0;
  std::string source; ///< where its numbers are from
};

/// Estimated time of the collectives of one purpose and communicator in a step.
struct GroupTimeReport {
  std::string purpose; ///< "gradients"
  std::string communicator;
  int64_t count = 0;
  int64_t exposed = 0, hidden = 0; ///< nanoseconds
};

/// Model flops of one dtype in a step, and the peak of a rank.
struct ModelFlops {
  std::string dtype;
  double flops = 0, peak = 0;
};

/// Estimated nanoseconds on the rank with the most work (compiler/timing). Overlapped time counts in `compute`, in
/// `communication` and in `copies`.
struct TimeReport {
  int64_t compute = 0;
  int64_t communication = 0;
  int64_t copies = 0;  ///< between device and host memory
  int64_t step = 0;    ///< from the beginning to the end; 0 and empty below, from buildReport
  int64_t exposed = 0; ///< of the communication
  int64_t exposedCopies = 0;
  int64_t waitsForHost = 0; ///< nothing is computed because nothing is issued
  /// Collectives that may be split into parts together with the products next to them, and those that are.
  int64_t splittable = 0, split = 0;
  std::optional<bool> halves; ///< whether a step runs in halves; none: the plan does not allow it
  std::vector<GroupTimeReport> groups;
  std::vector<ModelFlops> modelFlops;
  std::optional<double> utilization; ///< of model flops; none without them
};

/// The machines that times are estimated for.
MachineReport describeMachine(const Cluster &cluster);

/// Adds the estimated times of a step of the report's program.
void addTimes(Report &report, const StepTimes &step, const Cluster &cluster);

/// The machine of the estimated times: "on h100 (assumed)"; empty if it is not known.
std::string timeBasis(const MachineReport &machine);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_TIME_REPORT_H
