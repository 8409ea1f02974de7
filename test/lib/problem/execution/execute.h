//===- execute.h - lists of steps on the backend `threads` ------*- C++ -*-===//
//
// Runs the lists that solve scheduling problems on the backend `threads`, with random delays of every rank, of progress
// threads and of computing. Lists that pass verify() must end with the right elements; lists that wait for each other
// must hang, or be reported. verify() itself is not called.
//
// Each rank walks the list of its coordinate:
// - `start` of a collective starts an all-reduce on the communicator's group, which is its lane. Its elements follow
//   from operation and rank; its `wait` compares the result with the sum over all ranks.
// - `start` of a copy gives it to a CopyLane (runtime/tensor/copy_lane.h), one for each lane of copies of the problem;
//   its `wait` compares what arrived.
// - `run` sleeps.
// - Every operation writes elements of its own into the buffers that it produces. It checks the elements of the buffers
//   that it consumes when it begins, and again at its wait if it is asynchronous. `free` frees a buffer. So an
//   operation that begins too early is an error, and so is a buffer that is freed or overwritten too early.
//
// Ranks: the problem has the smallest mesh that its communicators fit. Of several coordinates each has such a mesh, and
// their lists run together. What several coordinates take part in (Operation::instances) is an all-reduce over the
// ranks with the same number in these coordinates, in a group of its own for each instance. It stands for a pair of
// send and receive as well, because a problem does not say who sends. The backend has no grouped launches; the
// instances of one launch start in an order that agrees with all lists, if there is one.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_EXECUTE_H
#define MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_EXECUTE_H

#include "compiler/scheduling/solution.h"
#include "runtime/base/status.h"

#include <chrono>

namespace meshplan::scheduling {

struct ExecutionOptions {
  uint64_t seed = 0;                                            ///< of delays and of the sizes of buffers
  std::chrono::milliseconds timeout = std::chrono::seconds(60); ///< of a wait for other ranks
  bool checksOrder = true;                                      ///< see RankOptions
};

/// Runs the lists of all coordinates of one model, or of one problem. Their problems have passed check(); their
/// solutions have no choices (resolve() them first).
///
/// Fails with `timeout` if ranks wait for each other longer than the time-out: a hang. With `invalid` if the backend
/// finds that the ranks start what they share in different orders or wait for each other; only builds with assertions
/// look (runtime/comm/threads/issue_order.h). With `internal` if elements are wrong, or a step has nothing to work on.
/// The message names rank and operation. If a thread hangs elsewhere than in a wait for other ranks, it does not
/// return.
Status execute(llvm::ArrayRef<Coordinate> coordinates, const ExecutionOptions &options);

/// The number of ranks that execute() needs.
int64_t ranksOf(llvm::ArrayRef<Coordinate> coordinates);

} // namespace meshplan::scheduling

#endif // MESHPLAN_TEST_LIB_PROBLEM_EXECUTION_EXECUTE_H
