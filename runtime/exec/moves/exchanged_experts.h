//===- exchanged_experts.h - to which ranks rows go -------------*- C++ -*-===//

#ifndef MESHPLAN_RUNTIME_EXEC_MOVES_EXCHANGED_EXPERTS_H
#define MESHPLAN_RUNTIME_EXEC_MOVES_EXCHANGED_EXPERTS_H

#include "runtime/exec/rank_view.h"

namespace meshplan {

/// True if rows go to their experts, false if they come back. `start` is an exchange.
bool goesToExperts(const RankView &view, const artifact::Start &start);

/// The experts of each rank of the group of an exchange, as columns of its counts.
std::vector<Range> exchangedExperts(const RankView &view, const artifact::Start &start, std::span<const int64_t> group);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_EXEC_MOVES_EXCHANGED_EXPERTS_H
