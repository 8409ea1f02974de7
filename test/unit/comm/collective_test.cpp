//===- collective_test.cpp - checks of one rank, and pieces ---------------===//

#include "runtime/comm/collective.h"

#include <gmock/gmock.h>

namespace meshplan {
namespace {

using testing::ElementsAre;

constexpr CollectiveKind allKinds[] = {
    CollectiveKind::allReduce, CollectiveKind::allGather, CollectiveKind::reduceScatter,
    CollectiveKind::allToAll,  CollectiveKind::permute,   CollectiveKind::broadcast,
    CollectiveKind::barrier,   CollectiveKind::send,      CollectiveKind::receive};

TEST(CollectiveName, OfEachKind) {
  std::vector<std::string_view> names;
  for (CollectiveKind kind : allKinds)
    names.push_back(collectiveName(kind));
  EXPECT_THAT(names, ElementsAre("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "permute", "broadcast",
                                 "barrier", "send", "receive"));
}

TEST(Describe, SaysWhatIsKnown) {
  Collective collective{.kind = CollectiveKind::reduceScatter};
  EXPECT_EQ(describe(collective, "tp"), "reduce-scatter on 'tp'");
  collective.label.sequence = 0;
  EXPECT_EQ(describe(collective, "tp"), "reduce-scatter 0 on 'tp'");
  collective.label.origin = "a.plan:12 rowwise tp";
  EXPECT_EQ(describe(collective, "dp, tp"), "reduce-scatter 0 on 'dp, tp' (a.plan:12 rowwise tp)");
  collective.label.sequence = -1;
  EXPECT_EQ(describe(collective, ""), "reduce-scatter on '' (a.plan:12 rowwise tp)");
}

int buffer;

/// A valid collective of rank 1 of three.
Collective rightOne(CollectiveKind kind) {
  Collective collective{.kind = kind, .dtype = DType::f32, .input = &buffer, .output = &buffer, .count = 4};
  collective.sendCounts = {1, 2, 0};
  collective.receiveCounts = {0, 2, 5};
  collective.peer = 2;
  return collective;
}

struct Case {
  const char *name;
  CollectiveKind kind;
  void (*change)(Collective &);
  const char *message;
};

class CheckCollective : public testing::TestWithParam<Case> {};

TEST_P(CheckCollective, Refuses) {
  Collective collective = rightOne(GetParam().kind);
  EXPECT_TRUE(checkCollective(collective, 3, 1).ok());
  GetParam().change(collective);
  Status status = checkCollective(collective, 3, 1);
  EXPECT_EQ(status.code(), StatusCode::invalid);
  EXPECT_EQ(status.message(), GetParam().message);
}

using Kind = CollectiveKind;

const Case cases[] = {
    {"Count", Kind::allReduce, [](Collective &c) { c.count = -1; }, "count -1 is negative"},
    {"BroadcastCount", Kind::broadcast, [](Collective &c) { c.count = INT64_MIN; },
     "count -9223372036854775808 is negative"},
    {"SumOfBool", Kind::allReduce, [](Collective &c) { c.dtype = DType::boolean; }, "bool values cannot be summed"},
    {"ScatteredSumOfBool", Kind::reduceScatter, [](Collective &c) { c.dtype = DType::boolean; },
     "bool values cannot be summed"},
    {"FewSendCounts", Kind::reduceScatter, [](Collective &c) { c.sendCounts.pop_back(); },
     "2 send counts for a group of 3 ranks"},
    {"ManyReceiveCounts", Kind::allGather, [](Collective &c) { c.receiveCounts.push_back(0); },
     "4 receive counts for a group of 3 ranks"},
    {"NoCounts", Kind::allToAll, [](Collective &c) { c.sendCounts.clear(); }, "0 send counts for a group of 3 ranks"},
    {"PermuteReceiveCounts", Kind::permute, [](Collective &c) { c.receiveCounts = {1}; },
     "1 receive counts for a group of 3 ranks"},
    {"NegativeSendCount", Kind::allToAll, [](Collective &c) { c.sendCounts[2] = -3; }, "send count -3 is negative"},
    {"NegativeReceiveCount", Kind::allToAll, [](Collective &c) { c.receiveCounts[0] = -1; },
     "receive count -1 is negative"},
    {"Root", Kind::broadcast, [](Collective &c) { c.peer = 3; }, "peer 3 in a group of 3 ranks"},
    {"NoRoot", Kind::broadcast, [](Collective &c) { c.peer = -1; }, "peer -1 in a group of 3 ranks"},
    {"Receiver", Kind::send, [](Collective &c) { c.peer = 3; }, "peer 3 in a group of 3 ranks"},
    {"SendToItself", Kind::send, [](Collective &c) { c.peer = 1; }, "rank 1 of the group is its own peer"},
    {"ReceiveFromItself", Kind::receive, [](Collective &c) { c.peer = 1; }, "rank 1 of the group is its own peer"},
    {"NoInput", Kind::allReduce, [](Collective &c) { c.input = nullptr; }, "no buffer for 4 elements"},
    {"NoOutput", Kind::allReduce, [](Collective &c) { c.output = nullptr; }, "no buffer for 4 elements"},
    {"GatherInput", Kind::allGather, [](Collective &c) { c.input = nullptr; }, "no buffer for 7 elements"},
    {"GatherOutput", Kind::allGather, [](Collective &c) { c.output = nullptr; }, "no buffer for 7 elements"},
    {"ScatterInput", Kind::reduceScatter, [](Collective &c) { c.input = nullptr; }, "no buffer for 3 elements"},
    {"ToAllInput", Kind::allToAll, [](Collective &c) { c.input = nullptr; }, "no buffer for 7 elements"},
    {"SendInput", Kind::send, [](Collective &c) { c.input = nullptr; }, "no buffer for 4 elements"},
    {"ReceiveOutput", Kind::receive, [](Collective &c) { c.output = nullptr; }, "no buffer for 4 elements"},
};

INSTANTIATE_TEST_SUITE_P(Collective, CheckCollective, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) { return std::string(info.param.name); });

TEST(CheckCollectiveOf, BuffersAreNeededForElementsOnly) {
  Collective none{.kind = Kind::allReduce, .count = 0};
  EXPECT_TRUE(checkCollective(none, 3, 1).ok());
  EXPECT_TRUE(checkCollective({.kind = Kind::barrier}, 3, 1).ok());
  Collective gather{.kind = Kind::allGather, .input = nullptr, .output = &buffer, .receiveCounts = {2, 0, 2}};
  EXPECT_TRUE(checkCollective(gather, 3, 1).ok()) << "rank 1 gives nothing";
  Collective scatter{.kind = Kind::reduceScatter, .input = &buffer, .output = nullptr, .sendCounts = {2, 0, 2}};
  EXPECT_TRUE(checkCollective(scatter, 3, 1).ok()) << "rank 1 gets nothing";
  EXPECT_TRUE(checkCollective({.kind = Kind::send, .input = &buffer, .count = 2, .peer = 0}, 3, 1).ok());
  EXPECT_TRUE(checkCollective({.kind = Kind::receive, .output = &buffer, .count = 2, .peer = 0}, 3, 1).ok());
}

TEST(CheckCollectiveOf, BoolHasMaxAndMinAndCanBeMoved) {
  for (Kind kind : allKinds) {
    Collective collective = rightOne(kind);
    collective.dtype = DType::boolean;
    collective.reduction = Reduction::max;
    EXPECT_TRUE(checkCollective(collective, 3, 1).ok()) << collectiveName(kind);
  }
}

TEST(ParticipantsOf, AllOfTheGroupOrThePair) {
  for (Kind kind : allKinds) {
    Participants found = participantsOf(rightOne(kind), 3, 1);
    if (kind == Kind::send || kind == Kind::receive) {
      bool sends = kind == Kind::send;
      EXPECT_THAT(found.pair, testing::Pair(sends ? 1 : 2, sends ? 2 : 1));
      EXPECT_THAT(found.indices, ElementsAre(sends ? 1 : 2, sends ? 2 : 1)) << "the sender first";
    } else {
      EXPECT_THAT(found.pair, testing::Pair(-1, -1));
      EXPECT_THAT(found.indices, ElementsAre(0, 1, 2));
    }
    EXPECT_EQ(found.indices[found.slot], 1) << collectiveName(kind);
  }
}

/// The pieces are contiguous and have these sizes.
void expectPieces(const std::vector<Piece> &pieces, const std::vector<int64_t> &sizes) {
  int64_t offset = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(pieces[i].offset, offset);
    EXPECT_EQ(pieces[i].count, sizes[i]);
    offset += sizes[i];
  }
}

