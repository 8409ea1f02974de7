//===- threads_world_test.cpp - groups that the ranks of a run share ------===//

#include "runtime/comm/threads/threads_world.h"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace meshplan {
namespace {

using std::chrono::milliseconds;

class ThreadsWorldTest : public testing::Test {
protected:
  std::unique_ptr<Group> group(int64_t rank, std::vector<int64_t> ranks, const std::string &name = "tp") {
    auto made = worlds[rank].createGroup(std::move(ranks), name);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? std::move(*made) : nullptr;
  }

  /// Whether a barrier that starts on the first group matches the one that starts on the second.
  static bool meet(Group &first, Group &second) {
    auto one = first.startBarrier(), two = second.startBarrier();
    EXPECT_TRUE(one.ok() && two.ok());
    return (*one)->wait(milliseconds(0)).ok() && (*two)->wait(milliseconds(0)).ok();
  }

  ThreadsRun run{3, milliseconds(1234)};
  ThreadsWorld worlds[3] = {{run, 0}, {run, 1}, {run, 2}};
};

TEST_F(ThreadsWorldTest, EachRankSeesTheSameRun) {
  for (int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(worlds[rank].rank(), rank);
    EXPECT_EQ(worlds[rank].size(), 3);
    EXPECT_EQ(worlds[rank].timeout(), milliseconds(1234));
  }
}

TEST_F(ThreadsWorldTest, GroupsHaveTheOrderOfTheirList) {
  auto made = group(1, {2, 1}, "odd");
  EXPECT_EQ(made->name(), "odd");
  EXPECT_EQ(made->index(), 1);
  EXPECT_THAT(made->ranks(), testing::ElementsAre(2, 1));
}

TEST_F(ThreadsWorldTest, TheSameNameAndRanksAreTheSameGroup) {
  auto first = group(0, {0, 1}), second = group(1, {0, 1});
  EXPECT_EQ(run.groups.size(), 1u);
  EXPECT_TRUE(meet(*first, *second));
}

TEST_F(ThreadsWorldTest, AnotherNameIsAnotherGroup) {
  auto first = group(0, {0, 1}, "tp"), second = group(1, {0, 1}, "dp");
  EXPECT_FALSE(meet(*first, *second));
}

TEST_F(ThreadsWorldTest, OtherRanksAreAnotherGroup) {
  auto first = group(0, {0, 1}), second = group(1, {1, 0});
  EXPECT_FALSE(meet(*first, *second));
}

TEST_F(ThreadsWorldTest, TheSecondOfANameIsTheSecondOnEveryRank) {
  auto first = group(0, {0, 1}), again = group(0, {0, 1});
  auto other = group(1, {0, 1}), otherAgain = group(1, {0, 1});
  EXPECT_TRUE(meet(*again, *otherAgain));
  EXPECT_TRUE(meet(*first, *other));
  EXPECT_FALSE(meet(*first, *otherAgain));
}

TEST_F(ThreadsWorldTest, AGroupThatWasLeftIsNotMetAgain) {
  group(0, {0, 1}).reset();
  auto again = group(0, {0, 1}), first = group(1, {0, 1});
  EXPECT_FALSE(meet(*again, *first));
}

TEST_F(ThreadsWorldTest, TheFirstCauseCounts) {
  worlds[2].abort(Status(StatusCode::invalid, "first"));
  worlds[0].abort(Status(StatusCode::internal, "second"));
  EXPECT_EQ(run.cause.message(), "first");
  auto started = group(1, {0, 1})->startBarrier();
  EXPECT_EQ(started.status().message(), "rank 1: barrier on 'tp': aborted: first");
}

TEST_F(ThreadsWorldTest, AnAbortWakesWhoWaits) {
  auto waiting = group(0, {0, 1});
  std::atomic<bool> started = false;
  Status status;
  std::thread rank([&] {
    auto pending = waiting->startBarrier();
    started = true;
    status = (*pending)->wait(std::chrono::seconds(60));
  });
  while (!started)
    std::this_thread::yield();
  worlds[1].abort(Status(StatusCode::internal, "broken"));
  rank.join();
  EXPECT_EQ(status.message(), "rank 0: barrier on 'tp': aborted while waiting for rank 1: broken");
}

TEST_F(ThreadsWorldTest, AnAbortReturnsWhenNoPieceMoves) {
  run.moving = 1;
  std::atomic<bool> returned = false;
  std::thread rank([&] {
    worlds[0].abort(Status(StatusCode::internal, "broken"));
    returned = true;
  });
  for (bool aborted = false; !aborted;) {
    std::unique_lock lock(run.mutex);
    aborted = !run.cause.ok();
  }
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(returned) << "a piece may use the buffers of rank 0";
  {
    std::unique_lock lock(run.mutex);
    run.moving = 0;
    run.idle.notify_all();
  }
  rank.join();
  EXPECT_TRUE(returned);
}

} // namespace
} // namespace meshplan
