//===- threads_world_test.cpp - groups that the ranks of a run share ------===//

#include "runtime/comm/threads/threads_world.h"

#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace meshplan {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

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

/// Two ranks of one thread: starting a collective on one does not wait for the other. All sum equal integers, more than
/// are moved at once. There is no progress thread.
class ThreadsGroupTest : public testing::Test {
protected:
  static constexpr int64_t count = 20'000;

  struct Rank {
    std::unique_ptr<ThreadsWorld> world;
    std::unique_ptr<Group> group;
    std::vector<int32_t> inputs = std::vector<int32_t>(count), outputs = inputs;
    int32_t &input = inputs.back(), &output = outputs.back();
    Pending pending;

    std::string start() {
      std::ranges::fill(inputs, input);
      std::ranges::fill(outputs, 0);
      Expected<Pending> started =
          group->startAllReduce(inputs.data(), outputs.data(), count, DType::i32, Reduction::sum);
      if (!started.ok())
        return started.status().message();
      pending = std::move(*started);
      return "";
    }
    Status wait(milliseconds limit = milliseconds(1000)) { return pending->wait(limit); }
  };

  ThreadsGroupTest() {
    for (int64_t rank = 0; rank < 2; ++rank) {
      ranks[rank].world = std::make_unique<ThreadsWorld>(run, rank);
      auto group = ranks[rank].world->createWorldGroup("tp");
      EXPECT_TRUE(group.ok());
      ranks[rank].group = std::move(*group);
      ranks[rank].input = rank == 0 ? 3 : 40;
    }
  }

  /// The number of collectives of the group that some rank has not started.
  size_t open() {
    size_t count = 0;
    for (const auto &[key, state] : run.groups)
      if (std::shared_ptr<ThreadsGroupState> alive = state.lock())
        count += alive->open.size();
    return count;
  }

  ThreadsRun run{2, milliseconds(1000)};
  Rank ranks[2];
};

TEST_F(ThreadsGroupTest, WhoWaitsFirstMovesForAll) {
  EXPECT_EQ(ranks[0].start(), "");
  EXPECT_EQ(open(), 1u);
  EXPECT_EQ(ranks[1].start(), "");
  EXPECT_EQ(open(), 0u) << "it is not needed any more";
  EXPECT_EQ(ranks[1].output, 0) << "a start moves nothing";
  EXPECT_TRUE(ranks[0].wait().ok());
  EXPECT_EQ(ranks[0].output, 43);
  EXPECT_EQ(ranks[1].output, 43);
  EXPECT_TRUE(ranks[1].wait(milliseconds(0)).ok());
  EXPECT_TRUE(run.cause.ok());
}

TEST_F(ThreadsGroupTest, TheNextCollectiveIsAnotherExchange) {
  EXPECT_EQ(ranks[0].start(), "");
  Pending first = std::move(ranks[0].pending);
  int32_t own = 7, second = 0;
  auto next = ranks[0].group->startAllReduce(&own, &second, 1, DType::i32, Reduction::sum);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(open(), 2u);
  EXPECT_EQ(ranks[1].start(), "");
  EXPECT_TRUE(first->wait().ok());
  EXPECT_EQ(ranks[0].output, 43);
  EXPECT_TRUE(ranks[1].wait().ok());
  int32_t others = 90, sum = 0;
  auto last = ranks[1].group->startAllReduce(&others, &sum, 1, DType::i32, Reduction::sum);
  EXPECT_TRUE((*next)->wait().ok() && (*last)->wait().ok());
  EXPECT_EQ(second, 97);
}

TEST_F(ThreadsGroupTest, SendsOfAPairAreCountedApart) {
  int32_t sent[2] = {1, 2}, received[2] = {0, 0};
  auto first = ranks[0].group->startSend(&sent[0], 1, DType::i32, 1);
  EXPECT_EQ(ranks[0].start(), "");
  auto second = ranks[0].group->startSend(&sent[1], 1, DType::i32, 1);
  EXPECT_EQ(open(), 3u);
  auto one = ranks[1].group->startReceive(&received[0], 1, DType::i32, 0);
  EXPECT_EQ(ranks[1].start(), "");
  auto two = ranks[1].group->startReceive(&received[1], 1, DType::i32, 0);
  EXPECT_EQ(open(), 0u);
  for (auto *pending : {&two, &one, &second, &first})
    EXPECT_TRUE(pending->ok() && (**pending)->wait().ok());
  EXPECT_THAT(received, ElementsAre(1, 2));
  EXPECT_TRUE(ranks[0].wait().ok() && ranks[1].wait().ok());
}

TEST_F(ThreadsGroupTest, BothDirectionsOfAPairAreApart) {
  int32_t sent[2] = {1, 2}, received[2] = {0, 0};
  auto a = ranks[0].group->startSend(&sent[0], 1, DType::i32, 1);
  auto b = ranks[0].group->startReceive(&received[0], 1, DType::i32, 1);
  auto c = ranks[1].group->startReceive(&received[1], 1, DType::i32, 0);
  auto d = ranks[1].group->startSend(&sent[1], 1, DType::i32, 0);
  for (auto *pending : {&a, &b, &c, &d})
    EXPECT_TRUE(pending->ok() && (**pending)->wait().ok());
  EXPECT_THAT(received, ElementsAre(2, 1));
}