std::vector<Piece> sentTo(const Collective &collective, int64_t groupSize, int64_t index) {
  std::vector<Piece> pieces;
  for (int64_t to = 0; to < groupSize; ++to)
    pieces.push_back(sentPiece(collective, groupSize, index, to));
  return pieces;
}

std::vector<Piece> receivedFrom(const Collective &collective, int64_t groupSize, int64_t index) {
  std::vector<Piece> pieces;
  for (int64_t from = 0; from < groupSize; ++from)
    pieces.push_back(receivedPiece(collective, index, from));
  return pieces;
}

TEST(Pieces, FollowTheCounts) {
  for (Kind kind : {Kind::allToAll, Kind::permute}) {
    expectPieces(sentTo(rightOne(kind), 3, 1), {1, 2, 0});
    expectPieces(receivedFrom(rightOne(kind), 3, 1), {0, 2, 5});
  }
  expectPieces(sentTo(rightOne(Kind::reduceScatter), 3, 1), {1, 2, 0});
  expectPieces(receivedFrom(rightOne(Kind::allGather), 3, 1), {0, 2, 5});
  for (const Piece &piece : sentTo(rightOne(Kind::allGather), 3, 1)) {
    EXPECT_EQ(piece.offset, 0) << "all get the same";
    EXPECT_EQ(piece.count, 2);
  }
}

