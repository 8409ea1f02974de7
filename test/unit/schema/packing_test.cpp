//===- packing_test.cpp - what is copied before and after a collective ----===//

#include "runtime/schema/packing.h"

#include <gmock/gmock.h>

using namespace meshplan;

namespace {

/// Named as in the dialects and in the artifact.
enum class Kind { all_gather, reduce_scatter, all_reduce, all_to_all, permute };

constexpr Packing nothing{}, packs{.packs = true}, unpacks{.unpacks = true}, both{true, true};

/// A tensor whose dims are divided over one axis, or whole.
struct Tensor {
  std::vector<DimSharding> dims;

  std::vector<std::vector<Range>> ranges(int64_t rank, int64_t ranks) const {
    std::vector<std::vector<Range>> ranges;
    for (const DimSharding &dim : dims)
      ranges.push_back(localRanges(dim, std::vector<int64_t>{ranks}, std::vector<int64_t>{rank}));
    return ranges;
  }
  std::vector<int64_t> shape(int64_t rank, int64_t ranks) const {
    std::vector<int64_t> shape;
    for (const DimSharding &dim : dims)
      shape.push_back(localExtent(dim, std::vector<int64_t>{ranks}, std::vector<int64_t>{rank}));
    return shape;
  }
};

DimSharding whole(int64_t extent) { return {.extent = extent}; }
DimSharding over(int64_t ranks, int64_t extent, std::vector<DimPart> parts = {}) {
  return {.extent = extent, .axes = {{0, 1, ranks}}, .parts = std::move(parts)};
}

/// The packing of each rank.
std::vector<Packing> packingOn(int64_t ranks, Kind kind, const Tensor &before, const Tensor &after) {
  std::vector<std::vector<std::vector<Range>>> inputs, outputs;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    inputs.push_back(before.ranges(rank, ranks));
    outputs.push_back(after.ranges(rank, ranks));
  }
  std::vector<Packing> packing;
  for (int64_t rank = 0; rank < ranks; ++rank)
    packing.push_back(
        packingOf(kind, exchangedPieces(inputs, outputs, rank), before.shape(rank, ranks), after.shape(rank, ranks)));
  return packing;
}

} // namespace

using testing::Each;
using testing::ElementsAre;

TEST(Packing, RowsAreConsecutiveAndColumnsAreNot) {
  Tensor full{{whole(4), whole(6)}}, rows{{over(2, 4), whole(6)}}, columns{{whole(4), over(2, 6)}};
  EXPECT_THAT(packingOn(2, Kind::all_gather, rows, full), Each(nothing));
  EXPECT_THAT(packingOn(2, Kind::all_gather, columns, full), Each(unpacks)) << "what is sent is the whole input";
  EXPECT_THAT(packingOn(2, Kind::reduce_scatter, full, rows), Each(nothing));
  EXPECT_THAT(packingOn(2, Kind::reduce_scatter, full, columns), Each(packs)) << "the sum is the whole output";
  EXPECT_THAT(packingOn(2, Kind::all_to_all, rows, columns), Each(packs)) << "parts of rows go, and rows come";
  EXPECT_THAT(packingOn(2, Kind::all_to_all, columns, rows), Each(unpacks));
}

TEST(Packing, AnExchangeOfInnerDimsPacksAndUnpacks) {
  Tensor before{{whole(2), over(2, 4), whole(4)}}, after{{whole(2), whole(4), over(2, 4)}};
  EXPECT_THAT(packingOn(2, Kind::all_to_all, before, after), Each(both));
}

TEST(Packing, DimsOfOneElementDoNotSeparatePieces) {
  Tensor full{{whole(1), whole(6)}}, columns{{whole(1), over(3, 6)}};
  EXPECT_THAT(packingOn(3, Kind::all_gather, columns, full), Each(nothing));
  EXPECT_THAT(packingOn(3, Kind::reduce_scatter, full, columns), Each(nothing));
}

TEST(Packing, RanksOfOneTensorMayDiffer) {
  // 3 rows over 2 ranks: the second has one row, whose columns are consecutive.
  Tensor before{{over(2, 3), whole(4)}}, after{{whole(3), over(2, 4)}};
  EXPECT_THAT(packingOn(2, Kind::all_to_all, before, after), ElementsAre(packs, nothing));
}

TEST(Packing, EachPartHasAPieceOfEachRank) {
  // Of the parts 0-3 and 4-7 the first rank has 0, 1, 4 and 5.
  Tensor full{{whole(8)}}, parts{{over(2, 8, {4, 4})}};
  EXPECT_THAT(packingOn(2, Kind::all_gather, parts, full), Each(unpacks));
  EXPECT_THAT(packingOn(2, Kind::reduce_scatter, full, parts), Each(packs));
}

TEST(Packing, OnePieceIsAllThereIs) {
  // The first rank has the only column.
  Tensor full{{whole(2), whole(1)}}, columns{{whole(2), over(2, 1)}}, empty{{whole(0), over(2, 4)}};
  EXPECT_THAT(packingOn(2, Kind::all_gather, columns, full), Each(nothing));
  EXPECT_THAT(packingOn(2, Kind::all_gather, empty, Tensor{{whole(0), whole(4)}}), Each(nothing));
}

TEST(Packing, WholeTensorsAreSentAsTheyAre) {
  Tensor full{{whole(4), whole(6)}}, columns{{whole(4), over(2, 6)}};
  EXPECT_THAT(packingOn(2, Kind::all_reduce, full, full), Each(nothing));
  EXPECT_THAT(packingOn(2, Kind::permute, columns, columns), Each(nothing));
}

TEST(Packing, OneCoalescedTensorIsItsOwnBuffer) {
  for (Kind kind : {Kind::all_gather, Kind::reduce_scatter, Kind::all_reduce})
    for (bool areTargetsAdjacent : {false, true})
      EXPECT_EQ(packingOfCoalesced(kind, 1, true, areTargetsAdjacent), nothing);
}

TEST(Packing, SeveralTensorsArePackedUnlessAdjacent) {
  EXPECT_EQ(packingOfCoalesced(Kind::all_reduce, 2, false, false), both);
  EXPECT_EQ(packingOfCoalesced(Kind::all_reduce, 2, true, false), unpacks);
  EXPECT_EQ(packingOfCoalesced(Kind::all_reduce, 2, false, true), packs);
  EXPECT_EQ(packingOfCoalesced(Kind::all_reduce, 2, true, true), nothing);
  // The pieces of one rank are together on the side with all ranks.
  EXPECT_EQ(packingOfCoalesced(Kind::all_gather, 2, true, true), unpacks);
  EXPECT_EQ(packingOfCoalesced(Kind::reduce_scatter, 2, true, true), packs);
}

TEST(Packing, ASliceOfADimWithPartsIsCopied) {
  using Dims = std::vector<DimSharding>;
  EXPECT_FALSE(sliceIsCopied(Dims{whole(8), whole(4)}, Dims{over(2, 8), whole(4)}));
  EXPECT_TRUE(sliceIsCopied(Dims{whole(8), whole(4)}, Dims{over(2, 8, {4, 4}), whole(4)}));
  // Nothing of the dim with parts changes.
  EXPECT_FALSE(sliceIsCopied(Dims{over(2, 8, {4, 4}), whole(4)}, Dims{over(2, 8, {4, 4}), over(2, 4)}));
  // The second rank has nothing of the first part, and copies the rest all the same.
  EXPECT_TRUE(sliceIsCopied(Dims{whole(3)}, Dims{over(2, 3, {1, 2})}));
}
