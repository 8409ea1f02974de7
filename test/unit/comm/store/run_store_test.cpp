//===- run_store_test.cpp - ranks that share a store ----------------------===//

#include "runtime/comm/store/run_store.h"

#include "test/lib/map_store/map_store.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace meshplan {
namespace {

using Clock = std::chrono::steady_clock;

/// Ranks as threads; `options` and `member` are those of all.
std::vector<Status> run(KeyValueStore &store, int64_t size, const RankOptions &options, const RankBody &body,
                        StoreMember member = {}) {
  std::vector<Status> statuses(size);
  std::vector<std::thread> threads;
  member.run = "test";
  member.size = size;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank, own = member]() mutable {
      own.rank = rank;
      statuses[rank] = runStore(store, own, options, body);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

RankOptions withTimeout(std::chrono::milliseconds timeout) {
  return {.timeout = timeout, .onFailure = nullptr, .onStuck = nullptr};
}

Status sum(World &world) {
  MESHPLAN_ASSIGN_OR_RETURN(auto group, world.createWorldGroup("g"));
  float value = 1;
  return waitFor(group->startAllReduce(&value, &value, 1, DType::f32, Reduction::sum));
}

TEST(RunStore, LeavesNothingOfACollectiveBehind) {
  MapStore store;
  for (const Status &status : run(store, 3, withTimeout(std::chrono::seconds(60)), sum))
    EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(store.size(), 1u) << "how many ranks have ended";
}

TEST(RunStore, AReasonFromOutsideEndsAllRanks) {
  MapStore store;
  StoreMember member;
  member.interruption = [] { return Status(StatusCode::aborted, "told to stop"); };
  std::vector<Status> statuses = run(
      store, 2, withTimeout(std::chrono::seconds(60)),
      [](World &world) -> Status {
        for (;;)
          MESHPLAN_RETURN_IF_ERROR(sum(world));
      },
      member);
  for (const Status &status : statuses)
    EXPECT_THAT(status.message(), testing::EndsWith("told to stop"));
}

TEST(RunStore, ReportsARankThatIsStuck) {
  MapStore store;
  std::atomic<int64_t> stuck = -1;
  RankOptions options = withTimeout(std::chrono::milliseconds(200));
  options.onStuck = [&](const Status &cause, std::span<const int64_t> ranks) {
    EXPECT_EQ(cause.message(), "rank 0 failed: the loss is not a number");
    stuck = ranks.front();
  };
  std::vector<Status> statuses = run(store, 2, options, [&](World &world) {
    while (world.rank() == 1 && stuck < 0)
      std::this_thread::yield();
    return world.rank() == 0 ? Status(StatusCode::invalid, "the loss is not a number") : Status();
  });
  EXPECT_EQ(stuck, 1);
}

TEST(RunStore, ARankThatWaitsForTheOthersToEndIsNotStuck) {
  // Rank 2 never ends, and rank 1 ends a while after the failure: rank 0 waits longer than the time-out.
  MapStore store;
  RankOptions options = withTimeout(std::chrono::seconds(2));
  std::atomic<bool> stuck = false;
  options.onStuck = [&](const Status &, std::span<const int64_t>) { stuck = true; };
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      StoreMember member{.run = "test", .rank = rank, .size = 3, .interruption = nullptr};
      (void)runStore(store, member, options, [](World &world) {
        if (world.rank() == 1)
          std::this_thread::sleep_for(std::chrono::milliseconds(500));
        return Status(StatusCode::invalid, "the loss is not a number");
      });
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(stuck);
}

TEST(RunStore, AVeryLongMessageArrivesInPart) {
  MapStore store;
  std::string text(3 * KeyValueStore::largestValue, 'x');
  std::vector<Status> statuses = run(store, 2, withTimeout(std::chrono::seconds(60)), [&](World &world) {
    return world.rank() == 0 ? Status(StatusCode::invalid, text) : sum(world);
  });
  EXPECT_EQ(statuses[0].message(), text);
  EXPECT_THAT(statuses[1].message(), testing::HasSubstr("rank 0 failed: xxx"));
  EXPECT_LT(statuses[1].message().size(), KeyValueStore::largestValue);
}

TEST(RunStore, TheHostOfTheStoreStaysForTheOthers) {
  MapStore store;
  std::atomic<bool> done = false;
  std::thread other;
  StoreMember host{.run = "test", .rank = 0, .size = 2, .isHost = true, .interruption = nullptr};
  StoreMember late{.run = "test", .rank = 1, .size = 2, .interruption = nullptr};
  RankOptions options = withTimeout(std::chrono::seconds(60));
  other = std::thread([&] {
    (void)runStore(store, late, options, [&](World &) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      done = true;
      return Status();
    });
  });
  EXPECT_TRUE(runStore(store, host, options, [](World &) { return Status(); }).ok());
  EXPECT_TRUE(done);
  other.join();
}

/// Lost from the first call on.
class LostStore final : public KeyValueStore {
public:
  Status set(const std::string &, const std::string &) override { return gone(); }
  Expected<std::string> get(const std::string &) override { return gone(); }
  Expected<std::string> setOnce(const std::string &, const std::string &) override { return gone(); }
  Expected<bool> has(const std::vector<std::string> &) override { return gone(); }
  Expected<int64_t> add(const std::string &, int64_t) override { return gone(); }
  Status remove(const std::string &) override { return gone(); }

private:
  static Status gone() { return Status(StatusCode::peerLost, "the store is gone"); }
};

TEST(RunStore, AStoreThatIsGone) {
  LostStore store;
  Clock::time_point begin = Clock::now();
  StoreMember member{.run = "test", .rank = 0, .size = 2, .isHost = true, .interruption = nullptr};
  Status status = runStore(store, member, withTimeout(std::chrono::seconds(60)), sum);
  EXPECT_EQ(status.code(), StatusCode::peerLost);
  EXPECT_THAT(status.message(), testing::EndsWith("the store is gone"));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
}

} // namespace
} // namespace meshplan
