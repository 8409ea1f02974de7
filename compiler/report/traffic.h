//===- traffic.h - bytes that a collective moves ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_TRAFFIC_H
#define MESHPLAN_COMPILER_REPORT_TRAFFIC_H

#include "dialect/sched/sched.h"

namespace meshplan {

/// Bytes that the rank with the largest shards sends and receives in a collective of n ranks on a ring. B is the size
/// of its tensor where it is not split over the communicator (the result of a gather, the input of the others):
///
///   all_gather, reduce_scatter   2 (n - 1) / n B    each of n - 1 steps sends and receives a piece
///   all_reduce                   4 (n - 1) / n B    a reduce-scatter and an all-gather
///   all_to_all                   2 (n - 1) / n B    all of its shard but the piece that it keeps
///   permute                      2 B
///
/// Rounded down.
int64_t trafficBytes(sched::CollectiveKind kind, int64_t ranks, int64_t bytes);

/// The same for a collective of a program.
int64_t trafficBytes(sched::StartOp start, int64_t ranks);

/// B of a collective of a program.
int64_t tensorBytes(sched::StartOp start);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_TRAFFIC_H
