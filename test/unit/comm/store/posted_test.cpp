//===- posted_test.cpp - what a rank posts for a collective ---------------===//

#include "runtime/comm/store/posted.h"

#include "test/lib/map_store/map_store.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

TEST(Posted, AnInputThatIsLargerThanAValue) {
  MapStore store;
  std::vector<uint8_t> input(2 * KeyValueStore::largestValue + 17);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<uint8_t>(i % 251);
  Collective send{.kind = CollectiveKind::send,
                  .dtype = DType::u8,
                  .input = input.data(),
                  .count = static_cast<int64_t>(input.size()),
                  .peer = 1};
  ASSERT_TRUE(post(store, "a", send, 0).ok());
  EXPECT_EQ(store.size(), 4u) << "three pieces and the head";
  auto posted = readPosted(store, "a");
  ASSERT_TRUE(posted.ok()) << posted.status().message();
  EXPECT_TRUE(std::ranges::equal(posted->payload, std::as_bytes(std::span(input))));
  ASSERT_TRUE(removePosted(store, "a", *posted).ok());
  EXPECT_EQ(store.size(), 0u);
}

TEST(Posted, OnlyTheRootOfABroadcastHasSomethingToGive) {
  MapStore store;
  float value = 1;
  Collective broadcast{.kind = CollectiveKind::broadcast, .input = &value, .output = &value, .count = 1, .peer = 1};
  ASSERT_TRUE(post(store, "0", broadcast, 0).ok());
  ASSERT_TRUE(post(store, "1", broadcast, 1).ok());
  EXPECT_EQ(readPosted(store, "0")->payload.size(), 0u);
  EXPECT_EQ(readPosted(store, "1")->payload.size(), sizeof(float));
}

TEST(Posted, WhatAnotherVersionHasWritten) {
  MapStore store;
  ASSERT_TRUE(store.set("a", "something else").ok());
  EXPECT_EQ(readPosted(store, "a").status().message(), "the store holds data of another version of the runtime");
}

TEST(Posted, AStoreThatHasLostAPiece) {
  MapStore store;
  double value = 1;
  Collective sum{.kind = CollectiveKind::allReduce, .dtype = DType::f64, .input = &value, .output = &value, .count = 1};
  ASSERT_TRUE(post(store, "a", sum, 0).ok());
  ASSERT_TRUE(store.set("a/0", "x").ok());
  EXPECT_EQ(readPosted(store, "a").status().message(), "the store holds less than was posted");
}

TEST(Posted, HasWhatOthersNeedOfTheInput) {
  // For rank 1 of three: a gather posts its own piece, a scatter and an all-to-all post all pieces.
  using Kind = CollectiveKind;
  const std::pair<Kind, int64_t> cases[] = {{Kind::allReduce, 4}, {Kind::allGather, 2}, {Kind::reduceScatter, 8},
                                            {Kind::allToAll, 8},  {Kind::permute, 8},   {Kind::broadcast, 0},
                                            {Kind::send, 4},      {Kind::receive, 0},   {Kind::barrier, 0}};
  std::vector<int16_t> input(8);
  for (auto [kind, elements] : cases) {
    MapStore store;
    Collective collective{.kind = kind, .dtype = DType::i16, .input = input.data(), .output = input.data(), .count = 4};
    collective.sendCounts = {1, 3, 4};
    collective.receiveCounts = {5, 2, 0};
    collective.peer = 2;
    ASSERT_TRUE(post(store, "a", collective, 1).ok());
    auto posted = readPosted(store, "a");
    ASSERT_TRUE(posted.ok()) << posted.status().message();
    EXPECT_EQ(posted->payload.size(), elements * sizeof(int16_t)) << collectiveName(kind);
    EXPECT_EQ(store.size(), elements > 0 ? 2u : 1u) << collectiveName(kind) << ": a piece and the head";
  }
}

TEST(Posted, AnInputOfExactlyOneValueIsOnePiece) {
  for (int64_t more : {-1, 0, 1}) {
    MapStore store;
    std::vector<uint8_t> input(KeyValueStore::largestValue + more, 7);
    Collective send{.kind = CollectiveKind::send,
                    .dtype = DType::u8,
                    .input = input.data(),
                    .count = static_cast<int64_t>(input.size())};
    ASSERT_TRUE(post(store, "a", send, 1).ok());
    EXPECT_EQ(store.size(), more > 0 ? 3u : 2u) << more;
    EXPECT_EQ(readPosted(store, "a")->payload.size(), input.size());
  }
}

TEST(Posted, ASizeThatNobodyCanHavePosted) {
  MapStore store;
  ASSERT_TRUE(post(store, "a", {.kind = CollectiveKind::barrier}, 0).ok());
  std::string head = *store.get("a");
  ASSERT_TRUE(store.set("a", std::string(8, '\xff') + head.substr(8)).ok()); // -1 bytes
  EXPECT_EQ(readPosted(store, "a").status().code(), StatusCode::corrupted);
  ASSERT_TRUE(store.set("a", head + "x").ok());
  EXPECT_EQ(readPosted(store, "a").status().code(), StatusCode::corrupted) << "a byte more";
  ASSERT_TRUE(store.set("a", head).ok());
  EXPECT_TRUE(readPosted(store, "a").ok());
}

using Ints = std::vector<int32_t>;

/// The initial value of elements that no rank receives.
constexpr int32_t untouched = -77;

