//===- run_threads.h - all ranks in one process -----------------*- C++ -*-===//
//
// The `threads` backend: each rank is a thread, and data moves directly between the buffers of the ranks. Needs no
// installed library.
//
// A collective has one piece for each of its ranks. When the last rank has started it, its pieces enter the lane of its
// communicator: the lane's collectives begin in order, those of different communicators move at the same time. Pieces
// are moved by
// - progress threads, a few for all ranks of the process, which sleep while there is nothing to move. So data moves
//   while all ranks compute.
// - the ranks that wait for the collective. So with all ranks waiting, no other thread is woken.
// - the last rank to start it, at once, if it is small.
// Which thread moves a piece has no influence on the result: a piece is reduced in the order of the group. A wait
// depends only on the starts of the peers, and no processor spins.
//
// Progress threads take cores from ranks that compute only for as long as the movement takes; there is one for each
// core that the process may use, and at most one for each rank. They end with the run.
//
// Builds with assertions check the order in which the ranks start collectives (issue_order.h).
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
