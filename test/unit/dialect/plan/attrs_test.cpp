//===- attrs_test.cpp - attributes of plan against ranks' elements --------===//

#include "test/unit/dialect/plan_text.h"
#include <gmock/gmock.h>
#include <set>

using namespace mlir;
using namespace meshplan::plan;
using testing::ElementsAre;

namespace meshplan {
namespace {

class PlanAttrs : public PlanText {
protected:
  PlanAttrs() { readOnMesh(2, 6); }

  RankedTensorType tensor(StringRef text) { return type<RankedTensorType>(text); }

  /// The elements of a dim that each of the 12 ranks holds, in local order.
  std::vector<std::vector<int64_t>> elements(int64_t extent, DimShardingAttr dim) {
    std::vector<int64_t> sizes = {2, 6};
    DimSharding resolved = resolveDim(extent, dim, mesh());
    std::vector<std::vector<int64_t>> held(12);
    for (int64_t rank = 0; rank < 12; ++rank)
      for (const Range &range : localRanges(resolved, sizes, coordinateOfRank(rank, sizes)))
        for (int64_t i = 0; i < range.size; ++i)
          held[rank].push_back(range.offset + i);
    return held;
  }
};

/// Digit of a coordinate on an axis of `extent`.
int64_t digit(int64_t coordinate, int64_t extent, int64_t pre, int64_t size) {
  return coordinate / (extent / (pre * size)) % size;
}

TEST_F(PlanAttrs, SubAxesOverlapWhereTheirDigitsDepend) {
  // Two digits of an axis of 16 are disjoint if every pair of their values occurs.
  const int64_t extent = 16;
  for (int64_t pre = 1; pre < extent; pre *= 2)
    for (int64_t size = 2; pre * size <= extent; size *= 2)
      for (int64_t otherPre = 1; otherPre < extent; otherPre *= 2)
        for (int64_t otherSize = 2; otherPre * otherSize <= extent; otherSize *= 2) {
          std::set<std::pair<int64_t, int64_t>> pairs;
          for (int64_t at = 0; at < extent; ++at)
            pairs.insert({digit(at, extent, pre, size), digit(at, extent, otherPre, otherSize)});
          bool depend = static_cast<int64_t>(pairs.size()) < size * otherSize;
          AxisRefAttr one = AxisRefAttr::get(&context, "tp", pre, size);
          AxisRefAttr other = AxisRefAttr::get(&context, "tp", otherPre, otherSize);
          EXPECT_EQ(one.overlaps(other), depend) << print(one) << ' ' << print(other);
        }
}

TEST_F(PlanAttrs, AWholeAxisOverlapsItsDigitsAndNoOtherAxis) {
  EXPECT_TRUE(axis("tp").overlaps(axis("tp")));
  EXPECT_TRUE(axis("tp").overlaps(axis("tp", 2, 3)));
  EXPECT_TRUE(axis("tp", 2, 3).overlaps(axis("tp")));
  EXPECT_FALSE(axis("tp").overlaps(axis("dp")));
  EXPECT_FALSE(axis("tp", 1, 2).overlaps(axis("dp", 1, 2)));
}

TEST_F(PlanAttrs, ReplicatedMeansWholeAndNotPartial) {
  EXPECT_EQ(ShardingAttr::getReplicated(&context, 2), sharding("[{}, {}]"));
  EXPECT_EQ(ShardingAttr::getReplicated(&context, 0), sharding("[]"));
  EXPECT_TRUE(sharding("[{}, {}]").isReplicated());
  EXPECT_TRUE(sharding("[]").isReplicated());
  EXPECT_TRUE(sharding("[{?}], replicated = {\"tp\"}").isReplicated());
  EXPECT_FALSE(sharding("[{}, {\"tp\"}]").isReplicated());
  EXPECT_FALSE(sharding("[{}], partial = sum {\"tp\"}").isReplicated());
}

TEST_F(PlanAttrs, ClosedMeansNoDimIsOpen) {
  EXPECT_TRUE(sharding("[]").isClosed());
  EXPECT_TRUE(sharding("[{\"tp\"}, {}], partial = sum {\"dp\"}").isClosed());
  EXPECT_FALSE(sharding("[{}, {\"tp\", ?}]").isClosed());
}

TEST_F(PlanAttrs, AnotherDimLeavesTheRest) {
  ShardingAttr old =
      sharding("[{\"dp\"}, {\"tp\":(2)3, unit 4, ?}], partial = max {\"tp\":(1)2}, replicated = {\"pp\"}");
  EXPECT_EQ(old.withDim(0, dim("")),
            sharding("[{}, {\"tp\":(2)3, unit 4, ?}], partial = max {\"tp\":(1)2}, replicated = {\"pp\"}"));
  // The new axes distribute element by element; an open dim stays open.
  EXPECT_EQ(old.withDim(1, {axis("tp", 2, 3)}),
            sharding("[{\"dp\"}, {\"tp\":(2)3, ?}], partial = max {\"tp\":(1)2}, replicated = {\"pp\"}"));
  EXPECT_EQ(old.withoutPartial(), sharding("[{\"dp\"}, {\"tp\":(2)3, unit 4, ?}], replicated = {\"pp\"}"));
}

TEST_F(PlanAttrs, TheShardingIsTheEncodingOfATensor) {
  EXPECT_EQ(getSharding(tensor("tensor<4xf32, #plan.sharding<[{\"tp\"}]>>")), sharding("[{\"tp\"}]"));
  EXPECT_FALSE(getSharding(tensor("tensor<4xf32>")));
  EXPECT_FALSE(getSharding(tensor("tensor<4xf32, 7 : i32>"))) << "an encoding of someone else";
  EXPECT_FALSE(getSharding(type<Type>("tensor<*xf32>")));
  EXPECT_FALSE(getSharding(type<Type>("i32")));
  RankedTensorType plain = tensor("tensor<4xf32>");
  EXPECT_EQ(withSharding(plain, sharding("[{\"tp\"}]")), tensor("tensor<4xf32, #plan.sharding<[{\"tp\"}]>>"));
  EXPECT_EQ(withSharding(withSharding(plain, sharding("[{\"tp\"}]")), nullptr), plain);
}

TEST_F(PlanAttrs, TheMeshIsThatOfTheModuleAround) {
  auto nested = module(R"(
    plan.mesh [#base.mesh_axis<"outer" = 2>]
    module { plan.mesh [#base.mesh_axis<"inner" = 3>] func.func private @f() }
    func.func private @g())");
  auto nameAt = [](Operation *op) { return getMesh(op).getAxisNames(); };
  EXPECT_THAT(nameAt(*nested), ElementsAre("outer"));
  nested->walk([&](func::FuncOp function) {
    EXPECT_THAT(nameAt(function), ElementsAre(function.getName() == "f" ? "inner" : "outer"));
  });
  auto none = module("func.func private @f()");
  EXPECT_FALSE(getMesh(*none));
  EXPECT_FALSE(getMesh(&none->getBody()->front()));
  OwningOpRef<Operation *> alone = none->getBody()->front().clone();
  EXPECT_FALSE(getMesh(*alone)) << "an op outside of every module";
}

TEST_F(PlanAttrs, AxesResolveToPositionsAndSizes) {
  EXPECT_EQ(resolveAxis(axis("dp"), mesh()), (AxisRef{0, 1, 2}));
  EXPECT_EQ(resolveAxis(axis("tp"), mesh()), (AxisRef{1, 1, 6}));
  EXPECT_EQ(resolveAxis(axis("tp", 2, 3), mesh()), (AxisRef{1, 2, 3}));
  EXPECT_EQ(shardCount({}, mesh()), 1);
  EXPECT_EQ(shardCount(dim("\"tp\":(2)3, \"dp\"").getAxes(), mesh()), 6);
}

TEST_F(PlanAttrs, ADimResolvesWithEverythingThatDealsIt) {
  DimSharding plain = resolveDim(24, dim("\"dp\", \"tp\":(1)2, unit 4, repeat 3"), mesh());
  EXPECT_EQ(plain.extent, 24);
  EXPECT_THAT(plain.axes, ElementsAre(AxisRef{0, 1, 2}, AxisRef{1, 1, 2}));
  EXPECT_EQ(plain.unit, 4);
  EXPECT_EQ(plain.repeat, 3);
  EXPECT_TRUE(plain.parts.empty());
  EXPECT_THAT(resolveDim(24, dim("\"tp\", parts [16 unit 4, 8 repeat 3]"), mesh()).parts,
              ElementsAre(DimPart(16, 4), DimPart(8, 1, 3)));
}

/// Dims of 24 elements: all distinct blocks, and some with parts and shared blocks.
const char *const dealt[] = {"unit 1",
                             "unit 2",
                             "unit 3",
                             "unit 4",
                             "unit 6",
                             "unit 8",
                             "unit 12",
                             "unit 24",
                             "parts [12, 12]",
                             "parts [16, 8]",
                             "parts [16 unit 4, 8 unit 4]",
                             "parts [12 unit 2, 12 unit 6]",
                             "parts [16 unit 8, 8 unit 4 repeat 3]",
                             "parts [12 repeat 2, 12]",
                             "unit 4, repeat 2",
                             "unit 12, repeat 3",
                             "unit 24, repeat 4"};
const char *const overs[] = {"\"dp\"", "\"tp\"", "\"tp\":(1)2", "\"tp\":(2)3", "\"dp\", \"tp\"", "\"tp\":(2)3, \"dp\""};

TEST_F(PlanAttrs, TheCanonicalDimIsSplitAlike) {
  for (StringRef over : overs)
    for (StringRef how : dealt) {
      DimShardingAttr given = dim((over + ", " + how).str()), canonical = canonicalDim(24, given, mesh());
      EXPECT_EQ(elements(24, canonical), elements(24, given)) << print(given) << " became " << print(canonical);
      EXPECT_EQ(canonicalDim(24, canonical, mesh()), canonical);
    }
}

TEST_F(PlanAttrs, DimsThatAreSplitAlikeAreOneCanonicalDim) {
  for (StringRef over : overs)
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = 0; j < i; ++j) {
        DimShardingAttr one = dim((over + ", " + dealt[i]).str()), other = dim((over + ", " + dealt[j]).str());
        EXPECT_EQ(canonicalDim(24, one, mesh()) == canonicalDim(24, other, mesh()),
                  elements(24, one) == elements(24, other))
            << print(one) << ' ' << print(other);
      }
}

TEST_F(PlanAttrs, UnitsThatNeighboursShare) {
  EXPECT_FALSE(isShared(dim("\"dp\", unit 4")));
  EXPECT_FALSE(isShared(dim("\"dp\", parts [16 unit 4, 8]")));
  EXPECT_TRUE(isShared(dim("\"dp\", unit 4, repeat 2")));
  EXPECT_TRUE(isShared(dim("\"dp\", parts [16 unit 4, 8 unit 4 repeat 3]")));
}

TEST_F(PlanAttrs, OfSharedUnitsARankKeepsItsOwn) {
  for (StringRef how : {"unit 4, repeat 3", "parts [16 unit 4, 8 unit 8 repeat 5]", "parts [12 repeat 2, 12 unit 6]"})
    for (StringRef over : overs) {
      DimShardingAttr shared = dim((over + ", " + how).str()), own = ownUnits(24, shared, mesh());
      EXPECT_FALSE(isShared(own));
      std::vector<int64_t> holders(24, 0);
      int64_t shards = shardCount(own.getAxes(), mesh()), copies = 12 / shards;
      for (const auto &held : elements(24, own))
        for (int64_t element : held)
          ++holders[element];
      EXPECT_THAT(holders, testing::Each(copies)) << print(own);
    }
}

TEST_F(PlanAttrs, EachShardHasAUnitWhereThereAreEnough) {
  auto has = [&](StringRef text) { return hasBlockForEach(24, dim(text), mesh()); };
  EXPECT_TRUE(has("\"tp\", unit 4"));
  EXPECT_FALSE(has("\"tp\", unit 6"));
  EXPECT_TRUE(has("\"tp\", parts [18 unit 3, 6]"));
  EXPECT_FALSE(has("\"tp\", parts [18 unit 3, 6 unit 2]")) << "the second has three";
}

TEST_F(PlanAttrs, AWholeDimHasNeitherUnitNorParts) {
  EXPECT_EQ(canonicalDim(24, dim("?"), mesh()), dim("?"));
  EXPECT_EQ(divideDim(24, {}, mesh(), 4, {}, 2), dim(""));
  EXPECT_EQ(dropMinorAxes(24, dim("\"tp\", unit 8, repeat 3"), 1, mesh()), dim(""));
  EXPECT_EQ(dropMinorAxes(24, dim("\"tp\", parts [12 unit 4, 12], ?"), 1, mesh()), dim("?"));
  EXPECT_EQ(canonicalDim(0, dim("\"tp\", unit 4"), mesh()), dim("\"tp\"")) << "no elements are split evenly";
}

TEST_F(PlanAttrs, GatheringMinorAxesUnitesShards) {
  // After the gather, a rank holds the union of the elements of all ranks that agree on the remaining axes.
  for (StringRef how : {"unit 1", "unit 2", "unit 4", "unit 8", "parts [16, 8]", "parts [16 unit 4, 8 unit 8 repeat 5]",
                        "unit 12, repeat 3"})
    for (StringRef over : {"\"dp\", \"tp\"", "\"tp\":(1)2, \"dp\", \"tp\":(2)3"}) {
      DimShardingAttr fine = dim((over + ", " + how).str());
      for (size_t count = 0; count <= fine.getAxes().size(); ++count) {
        DimShardingAttr coarse = dropMinorAxes(24, fine, count, mesh());
        auto before = elements(24, fine), after = elements(24, coarse);
        DimSharding stays = resolveDim(24, coarse, mesh());
        std::map<int64_t, std::set<int64_t>> united;
        std::vector<int64_t> sizes = {2, 6};
        for (int64_t rank = 0; rank < 12; ++rank)
          united[shardIndex(stays.axes, sizes, coordinateOfRank(rank, sizes))].insert(before[rank].begin(),
                                                                                      before[rank].end());
        for (int64_t rank = 0; rank < 12; ++rank) {
          std::set<int64_t> held(after[rank].begin(), after[rank].end());
          EXPECT_EQ(held, united[shardIndex(stays.axes, sizes, coordinateOfRank(rank, sizes))])
              << print(fine) << " without " << count;
        }
      }
    }
}

TEST_F(PlanAttrs, BytesOfAnElement) {
  std::pair<const char *, int64_t> cases[] = {{"i1", 1},  {"i8", 1},  {"bf16", 2},         {"f32", 4},
                                              {"i64", 8}, {"f64", 8}, {"tensor<4xf16>", 2}};
  for (auto [text, bytes] : cases)
    EXPECT_EQ(elementBytes(type<Type>(text)), bytes) << text;
}

TEST_F(PlanAttrs, TheLargestShardIsWhatTheFullestRankHolds) {
  for (StringRef text : {"tensor<24x5xf32>", "tensor<f64>", "tensor<24x5xf32, #plan.sharding<[{}, {}]>>",
                         "tensor<24x5xbf16, #plan.sharding<[{\"tp\", unit 8}, {\"dp\"}]>>",
                         "tensor<24x0xf32, #plan.sharding<[{\"tp\"}, {\"dp\"}]>>",
                         "tensor<24x5xf32, #plan.sharding<[{\"tp\", parts [20, 4]}, {}], partial = sum {\"dp\"}>>",
                         "tensor<24x5xi8, #plan.sharding<[{\"dp\", \"tp\", unit 8, repeat 5}, {}]>>"}) {
    RankedTensorType type = tensor(text);
    std::vector<int64_t> held(12, elementBytes(type));
    for (int64_t index = 0; index < type.getRank(); ++index) {
      ShardingAttr sharding = getSharding(type);
      auto part = elements(type.getDimSize(index), sharding ? sharding.getDims()[index] : dim(""));
      for (int64_t rank = 0; rank < 12; ++rank)
        held[rank] *= part[rank].size();
    }
    EXPECT_EQ(largestShardBytes(type, mesh()), *llvm::max_element(held)) << text.str();
  }
}

} // namespace
} // namespace meshplan
