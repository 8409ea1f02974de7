//===- run_world.cpp - the suite with and without delays ------------------===//

#include "test/conformance/run_world.h"

#include "test/lib/delays/delayed_world.h"

#include <atomic>
#include <cstdlib>

using namespace meshplan;

std::vector<Status> meshplan::runWorld(int64_t size, std::chrono::milliseconds timeout, const RankBody &body) {
  const char *given = std::getenv("MESHPLAN_DELAYS");
  if (!given)
    return runBackend(size, {timeout, nullptr}, body);
  static int64_t runs = 0;
  uint64_t seed = std::strtoull(given, nullptr, 10) + static_cast<uint64_t>(runs++) * 1'000;
  // Progress threads may call at the same time, so that each delay is that of a new stream.
  std::atomic<uint64_t> streams = 1'000;
  BackendOptions options{timeout, [&] { Delays(seed, streams++).pass(); }};
  return runBackend(size, options, [&](World &world) {
    DelayedWorld delayed(world, seed);
    return body(delayed);
  });
}
