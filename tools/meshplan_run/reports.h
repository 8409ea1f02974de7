//===- reports.h - what the ranks held and did -------------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H

#include "tools/meshplan_run/job.h"

#include <nlohmann/json.hpp>

namespace meshplan {

/// Largest numbers of bytes that tensors of a rank had: on its device, and in the memory of the host. The latter is
/// counted where the device is the host, too; 0 elsewhere.
struct PeakBytes {
  int64_t device = 0, host = 0;
};

/// What one rank held, in bytes.
struct RankMemory {
  ResidentBytes resident;
  PeakBytes peak;
};

/// A moment, by the clock of one machine.
struct ClockReading {
  std::string machine; ///< the same for all processes that share the clock
  Trace::Clock::time_point now;
};
ClockReading readClock();

struct RankReport {
  RankMemory memory;
  Trace trace;
  ClockReading clock; ///< at a moment that all ranks have in common
};

/// For the way to rank 0.
std::string textOf(const RankReport &report);
Expected<RankReport> reportOf(const std::string &text);

/// Those of all ranks, in rank order; empty in a process without rank 0.
struct Reports {
  std::vector<RankMemory> memory;
  std::vector<Trace> traces;

  bool here() const { return !memory.empty(); }

  /// The report of the next rank. Times of another machine than rank 0's are moved to its clock.
  void add(RankReport report);

private:
  ClockReading first;
};

/// Ranks and plan: parameters, constants, inputs, states of the optimizer, accumulators of microbatches and peak in
/// bytes, on the device; and of the host parameters, states and peak.
nlohmann::json memoryJson(const Job &job, const Reports &reports);

/// A line for each rank, and one that compares the largest with what the compiler planned.
void printMemory(const Job &job, const Reports &reports);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H
