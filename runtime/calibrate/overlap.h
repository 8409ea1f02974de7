//===- overlap.h - what computing and communicating cost --------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_CALIBRATE_OVERLAP_H
#define MESHPLAN_RUNTIME_CALIBRATE_OVERLAP_H

#include "runtime/comm/communicator.h"
#include "runtime/schema/cluster_keys.h"

#include <span>

namespace meshplan {

/// Factors by which operations take longer beside others: from 1 to cluster_keys::mostSlowdown.
struct Slowdowns {
  double compute = 1;       ///< of operators while a collective is in flight
  double communication = 1; ///< of a collective while operators run
  double concurrent = 2;    ///< of two collectives at once; 2 where each has half of the rate
};

/// Seconds of one round on a rank.
struct OverlapTimes {
  double gather = 0;              ///< alone
  double compute = 0;             ///< operators alone
  double computeBesideGather = 0; ///< the same operators while the gather runs
  double rest = 0;                ///< of the gather after them
  double twoGathers = 0;          ///< of two communicators at the same time
};

/// The medians of the factors of these rounds, of which there is at least one.
Slowdowns slowdownsOf(std::span<const OverlapTimes> rounds);

/// Measures with all-gathers among all ranks, and matrix products. A collective of all ranks; only the result of rank 0
/// counts. A single rank has nothing to measure.
Expected<Slowdowns> measureSlowdowns(World &world);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_CALIBRATE_OVERLAP_H
