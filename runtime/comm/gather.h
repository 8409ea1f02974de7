//===- gather.h - what the ranks report to the first one ---------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_GATHER_H
#define MESHPLAN_RUNTIME_COMM_GATHER_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// All ranks call it. Rank 0 gets the texts of all, in rank order; the others get none.
Expected<std::vector<std::string>> gatherAtFirst(World &world, const std::string &text);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_GATHER_H
