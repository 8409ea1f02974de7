//===- start_on.h - a collective on another group ---------------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_DELAYS_START_ON_H
#define MESHPLAN_TEST_LIB_DELAYS_START_ON_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// Starts the collective on `group`, which has the same ranks, with other buffers.
Expected<Pending> startOn(Group &group, const Collective &collective, const void *input, void *output);

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_DELAYS_START_ON_H
