//===- traffic.h - bytes that a collective moves ----------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_TRAFFIC_H
#define MESHPLAN_COMPILER_REPORT_TRAFFIC_H

#include "dialect/sched/sched.h"

namespace meshplan {

/// Reports count bytes in both directions: what a rank sends (base::sentBytes) and the same number that it receives,
/// rounded down.
inline int64_t trafficBytes(double sent) { return static_cast<int64_t>(2 * sent); }

/// The bytes of a collective of a program on the rank with the largest shards. `ranks` is the size of the group. With
/// `element`, the bytes if its tensors had this element type.
int64_t trafficBytes(sched::StartOp start, int64_t ranks, mlir::Type element = {});

/// The bytes that an exchange of rows of experts sends and receives on the rank with the most rows.
int64_t exchangeBytes(sched::StartOp start, int64_t ranks, RowLoad load);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_TRAFFIC_H