/// The results of all participants, in buffers of `sizes[i]` elements, after all have posted and received.
std::vector<Ints> exchanged(std::vector<Collective> started, const std::vector<Ints> &given,
                            const std::vector<size_t> &sizes, std::vector<int64_t> indices = {}) {
  MapStore store;
  std::vector<Ints> outputs;
  std::vector<Posted> parts;
  for (size_t i = 0; i < started.size(); ++i) {
    if (indices.size() == i)
      indices.push_back(static_cast<int64_t>(i));
    outputs.emplace_back(sizes[i], untouched);
    started[i].dtype = DType::i32;
    started[i].input = given[i].data();
    EXPECT_TRUE(post(store, std::to_string(i), started[i], indices[i]).ok());
    auto posted = readPosted(store, std::to_string(i));
    EXPECT_TRUE(posted.ok()) << posted.status().message();
    parts.push_back(*std::move(posted));
  }
  for (size_t i = 0; i < started.size(); ++i) {
    started[i].output = outputs[i].data();
    takeOutput(started[i], indices[i], parts, indices);
  }
  return outputs;
}

/// The same collective on three ranks.
std::vector<Collective> onThree(const Collective &collective) { return {collective, collective, collective}; }

using testing::ElementsAre;

TEST(TakeOutput, AnAllReduceIsWholeOnEveryRank) {
  const std::vector<Ints> given = {{1, 2, 3, 9}, {10, 20, 30, 8}, {100, 200, 300, 7}};
  Collective sum{.kind = CollectiveKind::allReduce, .count = 4};
  for (const Ints &output : exchanged(onThree(sum), given, {4, 4, 4}))
    EXPECT_THAT(output, ElementsAre(111, 222, 333, 24));
  sum.reduction = Reduction::min;
  for (const Ints &output : exchanged(onThree(sum), given, {4, 4, 4}))
    EXPECT_THAT(output, ElementsAre(1, 2, 3, 7));
}

TEST(TakeOutput, AReduceScatterIsThePieceOfTheRank) {
  Collective scatter{.kind = CollectiveKind::reduceScatter, .sendCounts = {2, 0, 1}};
  std::vector<Ints> outputs = exchanged(onThree(scatter), {{1, 2, 3}, {10, 20, 30}, {100, 200, 300}}, {2, 1, 1});
  EXPECT_THAT(outputs[0], ElementsAre(111, 222));
  EXPECT_THAT(outputs[1], ElementsAre(untouched)) << "its piece is empty";
  EXPECT_THAT(outputs[2], ElementsAre(333));
}

TEST(TakeOutput, AnAllGatherHasThePiecesInOrder) {
  Collective gather{.kind = CollectiveKind::allGather, .receiveCounts = {2, 0, 3}};
  for (const Ints &output : exchanged(onThree(gather), {{1, 2}, {}, {3, 4, 5}}, {6, 6, 6}))
    EXPECT_THAT(output, ElementsAre(1, 2, 3, 4, 5, untouched));
}

TEST(TakeOutput, AnAllToAllTransposesThePieces) {
  // Rank i sends counts[i][j] elements 10 * i + j to rank j.
  const int64_t counts[3][3] = {{1, 2, 0}, {3, 0, 1}, {0, 2, 2}};
  std::vector<Collective> started(3, {.kind = CollectiveKind::allToAll});
  std::vector<Ints> given(3), wanted(3);
  for (int32_t from = 0; from < 3; ++from)
    for (int32_t to = 0; to < 3; ++to) {
      given[from].insert(given[from].end(), counts[from][to], 10 * from + to);
      wanted[to].insert(wanted[to].end(), counts[from][to], 10 * from + to);
      started[from].sendCounts.push_back(counts[from][to]);
      started[to].receiveCounts.push_back(counts[from][to]);
    }
  EXPECT_EQ(exchanged(started, given, {4, 4, 3}), wanted);
}

TEST(TakeOutput, APermuteHasOnePieceEachWay) {
  // 0 to 2, 2 to 1, and nothing to 0.
  auto permute = [](std::vector<int64_t> sent, std::vector<int64_t> received) {
    return Collective{
        .kind = CollectiveKind::permute, .sendCounts = std::move(sent), .receiveCounts = std::move(received)};
  };
  std::vector<Ints> outputs =
      exchanged({permute({0, 0, 2}, {0, 0, 0}), permute({0, 0, 0}, {0, 0, 1}), permute({0, 1, 0}, {2, 0, 0})},
                {{5, 6}, {}, {7}}, {1, 1, 2});
  EXPECT_THAT(outputs[0], ElementsAre(untouched));
  EXPECT_THAT(outputs[1], ElementsAre(7));
  EXPECT_THAT(outputs[2], ElementsAre(5, 6));
}

TEST(TakeOutput, ABroadcastComesFromItsRoot) {
  Collective broadcast{.kind = CollectiveKind::broadcast, .count = 2, .peer = 1};
  for (const Ints &output : exchanged(onThree(broadcast), {{}, {8, 9}, {}}, {2, 2, 2}))
    EXPECT_THAT(output, ElementsAre(8, 9));
}

TEST(TakeOutput, OfAPairOfALargerGroup) {
  // Number 3 of its group sends to number 1.
  std::vector<Ints> outputs = exchanged(
      {{.kind = CollectiveKind::send, .count = 2, .peer = 1}, {.kind = CollectiveKind::receive, .count = 2, .peer = 3}},
      {{4, 5}, {}}, {1, 2}, {3, 1});
  EXPECT_THAT(outputs[0], ElementsAre(untouched));
  EXPECT_THAT(outputs[1], ElementsAre(4, 5));
}

} // namespace
} // namespace meshplan
