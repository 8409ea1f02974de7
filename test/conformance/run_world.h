//===- run_world.h - what a backend gives to the conformance suite -*- C++ -*-===//
//
// The suite is compiled with one more source for each backend, which defines
// this function.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_CONFORMANCE_RUN_WORLD_H
#define MESHPLAN_TEST_CONFORMANCE_RUN_WORLD_H

#include "runtime/comm/run_rank.h"

namespace meshplan {

/// Runs `body` on `size` ranks; what each rank returned, in rank order.
std::vector<Status> runWorld(int64_t size, std::chrono::milliseconds timeout, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_TEST_CONFORMANCE_RUN_WORLD_H