TEST(Pieces, OfAnAllReduceTileTheBuffer) {
  for (int64_t groupSize = 1; groupSize <= 7; ++groupSize)
    for (int64_t count = 0; count <= 30; ++count) {
      Collective collective{.kind = Kind::allReduce, .count = count};
      std::vector<Piece> pieces = sentTo(collective, groupSize, 0);
      int64_t next = 0;
      for (const Piece &piece : pieces) {
        EXPECT_EQ(piece.offset, next);
        EXPECT_LE(piece.count, (count + groupSize - 1) / groupSize) << "split evenly";
        EXPECT_GE(piece.count, count / groupSize);
        next += piece.count;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(Pieces, OfABroadcastComeFromTheRoot) {
  Collective collective = rightOne(Kind::broadcast);
  for (int64_t rank = 0; rank < 3; ++rank)
    for (int64_t other = 0; other < 3; ++other) {
      EXPECT_EQ(sentPiece(collective, 3, rank, other).count, rank == 2 ? 4 : 0);
      EXPECT_EQ(receivedPiece(collective, rank, other).count, other == 2 ? 4 : 0);
    }
}

TEST(Pieces, OfAPairGoToThePeerOnly) {
  for (int64_t other = 0; other < 3; ++other) {
    EXPECT_EQ(sentPiece(rightOne(Kind::send), 3, 1, other).count, other == 2 ? 4 : 0);
    EXPECT_EQ(receivedPiece(rightOne(Kind::receive), 1, other).count, other == 2 ? 4 : 0);
    EXPECT_EQ(receivedPiece(rightOne(Kind::send), 1, other).count, 0);
    EXPECT_EQ(sentPiece(rightOne(Kind::receive), 3, 1, other).count, 0);
    EXPECT_EQ(sentPiece(rightOne(Kind::barrier), 3, 1, other).count, 0);
    EXPECT_EQ(receivedPiece(rightOne(Kind::barrier), 1, other).count, 0);
  }
}

} // namespace
} // namespace meshplan
