//===- gather.h - texts to and from rank 0 ----------------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_COMM_GATHER_H
#define MESHPLAN_RUNTIME_COMM_GATHER_H

#include "runtime/comm/communicator.h"

namespace meshplan {

/// A collective of all ranks. Rank 0 receives the texts of all ranks, in rank order; the others receive none.
Expected<std::vector<std::string>> gatherAtFirst(World &world, const std::string &text);

/// A collective of all ranks. Gives all of them the text of rank 0; `what` is for messages.
Status shareFromFirst(World &world, std::string &text, const std::string &what);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_GATHER_H
