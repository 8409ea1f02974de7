//===- exchange_test.cpp - one collective, piece by piece -----------------===//

#include "runtime/comm/threads/exchange.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using Kind = CollectiveKind;
using Ints = std::vector<int32_t>;
using testing::ElementsAre;
using testing::IsEmpty;

/// The initial value of elements that a rank does not receive.
constexpr int32_t untouched = -77;

/// The ranks 10, 11, ... of one collective, with buffers of i32.
class Ranks {
public:
  /// The contribution of each rank, and the number of elements that it receives.
  Ranks(std::vector<Ints> given, const std::vector<size_t> &sizes) : inputs(std::move(given)) {
    std::vector<int64_t> ranks, indices;
    for (size_t i = 0; i < inputs.size(); ++i) {
      outputs.emplace_back(sizes[i], untouched);
      ranks.push_back(static_cast<int64_t>(10 + i));
      indices.push_back(static_cast<int64_t>(i));
    }
    exchange.emplace(ranks, indices);
  }

  void arrive(size_t slot, Collective collective) {
    collective.dtype = DType::i32;
    collective.input = inputs[slot].data();
    collective.output = outputs[slot].data();
    bool isLast = exchange->arrive(static_cast<int64_t>(slot), std::move(collective), "tp");
    EXPECT_EQ(isLast, exchange->ready());
  }
  void arriveAll(const Collective &collective) {
    for (size_t slot = 0; slot < inputs.size(); ++slot)
      arrive(slot, collective);
    EXPECT_TRUE(exchange->error().ok()) << exchange->error().message();
  }
  const std::vector<Ints> &moveAll() {
    for (int64_t slot = 0; slot < exchange->size(); ++slot)
      exchange->movePiece(slot);
    return outputs;
  }

  std::vector<Ints> inputs, outputs;
  std::optional<Exchange> exchange;
};

TEST(Exchange, IsReadyWhenTheLastRankHasArrived) {
  Ranks ranks({{}, {}, {}}, {0, 0, 0});
  EXPECT_THAT(ranks.exchange->missing(), ElementsAre(10, 11, 12));
  ranks.arrive(1, {.kind = Kind::barrier});
  EXPECT_THAT(ranks.exchange->missing(), ElementsAre(10, 12));
  ranks.arrive(2, {.kind = Kind::barrier});
  EXPECT_FALSE(ranks.exchange->ready());
  ranks.arrive(0, {.kind = Kind::barrier});
  EXPECT_TRUE(ranks.exchange->ready());
  EXPECT_THAT(ranks.exchange->missing(), IsEmpty());
  EXPECT_FALSE(ranks.exchange->finished());
}

TEST(Exchange, TheLastToArriveFindsOutThatTheyDisagree) {
  Ranks ranks({{1, 2}, {3, 4}}, {2, 2});
  ranks.arrive(1, {.kind = Kind::allReduce, .count = 2});
  EXPECT_TRUE(ranks.exchange->error().ok());
  ranks.arrive(0, {.kind = Kind::allReduce, .count = 1});
  EXPECT_EQ(ranks.exchange->error().message(), "rank 10 has 1 elements, rank 11 has 2 elements");
}

TEST(Exchange, EachPieceIsClaimedOnce) {
  Ranks ranks({{}, {}, {}}, {0, 0, 0});
  EXPECT_EQ(ranks.exchange->claimPiece(1), 1) << "the own one first";
  EXPECT_EQ(ranks.exchange->claimPiece(1), 2);
  EXPECT_EQ(ranks.exchange->claimPiece(2), 0) << "after the last comes the first";
  EXPECT_EQ(ranks.exchange->claimPiece(0), std::nullopt);
}

TEST(Exchange, IsFinishedWhenAllPiecesHaveMoved) {
  Ranks ranks({{}, {}}, {0, 0});
  ranks.exchange->reportMoved();
  EXPECT_FALSE(ranks.exchange->finished());
  ranks.exchange->reportMoved();
  EXPECT_TRUE(ranks.exchange->finished());
}

TEST(Exchange, APieceOfAnAllReduceIsReducedForAllRanks) {
  // Five elements of three ranks are pieces of two, two and one.
  Ranks ranks({{1, 2, 3, 4, 5}, {10, 20, 30, 40, 50}, {100, 200, 300, 400, 500}}, {5, 5, 5});
  ranks.arriveAll({.kind = Kind::allReduce, .count = 5});
  ranks.exchange->movePiece(1);
  for (const Ints &output : ranks.outputs)
    EXPECT_THAT(output, ElementsAre(untouched, untouched, 333, 444, untouched));
  ranks.exchange->movePiece(2);
  ranks.exchange->movePiece(0);
  for (const Ints &output : ranks.outputs)
    EXPECT_THAT(output, ElementsAre(111, 222, 333, 444, 555));
}

TEST(Exchange, RanksMayHaveNoPieceOfAnAllReduce) {
  Ranks ranks({{7}, {5}, {6}}, {1, 1, 1});
  ranks.arriveAll({.kind = Kind::allReduce, .reduction = Reduction::min, .count = 1});
  for (const Ints &output : ranks.moveAll())
    EXPECT_THAT(output, ElementsAre(5));
}

