//===- communicator_test.cpp - collectives that a backend gets ------------===//

#include "test/unit/comm/recording_world.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = CollectiveKind;

/// Index 1 of the ranks 4, 7, 9.
class Start : public testing::Test {
protected:
  /// The last collective that the backend got, which must have started.
  const Collective &last(const Expected<Pending> &pending, Kind kind) {
    EXPECT_TRUE(pending.ok()) << pending.status().message();
    EXPECT_EQ(group.started.back().kind, kind);
    EXPECT_EQ(group.started.back().label.sequence, 5);
    EXPECT_EQ(group.started.back().label.origin, "here");
    return group.started.back();
  }

  RecordingGroup group{"tp", {4, 7, 9}, 1};
  const CollectiveLabel label = {.sequence = 5, .origin = "here"};
  int16_t in[8] = {}, out[8] = {};
};

TEST_F(Start, AllReduce) {
  const Collective &asked = last(group.startAllReduce(in, out, 8, DType::i16, Reduction::min, label), Kind::allReduce);
  EXPECT_EQ(asked.input, in);
  EXPECT_EQ(asked.output, out);
  EXPECT_EQ(asked.count, 8);
  EXPECT_EQ(asked.dtype, DType::i16);
  EXPECT_EQ(asked.reduction, Reduction::min);
}

TEST_F(Start, AllGatherOfCountsOrOfOneCount) {
  std::vector<int64_t> counts = {1, 2, 5};
  EXPECT_THAT(last(group.startAllGather(in, out, counts, DType::i16, label), Kind::allGather).receiveCounts,
              ElementsAre(1, 2, 5));
  const Collective &asked = last(group.startAllGather(in, out, 2, DType::i16, label), Kind::allGather);
  EXPECT_THAT(asked.receiveCounts, ElementsAre(2, 2, 2));
  EXPECT_THAT(asked.sendCounts, IsEmpty());
  EXPECT_EQ(asked.input, in);
  EXPECT_EQ(asked.output, out);
}

TEST_F(Start, ReduceScatterOfCountsOrOfOneCount) {
  std::vector<int64_t> counts = {1, 2, 5};
  const Collective &uneven =
      last(group.startReduceScatter(in, out, counts, DType::i16, Reduction::max, label), Kind::reduceScatter);
  EXPECT_THAT(uneven.sendCounts, ElementsAre(1, 2, 5));
  EXPECT_EQ(uneven.reduction, Reduction::max);
  const Collective &even =
      last(group.startReduceScatter(in, out, 2, DType::i16, Reduction::min, label), Kind::reduceScatter);
  EXPECT_THAT(even.sendCounts, ElementsAre(2, 2, 2));
  EXPECT_THAT(even.receiveCounts, IsEmpty());
  EXPECT_EQ(even.reduction, Reduction::min);
}

TEST_F(Start, AllToAll) {
  std::vector<int64_t> sent = {1, 2, 3}, received = {0, 2, 6};
  const Collective &asked = last(group.startAllToAll(in, sent, out, received, DType::i16, label), Kind::allToAll);
  EXPECT_THAT(asked.sendCounts, ElementsAre(1, 2, 3));
  EXPECT_THAT(asked.receiveCounts, ElementsAre(0, 2, 6));
}

TEST_F(Start, PermuteHasOneCountEachWay) {
  auto counts = [&](int64_t to, int64_t from) {
    const Collective &asked = last(group.startPermute(in, 3, to, out, 4, from, DType::i16, label), Kind::permute);
    return std::pair(asked.sendCounts, asked.receiveCounts);
  };
  EXPECT_THAT(counts(2, 0), testing::Pair(ElementsAre(0, 0, 3), ElementsAre(4, 0, 0)));
  EXPECT_THAT(counts(1, 1), testing::Pair(ElementsAre(0, 3, 0), ElementsAre(0, 4, 0))) << "from itself to itself";
  EXPECT_THAT(counts(-1, 2), testing::Pair(ElementsAre(0, 0, 0), ElementsAre(0, 0, 4)));
  EXPECT_THAT(counts(0, -1), testing::Pair(ElementsAre(3, 0, 0), ElementsAre(0, 0, 0)));
}

TEST_F(Start, PermuteBetweenRanksOfTheGroup) {
  for (auto [to, from] : {std::pair(-2, 0), {3, 0}, {0, 3}, {0, -2}})
    EXPECT_EQ(group.startPermute(in, 1, to, out, 1, from, DType::i16).status().message(),
              "permute to " + std::to_string(to) + " and from " + std::to_string(from) + " in a group of 3 ranks");
  EXPECT_THAT(group.started, IsEmpty());
}

