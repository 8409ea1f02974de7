//===- run_threads.h - all ranks in one process -----------------*- C++ -*-===//
//
// The `threads` backend: each rank is a thread, and data moves directly between the buffers of the ranks. Needs no
// installed library.
//
// There is no progress thread. A collective has one piece per rank. Once all ranks have started it, the ranks that wait
// for it move the pieces, any rank any piece. So a wait depends only on the peers' starts, ranks may wait in any order,
// and no processor spins.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_RUNTIME_COMM_THREADS_RUN_THREADS_H
#define MESHPLAN_RUNTIME_COMM_THREADS_RUN_THREADS_H

#include "runtime/comm/run_rank.h"

namespace meshplan {

/// Runs `body` once per rank and returns their results in rank order. A failure or an exception of one rank aborts the
/// others; see rootCause.
std::vector<Status> runThreads(int64_t worldSize, const RankOptions &options, const RankBody &body);

} // namespace meshplan

#endif // MESHPLAN_RUNTIME_COMM_THREADS_RUN_THREADS_H
