//===- delayed_world.cpp - random delays of starts and waits --------------===//

#include "test/lib/delays/delayed_world.h"

#include "test/lib/delays/start_on.h"

#include <thread>

using namespace meshplan;

void Delays::pass() {
  uint64_t drawn = random();
  if (drawn % 2 == 0)
    return;
  uint64_t longest = drawn % 16 == 1 ? 1000 : 100; // microseconds
  std::this_thread::sleep_for(std::chrono::microseconds((drawn >> 8) % longest));
}

namespace {

class DelayedPending final : public PendingCollective {
public:
  DelayedPending(Pending inner, Delays &delays) : inner(std::move(inner)), delays(delays) {}

  Status wait() override {
    delays.pass();
    return inner->wait();
  }
  Status wait(std::chrono::milliseconds limit) override {
    delays.pass();
    return inner->wait(limit);
  }
  std::vector<int64_t> missing() override { return inner->missing(); }

private:
  Pending inner;
  Delays &delays;
};

class DelayedGroup final : public Group {
public:
  DelayedGroup(std::unique_ptr<Group> inner, Delays &delays)
      : Group(inner->name(), {inner->ranks().begin(), inner->ranks().end()}, inner->index()), inner(std::move(inner)),
        delays(delays) {}

  bool reduces(DType dtype, Reduction reduction) const override { return inner->reduces(dtype, reduction); }
  Status connectPairs() override { return inner->connectPairs(); }

private:
  Expected<Pending> start(Collective collective) override {
    delays.pass();
    MESHPLAN_ASSIGN_OR_RETURN(Pending pending, startOn(*inner, collective, collective.input, collective.output));
    return Pending(std::make_unique<DelayedPending>(std::move(pending), delays));
  }

  std::unique_ptr<Group> inner;
  Delays &delays;
};

} // namespace

Expected<std::unique_ptr<Group>> DelayedWorld::makeGroup(std::vector<int64_t> ranks, std::string name, int64_t) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, inner.createGroup(std::move(ranks), std::move(name)));
  return std::unique_ptr<Group>(std::make_unique<DelayedGroup>(std::move(group), delays));
}
