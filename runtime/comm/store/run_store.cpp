//===- run_store.cpp - ranks that share a store ---------------------------===//

#include "runtime/comm/store/run_store.h"

#include "runtime/comm/store/store_world.h"

#include <condition_variable>
#include <optional>
#include <thread>

using namespace meshplan;

namespace {

using Clock = std::chrono::steady_clock;

// How long a failed rank stays, so that the others hear of the failure and end too.
constexpr std::chrono::milliseconds grace = std::chrono::seconds(2);
constexpr std::chrono::milliseconds watchEvery{100}, askEvery{5};

/// A thread that watches over a rank, which may be busy or stuck.
class Watcher {
public:
  Watcher(StoreWorld &world, const StoreMember &member, const RankOptions &options)
      : world(world), member(member), options(options), thread([this] { watch(); }) {}
  ~Watcher() {
    {
      std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    thread.join();
  }

private:
  void watch() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, watchEvery, [&] { return ending; })) {
      if (Status reason = member.interruption ? member.interruption() : Status(); !reason.ok())
        world.abort(reason);
      Status cause = world.failure();
      if (cause.ok())
        continue;
      since = since ? since : Clock::now();
      if (options.onStuck && !reported && Clock::now() > *since + options.timeout) {
        reported = true;
        options.onStuck(cause, std::span(&member.rank, 1));
      }
    }
  }

  StoreWorld &world;
  const StoreMember &member;
  const RankOptions &options;
  std::mutex mutex;
  std::condition_variable changed;
  bool ending = false, reported = false;
  std::optional<Clock::time_point> since; // when the run has failed
  std::thread thread;                     // last member: the thread uses the others
};

/// Waits until all ranks have ended.
void leaveTogether(StoreWorld &world, std::chrono::milliseconds limit) {
  KeyValueStore &store = world.keyValueStore();
  std::string key = world.keyOf("ended");
  Clock::time_point deadline = Clock::now() + limit;
  auto ended = store.add(key, 1);
  // A rank that has died never adds itself; the deadline ends the wait.
  while (ended && *ended < world.size() && Clock::now() < deadline) {
    std::this_thread::sleep_for(askEvery);
    // Adding 0 reads a counter.
    ended = store.add(key, 0);
  }
}

} // namespace

Status meshplan::runStore(KeyValueStore &store, const StoreMember &member, const RankOptions &options,
                          const RankBody &body) {
  StoreWorld world(store, member, options.timeout);
  Status result;
  {
    // The watcher lives only while the body runs: a rank that waits for others is not stuck.
    Watcher watcher(world, member, options);
    result = runRank(world, options, body);
  }
  bool failed = !result.ok() || !world.failureNow().ok();
  // The store ends with its host, so the host waits for ranks that are still working. Another rank that has succeeded
  // may leave, since what it posted stays in the store.
  std::chrono::milliseconds forHost = member.isHost ? options.timeout + grace : std::chrono::milliseconds(0);
  leaveTogether(world, failed ? std::min(grace, options.timeout) : forHost);
  return result;
}
