//===- axes_test.cpp - lists of axes against the coordinates of all ranks -===//

#include "compiler/sharding/axes.h"
#include "compiler/sharding/storage/data_axes.h"
#include "test/unit/dialect/plan_text.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class AxesTest : public PlanText {
protected:
  AxesTest() { readOnMesh(2, 12); }

  /// The axes of a dim: `"dp", "tp":(2)3`.
  AxisList axes(StringRef text) { return AxisList(dim(text).getAxes()); }

  /// The shard of each of the 24 ranks for these axes.
  std::vector<int64_t> shards(ArrayRef<AxisRefAttr> axes) {
    std::vector<int64_t> sizes = {2, 12}, shards;
    SmallVector<AxisRef> resolved = llvm::map_to_vector(axes, [&](AxisRefAttr a) { return resolveAxis(a, mesh()); });
    for (int64_t rank = 0; rank < 24; ++rank)
      shards.push_back(shardIndex(resolved, sizes, coordinateOfRank(rank, sizes)));
    return shards;
  }
};

TEST_F(AxesTest, AWholeAxisHasOneSpelling) {
  EXPECT_EQ(makeAxis(mesh(), 1, 1, 12), axis("tp"));
  EXPECT_EQ(makeAxis(mesh(), 1, 1, 6), axis("tp", 1, 6));
  EXPECT_EQ(makeAxis(mesh(), 1, 6, 2), axis("tp", 6, 2));
  EXPECT_EQ(makeAxis(mesh(), 0, 1, 2), axis("dp"));
}

TEST_F(AxesTest, AnAxisIsAsLargeAsItsShardsAreMany) {
  for (AxisRefAttr one : {axis("dp"), axis("tp"), axis("tp", 2, 3), axis("tp", 1, 6)})
    EXPECT_EQ(axisSize(one, mesh()), *llvm::max_element(shards({one})) + 1) << print(one);
}

TEST_F(AxesTest, ASplitAxisIsItsDigitsInOrder) {
  for (AxisRefAttr whole : {axis("tp"), axis("tp", 1, 6), axis("tp", 2, 6), axis("tp", 3, 4)})
    for (int64_t size = 2; size < axisSize(whole, mesh()); ++size) {
      if (axisSize(whole, mesh()) % size != 0)
        continue;
      auto [major, minor] = splitAxis(whole, size, mesh());
      EXPECT_EQ(axisSize(major, mesh()), size);
      EXPECT_EQ(shards({major, minor}), shards({whole})) << print(whole) << " at " << size;
      EXPECT_FALSE(major.overlaps(minor));
      EXPECT_THAT(mergeDigits({major, minor}, mesh()), testing::ElementsAre(whole));
    }
}

TEST_F(AxesTest, MergedDigitsMakeTheSameShards) {
  std::pair<const char *, const char *> cases[] = {
      {"", ""},
      {"\"tp\"", "\"tp\""},
      {"\"tp\":(1)2, \"tp\":(2)6", "\"tp\""},
      {"\"tp\":(1)2, \"tp\":(2)3, \"tp\":(6)2", "\"tp\""},
      {"\"tp\":(2)3, \"tp\":(6)2", "\"tp\":(2)6"},
      {"\"dp\", \"tp\":(1)3, \"tp\":(3)4", "\"dp\", \"tp\""},
      // In the other order, or with a gap or another axis between them, they do not form one digit.
      {"\"tp\":(2)6, \"tp\":(1)2", "\"tp\":(2)6, \"tp\":(1)2"},
      {"\"tp\":(1)2, \"tp\":(6)2", "\"tp\":(1)2, \"tp\":(6)2"},
      {"\"tp\":(1)2, \"dp\", \"tp\":(2)6", "\"tp\":(1)2, \"dp\", \"tp\":(2)6"},
  };
  for (auto [text, merged] : cases) {
    EXPECT_EQ(mergeDigits(axes(text), mesh()), axes(merged)) << text;
    EXPECT_EQ(shards(axes(text)), shards(axes(merged))) << text;
  }
}

TEST_F(AxesTest, OverlapIsWithAnyOfTheList) {
  EXPECT_FALSE(overlapsAny({}, axis("tp")));
  EXPECT_TRUE(overlapsAny(axes("\"dp\", \"tp\":(2)3"), axis("tp")));
  EXPECT_FALSE(overlapsAny(axes("\"dp\", \"tp\":(2)3"), axis("tp", 6, 2)));
}

