//===- agreement_test.cpp - collectives on which ranks must agree ---------===//

#include "runtime/comm/agreement.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using Kind = CollectiveKind;

/// The message about the collectives that the ranks 10, 11, ... started on 'tp'; empty if they agree.
std::string disagreement(const std::vector<Collective> &started) {
  std::vector<Participant> participants;
  for (size_t i = 0; i < started.size(); ++i)
    participants.push_back({static_cast<int64_t>(10 + i), static_cast<int64_t>(i), &started[i]});
  Status status = checkAgreement(participants, "tp");
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::invalid);
  return status.message();
}

/// The message if the last of three ranks differs from the others in one field.
std::string differing(const Collective &collective, const std::function<void(Collective &)> &change) {
  EXPECT_EQ(disagreement({collective, collective, collective}), "");
  Collective other = collective;
  change(other);
  return disagreement({collective, collective, other});
}

TEST(Agreement, OneRankAgreesWithItself) {
  EXPECT_EQ(disagreement({{.kind = Kind::allReduce, .count = 3}}), "");
  EXPECT_EQ(disagreement({{.kind = Kind::allToAll, .sendCounts = {2}, .receiveCounts = {2}}}), "");
  EXPECT_EQ(disagreement({{.kind = Kind::allToAll, .sendCounts = {2}, .receiveCounts = {3}}}),
            "rank 10 sends 2 elements to rank 10, which expects 3");
}

TEST(Agreement, KindAndSequence) {
  Collective sum{.kind = Kind::allReduce, .label = {.sequence = 4, .origin = "a.plan:3 rowwise tp"}};
  EXPECT_EQ(differing(sum, [](Collective &c) { c.kind = Kind::barrier; }),
            "rank 10 started all-reduce 4 on 'tp' (a.plan:3 rowwise tp), "
            "rank 12 started barrier 4 on 'tp' (a.plan:3 rowwise tp)");
  EXPECT_EQ(differing(sum, [](Collective &c) { c.label.sequence = 5; }),
            "rank 10 started all-reduce 4 on 'tp' (a.plan:3 rowwise tp), "
            "rank 12 started all-reduce 5 on 'tp' (a.plan:3 rowwise tp)");
  EXPECT_EQ(differing(sum, [](Collective &c) { c.label.origin = "elsewhere"; }), "") << "it is for messages only";
}

TEST(Agreement, TypeAndReduction) {
  Collective sum{.kind = Kind::allReduce, .count = 2};
  EXPECT_EQ(differing(sum, [](Collective &c) { c.dtype = DType::i16; }), "rank 10 has f32, rank 12 has i16");
  EXPECT_EQ(differing(sum, [](Collective &c) { c.reduction = Reduction::min; }), "rank 10 has sum, rank 12 has min");
  sum.reduction = Reduction::max;
  EXPECT_EQ(differing(sum, [](Collective &c) { c.reduction = Reduction::sum; }), "rank 10 has max, rank 12 has sum");
}

TEST(Agreement, NumbersThatAllRanksShare) {
  EXPECT_EQ(differing({.kind = Kind::allReduce, .count = 2}, [](Collective &c) { c.count = 0; }),
            "rank 10 has 2 elements, rank 12 has 0 elements");
  Collective broadcast{.kind = Kind::broadcast, .count = 2, .peer = 1};
  EXPECT_EQ(differing(broadcast, [](Collective &c) { c.peer = 0; }), "rank 10 has root 1, rank 12 has root 0");
  EXPECT_EQ(differing(broadcast, [](Collective &c) { c.count = 3; }), "rank 10 has 2 elements, rank 12 has 3 elements");
  EXPECT_EQ(differing({.kind = Kind::allGather, .receiveCounts = {1, 2, 3}},
                      [](Collective &c) { c.receiveCounts = {1, 3, 2}; }),
            "rank 10 has counts [1, 2, 3], rank 12 has counts [1, 3, 2]");
  EXPECT_EQ(
      differing({.kind = Kind::reduceScatter, .sendCounts = {1, 2, 3}}, [](Collective &c) { c.sendCounts[0] = 0; }),
      "rank 10 has counts [1, 2, 3], rank 12 has counts [0, 2, 3]");
}

/// An all-to-all or a permute in which rank i sends counts[i][j] elements to rank j.
std::vector<Collective> exchange(Kind kind, const std::vector<std::vector<int64_t>> &counts) {
  std::vector<Collective> started(counts.size(), {.kind = kind});
  for (size_t from = 0; from < counts.size(); ++from)
    for (size_t to = 0; to < counts.size(); ++to) {
      started[from].sendCounts.push_back(counts[from][to]);
      started[to].receiveCounts.push_back(counts[from][to]);
    }
  return started;
}

TEST(Agreement, WhatIsSentIsWhatIsExpected) {
  const std::vector<std::vector<int64_t>> counts = {{1, 2, 0}, {3, 0, 4}, {0, 5, 6}};
  for (Kind kind : {Kind::allToAll, Kind::permute}) {
    EXPECT_EQ(disagreement(exchange(kind, counts)), "");
    for (size_t from = 0; from < 3; ++from)
      for (size_t to = 0; to < 3; ++to) {
        std::vector<Collective> started = exchange(kind, counts);
        ++started[from].sendCounts[to];
        EXPECT_EQ(disagreement(started), "rank 1" + std::to_string(from) + " sends " +
                                             std::to_string(counts[from][to] + 1) + " elements to rank 1" +
                                             std::to_string(to) + ", which expects " +
                                             std::to_string(counts[from][to]));
      }
  }
}

TEST(Agreement, OfSenderAndReceiver) {
  Collective send{.kind = Kind::send, .dtype = DType::bf16, .count = 3, .peer = 1};
  Collective receive{.kind = Kind::receive, .dtype = DType::bf16, .count = 3, .peer = 0};
  EXPECT_EQ(disagreement({send, receive}), "");
  receive.count = 4;
  EXPECT_EQ(disagreement({send, receive}), "rank 10 sends 3 elements to rank 11, which expects 4");
  receive.dtype = DType::f16;
  EXPECT_EQ(disagreement({send, receive}), "rank 10 has bf16, rank 11 has f16");
  receive.label.sequence = 2;
  EXPECT_EQ(disagreement({send, receive}), "rank 10 started send on 'tp', rank 11 started receive 2 on 'tp'");
}

TEST(Agreement, OfAPairWithinALargerGroup) {
  // The two are ranks 5 and 2 of their group.
  Collective send{.kind = Kind::send, .count = 3, .peer = 2}, receive{.kind = Kind::receive, .count = 3, .peer = 5};
  const Participant pair[] = {{105, 5, &send}, {102, 2, &receive}};
  EXPECT_TRUE(checkAgreement(pair, "tp").ok());
  receive.count = 1;
  EXPECT_EQ(checkAgreement(pair, "tp").message(), "rank 105 sends 3 elements to rank 102, which expects 1");
}

} // namespace
} // namespace meshplan
