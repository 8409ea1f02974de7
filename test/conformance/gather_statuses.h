//===- gather_statuses.h - what the ranks returned, everywhere ---*- C++ -*-===//

#ifndef MESHPLAN_TEST_CONFORMANCE_GATHER_STATUSES_H
#define MESHPLAN_TEST_CONFORMANCE_GATHER_STATUSES_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// For a suite whose ranks are processes, each of which looks at what all have returned. All ranks call it.
Status gatherStatuses(World &world, const Status &own, std::vector<Status> &statuses);

} // namespace meshplan

#endif // MESHPLAN_TEST_CONFORMANCE_GATHER_STATUSES_H