TEST_F(AxesTest, AddedAxesHoldTheDigitsOfAll) {
  struct Case {
    const char *list, *added, *result;
  };
  const Case cases[] = {
      {"", "\"tp\":(2)3", "\"tp\":(2)3"},
      {"\"dp\", \"tp\":(1)2", "\"tp\":(2)3", "\"dp\", \"tp\":(1)2, \"tp\":(2)3"},
      {"\"dp\", \"tp\"", "\"tp\"", "\"dp\", \"tp\""},
      // A digit of an existing axis, and the other way around; the position stays.
      {"\"tp\", \"dp\"", "\"tp\":(2)3", "\"tp\", \"dp\""},
      {"\"tp\":(2)3, \"dp\"", "\"tp\"", "\"tp\", \"dp\""},
      {"\"tp\":(1)2, \"dp\", \"tp\":(6)2", "\"tp\"", "\"tp\", \"dp\""},
      // Overlapping digits: (1)6 and (2)6 are the digits 2, 3 and 3, 2.
      {"\"tp\":(1)6", "\"tp\":(2)6", "\"tp\""},
      {"\"tp\":(1)4", "\"tp\":(2)2", "\"tp\":(1)4"},
      // 4 and 6 shards of one axis are both refined only by all 12.
      {"\"tp\":(1)4", "\"tp\":(1)6", "\"tp\""},
      // A digit that grew absorbs earlier ones: (1)4 and (3)2 make (1)12.
      {"\"tp\":(6)2, \"tp\":(1)4", "\"tp\":(3)2", "\"tp\""},
  };
  for (const Case &each : cases) {
    AxisList list = axes(each.list);
    addAxis(list, axes(each.added).front(), mesh());
    EXPECT_EQ(list, axes(each.result)) << each.list << " and " << each.added;
  }
}

TEST_F(AxesTest, WithoutDropsWhatSharesADigit) {
  EXPECT_EQ(without(axes("\"dp\", \"tp\""), axes("\"tp\":(2)3")), axes("\"dp\""));
  EXPECT_EQ(without(axes("\"tp\":(1)2, \"dp\", \"tp\":(2)6"), axes("\"tp\":(6)2")), axes("\"tp\":(1)2, \"dp\""));
  EXPECT_EQ(without(axes("\"dp\", \"tp\""), {}), axes("\"dp\", \"tp\""));
  EXPECT_THAT(without(axes("\"dp\", \"tp\""), axes("\"tp\", \"dp\"")), testing::IsEmpty());
}

TEST_F(AxesTest, ARemainderIsWhatDigitsLeave) {
  struct {
    StringRef list, removed, result;
  } cases[] = {
      {"\"dp\", \"tp\"", "\"dp\"", "\"tp\""},
      {"\"dp\", \"tp\"", "\"tp\":(4)3", "\"dp\", \"tp\":(1)4"},
      {"\"tp\"", "\"tp\":(2)3", "\"tp\":(1)2, \"tp\":(6)2"},
      {"\"tp\", \"dp\"", "\"tp\":(6)2, \"tp\":(1)2", "\"tp\":(2)3, \"dp\""},
      {"\"tp\":(2)3", "\"tp\"", ""},
      {"\"tp\":(1)2", "\"tp\":(2)6, \"dp\"", "\"tp\":(1)2"},
      // (1)4 ends inside (3)4, so that nothing of it can be cut out.
      {"\"tp\":(1)4, \"dp\"", "\"tp\":(3)4", "\"dp\""},
  };
  for (const auto &each : cases)
    EXPECT_EQ(remainderOf(axes(each.list), axes(each.removed), mesh()), axes(each.result))
        << each.list.str() << " without " << each.removed.str();
}

TEST_F(AxesTest, ATypeWithoutAxesHasNoneOfThemAnywhere) {
  auto dropped = [&](StringRef tensor, StringRef removed) {
    return print(without(type<RankedTensorType>(tensor), axes(removed), mesh()));
  };
  EXPECT_EQ(dropped("tensor<24x4xf32, #plan.sharding<[{\"dp\", \"tp\"}, {}]>>", "\"tp\""),
            "#plan.sharding<[{\"dp\"}, {}]>");
  EXPECT_EQ(dropped("tensor<24x4xf32, #plan.sharding<[{\"dp\"}, {}], partial = max {\"tp\"}>>", "\"tp\""),
            "#plan.sharding<[{\"dp\"}, {}]>");
  EXPECT_EQ(dropped("tensor<24x4xf32, #plan.sharding<[{\"dp\"}, {}], partial = max {\"tp\":(1)2, \"tp\":(2)6}>>",
                    "\"tp\":(1)2"),
            "#plan.sharding<[{\"dp\"}, {}], partial = max {\"tp\":(2)6}>");
  EXPECT_EQ(dropped("tensor<24x4xf32, #plan.sharding<[{\"dp\"}, {}]>>", "\"tp\""), "#plan.sharding<[{\"dp\"}, {}]>");
}

TEST_F(AxesTest, AUnitStaysWhereItMakesADifference) {
  // Three heads over dp and tp are uneven, and still are over dp alone; six heads over dp are not.
  auto dropped = [&](StringRef tensor) {
    return print(without(type<RankedTensorType>(tensor), axes("\"tp\""), mesh()));
  };
  EXPECT_EQ(dropped("tensor<12xf32, #plan.sharding<[{\"dp\", \"tp\", unit 4}]>>"),
            "#plan.sharding<[{\"dp\", unit 4}]>");
  EXPECT_EQ(dropped("tensor<24xf32, #plan.sharding<[{\"dp\", \"tp\", unit 4}]>>"), "#plan.sharding<[{\"dp\"}]>");
  EXPECT_EQ(dropped("tensor<24xf32, #plan.sharding<[{\"tp\", unit 4}]>>"), "#plan.sharding<[{}]>");
  EXPECT_EQ(dropped("tensor<24xf32, #plan.sharding<[{\"dp\", \"tp\", parts [16, 8]}]>>"),
            "#plan.sharding<[{\"dp\", parts [16, 8]}]>");
}

} // namespace
