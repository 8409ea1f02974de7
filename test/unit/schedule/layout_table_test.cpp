//===- layout_table_test.cpp - layouts against the ranks' shards ----------===//

#include "compiler/transforms/schedule/layout_table.h"
#include "test/unit/dialect/plan_text.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace mlir;
using testing::ElementsAre;

namespace {

class LayoutTableTest : public PlanText {
protected:
  LayoutTableTest() { context.loadDialect<sched::SchedDialect>(); }

  /// A module with a mesh of dp = 2 and tp = 4, and a function of one argument.
  void read(StringRef argument) { readOnMesh(2, 4, ("func.func private @f(" + argument + ")").str()); }
  Type argumentType() { return function().getArgumentTypes().front(); }
};

TEST_F(LayoutTableTest, AxesByNameBecomeAxesByPosition) {
  std::pair<const char *, const char *> cases[] = {
      {"tensor<8x6xf32, #plan.sharding<[{}, {}]>>", "!sched.tensor<[8, 6], f32>"},
      {"tensor<8x6xf32, #plan.sharding<[{\"dp\"}, {\"tp\"}]>>",
       "!sched.tensor<[8 over {0:(1)2}, 6 over {1:(1)4}], f32>"},
      {"tensor<8xi1, #plan.sharding<[{\"tp\":(2)2, \"dp\"}]>>", "!sched.tensor<[8 over {1:(2)2, 0:(1)2}], i1>"},
      {"tensor<8xf32, #plan.sharding<[{}], partial = sum {\"tp\"}>>",
       "!sched.tensor<[8], f32, partial = sum {1:(1)4}>"},
      {"tensor<8xf32, #plan.sharding<[{}], partial = max {\"dp\"}>>",
       "!sched.tensor<[8], f32, partial = max {0:(1)2}>"},
      {"tensor<8xf32, #plan.sharding<[{}], partial = min {\"dp\"}>>",
       "!sched.tensor<[8], f32, partial = min {0:(1)2}>"},
      {"tensor<12xf32, #plan.sharding<[{\"tp\", parts [8 unit 4, 4 unit 2 repeat 3]}]>>",
       "!sched.tensor<[12 over {1:(1)4} parts [8 unit 4, 4 unit 2 repeat 3]], f32>"},
      {"tensor<12xf32, #plan.sharding<[{\"tp\", unit 6, repeat 3}]>>",
       "!sched.tensor<[12 over {1:(1)4} unit 6 repeat 3], f32>"},
      {"tensor<f64, #plan.sharding<[]>>", "!sched.tensor<[], f64>"},
  };
  for (auto [from, to] : cases) {
    read(from);
    EXPECT_EQ(print(Type(LayoutTable(mesh()).get(argumentType()).type)), to);
  }
}

TEST_F(LayoutTableTest, ClassesHoldTheLargestAndTheSmallestPart) {
  for (StringRef type :
       {"tensor<8x6xf32, #plan.sharding<[{}, {}]>>", "tensor<7x5xbf16, #plan.sharding<[{\"dp\"}, {\"tp\"}]>>",
        "tensor<3x5xf32, #plan.sharding<[{\"tp\", \"dp\"}, {}]>>", "tensor<20xf32, #plan.sharding<[{\"tp\", unit 4}]>>",
        "tensor<20xf32, #plan.sharding<[{\"tp\", parts [14, 6]}]>>", "tensor<0x4xf32, #plan.sharding<[{\"tp\"}, {}]>>",
        "tensor<12xf32, #plan.sharding<[{\"tp\", unit 4, repeat 2}]>>",
        "tensor<20xf32, #plan.sharding<[{\"tp\", parts [14, 6 unit 2 repeat 3]}]>>",
        "tensor<44xf32, #plan.sharding<[{\"dp\", \"tp\", parts [20 unit 4, 12 unit 4 repeat 5, 12 unit 6 repeat 7]}]>>",
        "tensor<20x7xf32, #plan.sharding<[{\"tp\", unit 4, repeat 3}, {\"dp\"}]>>",
        "tensor<3xf32, #plan.sharding<[{\"dp\", \"tp\", repeat 5}]>>"}) {
    read(type);
    LayoutTable table(mesh());
    table.addRankClasses(function());
    const ResolvedLayout &layout = table.get(argumentType());
    ASSERT_EQ(layout.bytes.size(), table.rankClasses());
    std::vector<int64_t> sizes = {2, 4}, held;
    for (int64_t rank = 0; rank < 8; ++rank)
      held.push_back(sched::localBytes(layout.type, sizes, coordinateOfRank(rank, sizes)));
    EXPECT_EQ(*llvm::max_element(layout.bytes), *llvm::max_element(held)) << type.str();
    EXPECT_EQ(*llvm::min_element(layout.bytes), *llvm::min_element(held)) << type.str();
    for (auto [local, bytes] : llvm::zip_equal(layout.local, layout.bytes)) {
      EXPECT_FALSE(local.getEncoding());
      EXPECT_EQ(local.getNumElements() * plan::elementBytes(local), bytes) << type.str();
    }
  }
}

TEST_F(LayoutTableTest, TheFirstClassIsTheFirstRankAndTheLastTheLast) {
  read("tensor<7x5xf32, #plan.sharding<[{\"dp\"}, {\"tp\"}]>>");
  LayoutTable table(mesh());
  EXPECT_EQ(table.rankClasses(), 2u);
  EXPECT_THAT(table.get(argumentType()).local.front().getShape(), ElementsAre(4, 2));
  EXPECT_THAT(table.get(argumentType()).local.back().getShape(), ElementsAre(3, 1));
}

TEST_F(LayoutTableTest, SharersAreAddedOnceForEachLayout) {
  // 3 blocks that count twice are distributed over 4 ranks in a pattern of 4: three classes beside that of rank 0. The
  // last of these, tp = 3 at dp = 0, is not the last rank.
  constexpr char shared[] = "tensor<3xf32, #plan.sharding<[{\"tp\", repeat 2}]>>";
  read((Twine(shared) + ", " + shared).str());
  LayoutTable table(mesh());
  table.addRankClasses(function());
  EXPECT_EQ(table.rankClasses(), 5u);
  EXPECT_THAT(table.get(argumentType()).bytes, ElementsAre(4, 4, 8, 4, 4));
}

TEST_F(LayoutTableTest, WithoutAMeshThereIsOneRank) {
  read("tensor<8x6xf32>");
  LayoutTable table(plan::MeshOp{});
  table.addRankClasses(function());
  EXPECT_EQ(table.rankClasses(), 1u);
  EXPECT_EQ(print(Type(table.get(argumentType()).type)), "!sched.tensor<[8, 6], f32>");
  EXPECT_THAT(table.get(argumentType()).bytes, ElementsAre(8 * 6 * 4));
}

TEST_F(LayoutTableTest, AMeshOfOneRankHasOneClass) {
  readModule("plan.mesh [#base.mesh_axis<\"dp\" = 1>]\nfunc.func private @f(tensor<8xf32, #plan.sharding<[{}]>>)");
  EXPECT_EQ(LayoutTable(mesh()).rankClasses(), 1u);
}

TEST_F(LayoutTableTest, DecidedMeansClosed) {
  auto decided = [&](StringRef text) { return isDecided(type<Type>(text)); };
  EXPECT_TRUE(decided("tensor<8xf32, #plan.sharding<[{}]>>"));
  EXPECT_TRUE(decided("tensor<8xf32, #plan.sharding<[{\"tp\"}], partial = sum {\"dp\"}>>"));
  EXPECT_FALSE(decided("tensor<8xf32, #plan.sharding<[{?}]>>"));
  EXPECT_FALSE(decided("tensor<8xf32>"));
  EXPECT_FALSE(decided("i32"));
}

} // namespace
