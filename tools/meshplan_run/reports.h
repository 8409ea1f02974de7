//===- reports.h - memory and traces of all ranks ----------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H

#include "tools/meshplan_run/job.h"

#include <nlohmann/json.hpp>

namespace meshplan {

/// Peak memory of a rank's tensors, on its device and in host memory. The latter is measured only if the device is the
/// host, and is 0 otherwise.
struct PeakBytes {
  int64_t device = 0, host = 0;
};

/// Memory of one rank, in bytes.
struct RankMemory {
  ResidentBytes resident;
  PeakBytes peak;
};

/// A point in time on the clock of one machine.
struct ClockReading {
  std::string machine; ///< equal for all processes that share the clock
  Trace::Clock::time_point now;
};
ClockReading readClock();

struct RankReport {
  RankMemory memory;
  Trace trace;
  ClockReading clock; ///< at a moment that is the same for all ranks
};

/// Serialized for the transfer to rank 0.
std::string textOf(const RankReport &report);
Expected<RankReport> reportOf(const std::string &text);

/// The reports of all ranks, in rank order; empty in a process without rank 0.
struct Reports {
  std::vector<RankMemory> memory;
  std::vector<Trace> traces;

  bool here() const { return !memory.empty(); }

  /// Adds the report of the next rank. Times of another machine are converted to the clock of rank 0's machine.
  void add(RankReport report);

private:
  ClockReading first;
};

/// Measured and planned memory in bytes: on the device parameters, constants, inputs, optimizer states, gradient
/// accumulators and peak; on the host parameters, states and peak.
nlohmann::json memoryJson(const Job &job, const Reports &reports);

/// Prints a line for each rank, and one that compares the maximum with the planned memory.
void printMemory(const Job &job, const Reports &reports);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H