TEST(Exchange, AReduceScatterGivesEachRankItsPieceOnly) {
  Ranks ranks({{1, 2, 3}, {10, 20, 30}, {100, 200, 300}}, {1, 0, 2});
  ranks.arriveAll({.kind = Kind::reduceScatter, .sendCounts = {1, 0, 2}});
  ranks.exchange->movePiece(2);
  EXPECT_THAT(ranks.outputs[2], ElementsAre(222, 333));
  EXPECT_THAT(ranks.outputs[0], ElementsAre(untouched));
  EXPECT_THAT(ranks.moveAll()[0], ElementsAre(111));
}

TEST(Exchange, CountsTheBytesThatItsPiecesRead) {
  Ranks reduce({{1, 2, 3}, {1, 2, 3}}, {3, 3});
  reduce.arriveAll({.kind = Kind::allReduce, .count = 3});
  EXPECT_EQ(reduce.exchange->bytes(), 2 * 3 * 4);
  Ranks scatter({{1, 2, 3}, {1, 2, 3}}, {1, 2});
  scatter.arriveAll({.kind = Kind::reduceScatter, .sendCounts = {1, 2}});
  EXPECT_EQ(scatter.exchange->bytes(), 2 * 3 * 4);
  Ranks gather({{1, 2}, {3}}, {3, 3});
  gather.arriveAll({.kind = Kind::allGather, .receiveCounts = {2, 1}});
  EXPECT_EQ(gather.exchange->bytes(), 2 * 3 * 4);
  Ranks barrier({{}, {}}, {0, 0});
  barrier.arriveAll({.kind = Kind::barrier});
  EXPECT_EQ(barrier.exchange->bytes(), 0);
}

TEST(Exchange, AnAllGatherPutsThePiecesInOrder) {
  Ranks ranks({{1, 2}, {}, {5}}, {3, 3, 3});
  ranks.arriveAll({.kind = Kind::allGather, .receiveCounts = {2, 0, 1}});
  ranks.exchange->movePiece(0);
  EXPECT_THAT(ranks.outputs[1], ElementsAre(untouched, untouched, untouched)) << "each piece is for one rank";
  for (const Ints &output : ranks.moveAll())
    EXPECT_THAT(output, ElementsAre(1, 2, 5));
}

TEST(Exchange, AnAllToAllTransposesThePieces) {
  Ranks ranks({{1, 2, 3}, {4, 5}}, {3, 2});
  ranks.arrive(0, {.kind = Kind::allToAll, .sendCounts = {1, 2}, .receiveCounts = {1, 2}});
  ranks.arrive(1, {.kind = Kind::allToAll, .sendCounts = {2, 0}, .receiveCounts = {2, 0}});
  EXPECT_TRUE(ranks.exchange->error().ok()) << ranks.exchange->error().message();
  ranks.moveAll();
  EXPECT_THAT(ranks.outputs[0], ElementsAre(1, 4, 5));
  EXPECT_THAT(ranks.outputs[1], ElementsAre(2, 3));
}

TEST(Exchange, ABroadcastLeavesTheRootAsItIs) {
  Ranks ranks({{}, {8, 9}, {}}, {2, 2, 2});
  Collective broadcast{.kind = Kind::broadcast, .dtype = DType::i32, .count = 2, .peer = 1};
  for (int64_t slot = 0; slot < 3; ++slot) { // one buffer is input and output
    Ints &buffer = slot == 1 ? ranks.inputs[1] : ranks.outputs[slot];
    broadcast.input = broadcast.output = buffer.data();
    ranks.exchange->arrive(slot, broadcast, "tp");
  }
  EXPECT_TRUE(ranks.exchange->error().ok()) << ranks.exchange->error().message();
  ranks.moveAll();
  for (const Ints &buffer : {ranks.outputs[0], ranks.inputs[1], ranks.outputs[2]})
    EXPECT_THAT(buffer, ElementsAre(8, 9));
}

TEST(Exchange, ASendIsBetweenTwoIndicesOfTheGroup) {
  // Rank 17 has index 3 of the group and sends to rank 14, which has index 1.
  Ints input = {4, 5}, output(2, untouched);
  Exchange exchange({17, 14}, {3, 1});
  EXPECT_FALSE(exchange.arrive(
      0, {.kind = Kind::send, .dtype = DType::i32, .input = input.data(), .count = 2, .peer = 1}, "tp"));
  EXPECT_TRUE(exchange.arrive(
      1, {.kind = Kind::receive, .dtype = DType::i32, .output = output.data(), .count = 2, .peer = 3}, "tp"));
  EXPECT_TRUE(exchange.error().ok()) << exchange.error().message();
  exchange.movePiece(0);
  EXPECT_THAT(output, ElementsAre(untouched, untouched)) << "the sender gets nothing";
  exchange.movePiece(1);
  EXPECT_THAT(output, ElementsAre(4, 5));
}

} // namespace
} // namespace meshplan
