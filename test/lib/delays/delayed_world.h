//===- delayed_world.h - random delays of starts and waits ------*- C++ -*-===//

#ifndef MESHPLAN_TEST_LIB_DELAYS_DELAYED_WORLD_H
#define MESHPLAN_TEST_LIB_DELAYS_DELAYED_WORLD_H

#include "test/lib/delays/wrapped_world.h"

#include <random>

namespace meshplan {

/// Random delays: half of them none, most of the others short, some of a millisecond. Belongs to one thread.
class Delays {
public:
  /// `stream` is the number of this user among those of the seed.
  Delays(uint64_t seed, uint64_t stream) : random(seed * 1'000'003 + stream) {}

  /// Sleeps for the next delay.
  void pass();

private:
  std::mt19937_64 random;
};

/// A world that delays each start and each wait. Collectives of the hosts of a world for devices are not delayed.
class DelayedWorld final : public WrappedWorld {
public:
  /// `inner` must outlive it.
  DelayedWorld(World &inner, uint64_t seed) : WrappedWorld(inner), delays(seed, static_cast<uint64_t>(inner.rank())) {}

private:
  Expected<std::unique_ptr<Group>> makeGroup(std::vector<int64_t> ranks, std::string name, int64_t index) override;

  Delays delays;
};

} // namespace meshplan

#endif // MESHPLAN_TEST_LIB_DELAYS_DELAYED_WORLD_H
