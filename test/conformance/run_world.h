//===- run_world.h - a backend's part of the conformance suite --*- C++ -*-===//
//
// The suite is linked with one more source for each backend, which defines runBackend and omissions.
//
// With MESHPLAN_DELAYS=SEED in the environment, starts, waits and progress are delayed by random times.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_TEST_CONFORMANCE_RUN_WORLD_H
#define MESHPLAN_TEST_CONFORMANCE_RUN_WORLD_H

#include "runtime/comm/run_rank.h"

namespace meshplan {

/// Runs `body` on `size` ranks and returns their results in rank order.
std::vector<Status> runWorld(int64_t size, std::chrono::milliseconds timeout, const RankBody &body);

struct BackendOptions {
  std::chrono::milliseconds timeout;
  std::function<void()> beforeProgress; ///< see RankOptions; a backend without progress threads does not call it
};

/// As runWorld, without delays of starts and waits.
std::vector<Status> runBackend(int64_t size, const BackendOptions &options, const RankBody &body);

/// What a backend does not support, as communicator.h allows. Each text is the reason; empty: supported.
struct Omissions {
  std::string order;                                    ///< sums add in the order of the ranks
  std::string disagreement;                             ///< ranks that ask for different things are distinguished
  std::string (*reduction)(DType, Reduction) = nullptr; ///< null: all are there
};
Omissions omissions();

} // namespace meshplan

/// At the beginning of a test of something that some backends do not support.
#define MESHPLAN_SKIP_IF_OMITTED(reason)                                                                               \
  if (std::string omitted_ = (reason); !omitted_.empty())                                                              \
  GTEST_SKIP() << omitted_

#endif // MESHPLAN_TEST_CONFORMANCE_RUN_WORLD_H
