//===- collectives_test.cpp - what collectives send, counted on a ring ----===//
//
// Runs the algorithms that sentBytes assumes, message by message, and counts what each rank sends.
//
//===----------------------------------------------------------------------===//

#include "dialect/base/collectives.h"
#include "runtime/schema/extent.h"
#include <gtest/gtest.h>

using namespace meshplan;
using base::CollectiveKind;
using base::sentBytes;

namespace {

/// Ranks that each hold addends of the pieces of one tensor of `bytes` bytes.
class Ring {
public:
  Ring(int64_t ranks, int64_t bytes) : ranks(ranks), addends(ranks, std::vector<int64_t>(ranks, 1)), sent(ranks, 0) {
    for (int64_t piece = 0; piece < ranks; ++piece)
      sizes.push_back(shardRange(bytes, 1, ranks, piece).size);
  }

  /// Each rank passes a piece on, as it is, to the rank after it. At first each has only its own.
  void allGather() {
    for (int64_t step = 0; step < ranks - 1; ++step)
      for (int64_t rank = 0; rank < ranks; ++rank)
        send(rank, rank - step, /*adds=*/false);
  }

  /// Each rank adds its addend to the piece that it receives and passes the sum on. In the end rank i has piece i.
  void reduceScatter() {
    for (int64_t step = 0; step < ranks - 1; ++step)
      for (int64_t rank = 0; rank < ranks; ++rank)
        send(rank, rank - step - 1, /*adds=*/true);
  }

  /// The numbers of addends in the piece of rank i on rank i, and in all pieces on all ranks.
  void expectOwnIsComplete() {
    for (int64_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(addends[rank][rank], ranks);
  }
  void expectAllIsComplete(int64_t count) {
    for (const std::vector<int64_t> &held : addends)
      EXPECT_EQ(held, std::vector<int64_t>(ranks, count));
  }

  double meanSent() const {
    return static_cast<double>(std::accumulate(sent.begin(), sent.end(), int64_t(0))) / static_cast<double>(ranks);
  }
  int64_t sizeOf(int64_t piece) const { return sizes[piece]; }

private:
  void send(int64_t rank, int64_t number, bool adds) {
    int64_t piece = (number + ranks) % ranks, next = (rank + 1) % ranks;
    sent[rank] += sizes[piece];
    addends[next][piece] = addends[rank][piece] + (adds ? addends[next][piece] : 0);
  }

  int64_t ranks;
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> addends; ///< by rank and piece
  std::vector<int64_t> sent;
};

/// Calls `check(ranks, bytes)` for groups and tensors of several sizes, which the group divides or not.
template <typename Check> void forEachSize(const Check &check) {
  for (int64_t ranks : {1, 2, 3, 4, 7})
    for (int64_t bytes : {0, 1, 4, 35, 84, 400}) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes on " + std::to_string(ranks) + " ranks");
      check(ranks, bytes);
    }
}

TEST(SentBytes, OfAnAllGather) {
  forEachSize([](int64_t ranks, int64_t bytes) {
    Ring ring(ranks, bytes);
    ring.allGather();
    ring.expectAllIsComplete(1);
    EXPECT_DOUBLE_EQ(sentBytes(CollectiveKind::all_gather, ring.sizeOf(0), bytes, ranks), ring.meanSent());
  });
}

TEST(SentBytes, OfAReduceScatter) {
  forEachSize([](int64_t ranks, int64_t bytes) {
    Ring ring(ranks, bytes);
    ring.reduceScatter();
    ring.expectOwnIsComplete();
    EXPECT_DOUBLE_EQ(sentBytes(CollectiveKind::reduce_scatter, bytes, ring.sizeOf(0), ranks), ring.meanSent());
  });
}

TEST(SentBytes, OfAnAllReduce) {
  forEachSize([](int64_t ranks, int64_t bytes) {
    Ring ring(ranks, bytes);
    ring.reduceScatter();
    ring.allGather();
    ring.expectAllIsComplete(ranks);
    EXPECT_DOUBLE_EQ(sentBytes(CollectiveKind::all_reduce, bytes, bytes, ranks), ring.meanSent());
  });
}

TEST(SentBytes, OfWhatIsSentDirectly) {
  forEachSize([](int64_t ranks, int64_t bytes) {
    Ring pieces(ranks, bytes);
    int64_t sent = 0;
    for (int64_t rank = 0; rank < ranks; ++rank)
      for (int64_t peer = 0; peer < ranks; ++peer)
        sent += peer == rank ? 0 : pieces.sizeOf(peer);
    EXPECT_DOUBLE_EQ(sentBytes(CollectiveKind::all_to_all, bytes, bytes, ranks), double(sent) / double(ranks));
    EXPECT_EQ(sentBytes(CollectiveKind::permute, bytes, bytes, ranks), bytes) << "also where a rank keeps its tensor";
  });
}

TEST(Reduces, IsTrueOfKindsThatTakeAddends) {
  EXPECT_TRUE(base::reduces(CollectiveKind::all_reduce));
  EXPECT_TRUE(base::reduces(CollectiveKind::reduce_scatter));
  for (CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all, CollectiveKind::permute})
    EXPECT_FALSE(base::reduces(kind));
}

} // namespace
