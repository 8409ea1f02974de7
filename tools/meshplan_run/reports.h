//===- reports.h - what the ranks held and did -------------------*- C++ -*-===//

#ifndef MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H
#define MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H

#include "tools/meshplan_run/job.h"

#include <nlohmann/json.hpp>

namespace meshplan {

/// What one rank held, in bytes.
struct RankMemory {
  ResidentBytes resident;
  int64_t peak = 0;
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
/// bytes.
nlohmann::json memoryJson(const Job &job, const Reports &reports);

/// A line for each rank, and one that compares the largest with what the compiler planned.
void printMemory(const Job &job, const Reports &reports);

} // namespace meshplan

#endif // MESHPLAN_TOOLS_MESHPLAN_RUN_REPORTS_H