TEST_F(Start, Broadcast) {
  const Collective &asked = last(group.startBroadcast(out, 8, DType::i16, 2, label), Kind::broadcast);
  EXPECT_EQ(asked.input, out);
  EXPECT_EQ(asked.output, out);
  EXPECT_EQ(asked.peer, 2);
  EXPECT_EQ(asked.count, 8);
}

TEST_F(Start, SendReceiveAndBarrier) {
  const Collective &send = last(group.startSend(in, 3, DType::i16, 0, label), Kind::send);
  EXPECT_EQ(send.input, in);
  EXPECT_EQ(send.peer, 0);
  EXPECT_EQ(send.count, 3);
  const Collective &receive = last(group.startReceive(out, 4, DType::i16, 2, label), Kind::receive);
  EXPECT_EQ(receive.output, out);
  EXPECT_EQ(receive.peer, 2);
  EXPECT_EQ(receive.count, 4);
  last(group.startBarrier(label), Kind::barrier);
}

TEST_F(Start, WhatIsWrongNeverReachesTheBackend) {
  Status status = group.startAllReduce(in, nullptr, 8, DType::i16, Reduction::sum, label).status();
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), "rank 7: all-reduce 5 on 'tp' (here): no buffer for 8 elements")
      << "the rank is that of the world";
  EXPECT_EQ(group.startSend(in, 1, DType::i16, 1).status().message(),
            "rank 7: send on 'tp': rank 1 of the group is its own peer");
  EXPECT_THAT(group.started, IsEmpty());
}

TEST_F(Start, WaitForReturnsWhicheverFailure) {
  EXPECT_TRUE(waitFor(group.startBarrier()).ok());
  EXPECT_EQ(waitFor(group.startSend(in, -1, DType::i16, 0)).message(), "rank 7: send on 'tp': count -1 is negative");
  group.waitStatus = Status(StatusCode::timeout, "too late");
  EXPECT_EQ(waitFor(group.startBarrier()).message(), "too late");
}

TEST(CreateGroup, FindsTheRankInTheList) {
  RecordingWorld world(10, 7);
  auto group = world.createGroup({9, 4, 7}, "tp");
  ASSERT_TRUE(group.ok()) << group.status().message();
  EXPECT_EQ((*group)->index(), 2);
  EXPECT_EQ((*group)->size(), 3);
  EXPECT_EQ((*group)->name(), "tp");
  EXPECT_THAT((*group)->ranks(), ElementsAre(9, 4, 7));
}

TEST(CreateGroup, OfTheWholeWorld) {
  RecordingWorld world(4, 2);
  auto group = world.createWorldGroup("world");
  ASSERT_TRUE(group.ok());
  EXPECT_THAT((*group)->ranks(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ((*group)->index(), 2);
}

TEST(CreateGroup, Refusals) {
  RecordingWorld world(3, 1);
  auto refusal = [&](std::vector<int64_t> ranks) {
    Status status = world.createGroup(std::move(ranks), "g").status();
    EXPECT_EQ(status.code(), StatusCode::invalid);
    return status.message();
  };
  for (const std::vector<int64_t> &outside : {std::vector<int64_t>{}, {0, 1, 3}, {-1, 1}, {1, INT64_MAX}})
    EXPECT_EQ(refusal(outside), "group 'g' has a rank outside of the world of 3");
  EXPECT_EQ(refusal({1, 0, 1}), "group 'g' has a rank twice");
  EXPECT_EQ(refusal({0, 2}), "rank 1 is not in group 'g'");
}

TEST(RootCause, PrefersWhatStartedTheOthers) {
  Status aborted(StatusCode::aborted, "aborted"), lost(StatusCode::peerLost, "lost"), timeout(StatusCode::timeout, "t"),
      invalid(StatusCode::invalid, "i");
  EXPECT_EQ(rootCause(std::vector{aborted, Status(), lost, timeout}).message(), "t");
  EXPECT_EQ(rootCause(std::vector{timeout, invalid}).message(), "t") << "the first of several";
  EXPECT_EQ(rootCause(std::vector{Status(), lost, aborted}).message(), "lost");
  EXPECT_TRUE(rootCause(std::vector{Status(), Status()}).ok());
  EXPECT_TRUE(rootCause({}).ok());
}

} // namespace
} // namespace meshplan