TEST_F(ThreadsGroupTest, AWaitEndsTheRunWhenItsTimeIsOver) {
  EXPECT_EQ(ranks[0].start(), "");
  Status late = ranks[0].wait(milliseconds(10));
  EXPECT_EQ(late.code(), StatusCode::timeout);
  EXPECT_EQ(late.message(), "rank 0: all-reduce on 'tp': time-out after 0.01 s: rank 1 did not arrive");
  EXPECT_EQ(ranks[0].wait().message(), late.message()) << "a later wait says the same";
  EXPECT_EQ(ranks[1].start(), "rank 1: all-reduce on 'tp': aborted: " + late.message());
}

TEST_F(ThreadsGroupTest, RanksThatDisagreeBothFail) {
  EXPECT_EQ(ranks[0].start(), "");
  int32_t two[2] = {};
  auto other = ranks[1].group->startAllReduce(two, two, 2, DType::i32, Reduction::sum);
  ASSERT_TRUE(other.ok());
  Status own = ranks[0].wait(), others = (*other)->wait();
  EXPECT_EQ(own.code(), StatusCode::invalid);
  EXPECT_EQ(own.message(), "rank 0: all-reduce on 'tp': the ranks disagree: rank 0 has 20000 elements, rank 1 has 2 "
                           "elements");
  EXPECT_EQ(others.code(), StatusCode::aborted);
  EXPECT_EQ(others.message(), "rank 1: all-reduce on 'tp': aborted: " + own.message());
  EXPECT_EQ(ranks[0].output, 0);
}

TEST_F(ThreadsGroupTest, LeavingWithoutAWaitEndsTheRun) {
  EXPECT_EQ(ranks[0].start(), "");
  EXPECT_EQ(ranks[1].start(), "");
  ranks[0].pending.reset();
  EXPECT_EQ(run.cause.code(), StatusCode::peerLost);
  EXPECT_EQ(run.cause.message(), "rank 0: all-reduce on 'tp': ended before its wait");
  Status other = ranks[1].wait();
  EXPECT_EQ(other.code(), StatusCode::peerLost);
  EXPECT_EQ(ranks[1].output, 0) << "the buffers of rank 0 may be gone";
}

TEST_F(ThreadsGroupTest, WhatAnotherRankHasMovedNeedsNoWait) {
  EXPECT_EQ(ranks[0].start(), "");
  EXPECT_EQ(ranks[1].start(), "");
  EXPECT_TRUE(ranks[0].wait().ok());
  ranks[1].pending.reset();
  EXPECT_TRUE(run.cause.ok());
}

TEST_F(ThreadsGroupTest, TheLastToStartMovesWhatIsSmall) {
  int32_t own[2] = {5, 60}, sums[2] = {};
  auto first = ranks[0].group->startAllReduce(&own[0], &sums[0], 1, DType::i32, Reduction::sum);
  EXPECT_EQ(sums[0], 0);
  auto second = ranks[1].group->startAllReduce(&own[1], &sums[1], 1, DType::i32, Reduction::sum);
  EXPECT_THAT(sums, ElementsAre(65, 65)) << "no rank has waited";
  EXPECT_TRUE((*first)->wait(milliseconds(0)).ok() && (*second)->wait(milliseconds(0)).ok());
}

TEST_F(ThreadsGroupTest, WhatIsSmallStaysInItsLane) {
  // Rank 0 waits for the second collective of the group, and so moves the first.
  EXPECT_EQ(ranks[0].start(), "");
  EXPECT_EQ(ranks[1].start(), "");
  int32_t own[2] = {5, 60}, sums[2] = {};
  auto first = ranks[0].group->startAllReduce(&own[0], &sums[0], 1, DType::i32, Reduction::sum);
  auto second = ranks[1].group->startAllReduce(&own[1], &sums[1], 1, DType::i32, Reduction::sum);
  EXPECT_THAT(sums, ElementsAre(0, 0));
  EXPECT_TRUE((*first)->wait().ok());
  EXPECT_THAT(sums, ElementsAre(65, 65));
  EXPECT_EQ(ranks[1].output, 43);
  EXPECT_TRUE((*second)->wait().ok() && ranks[0].wait().ok() && ranks[1].wait().ok());
}

TEST_F(ThreadsGroupTest, AWaitLeavesOtherLanesAlone) {
  auto dp0 = ranks[0].world->createWorldGroup("dp"), dp1 = ranks[1].world->createWorldGroup("dp");
  EXPECT_EQ(ranks[0].start(), "");
  EXPECT_EQ(ranks[1].start(), "");
  std::vector<int32_t> own(count, 1), sums(count), others(count);
  auto first = (*dp0)->startAllReduce(own.data(), sums.data(), count, DType::i32, Reduction::sum);
  auto second = (*dp1)->startAllReduce(own.data(), others.data(), count, DType::i32, Reduction::sum);
  EXPECT_TRUE((*first)->wait().ok());
  EXPECT_EQ(others.back(), 2);
  EXPECT_EQ(ranks[0].output, 0);
  EXPECT_TRUE((*second)->wait().ok() && ranks[0].wait().ok() && ranks[1].wait().ok());
}

TEST_F(ThreadsGroupTest, WhatWasDoneBeforeTheRunEndedIsDone) {
  EXPECT_EQ(ranks[0].start(), "");
  EXPECT_EQ(ranks[1].start(), "");
  EXPECT_TRUE(ranks[0].wait().ok());
  ranks[0].world->abort(Status(StatusCode::internal, "broken"));
  EXPECT_TRUE(ranks[1].wait().ok());
  EXPECT_EQ(ranks[1].output, 43);
  EXPECT_EQ(ranks[1].start(), "rank 1: all-reduce on 'tp': aborted: broken");
}

} // namespace
} // namespace meshplan
