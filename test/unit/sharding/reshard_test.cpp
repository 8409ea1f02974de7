//===- reshard_test.cpp - resharding on simulated ranks -------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "test/unit/sharding/draw_shardings.h"
#include "test/unit/sharding/simulated_ranks.h"

using namespace meshplan;
using namespace meshplan::plan;

namespace {

class ReshardTest : public ::testing::Test {
protected:
  ReshardTest() : builder(&context) { context.loadDialect<PlanDialect>(); }

  MeshOp makeMesh(llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> axes) {
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    llvm::SmallVector<mlir::Attribute> list;
    for (auto [name, size] : axes)
      list.push_back(MeshAxisAttr::get(&context, name, size));
    return MeshOp::create(builder, builder.getUnknownLoc(), builder.getArrayAttr(list));
  }

  ShardingAttr sharding(llvm::ArrayRef<AxisList> dims, AxisList partial = {}) {
    llvm::SmallVector<DimShardingAttr> attributes;
    for (const AxisList &axes : dims)
      attributes.push_back(DimShardingAttr::get(&context, axes));
    return ShardingAttr::get(&context, attributes, partial.empty() ? Reduction::none : Reduction::sum, partial);
  }

  AxisRefAttr axis(llvm::StringRef name) { return AxisRefAttr::get(&context, name); }

  /// Runs the plan on simulated ranks and compares with the target's own shards.
  llvm::SmallVector<ReshardStep> check(ShardingAttr from, ShardingAttr to, MeshOp mesh, llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<ReshardStep> steps =
        planReshard(mlir::RankedTensorType::get(shape, builder.getF32Type(), from), to, mesh);
    SimulatedRanks(mesh, shape).run(from, steps, to);
    return steps;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(ReshardTest, EqualShardingsNeedNoStep) {
  MeshOp mesh = makeMesh({{"a", 2}});
  EXPECT_TRUE(check(sharding({{axis("a")}, {}}), sharding({{axis("a")}, {}}), mesh, {4, 4}).empty());
}

TEST_F(ReshardTest, PartialToDividedIsOneReduceScatter) {
  MeshOp mesh = makeMesh({{"dp", 2}, {"tp", 2}});
  auto steps = check(sharding({{axis("dp")}, {}}, {axis("tp")}), sharding({{axis("dp")}, {axis("tp")}}), mesh, {4, 4});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(steps[0].dim, 1);
}

TEST_F(ReshardTest, PartialToWholeIsOneAllReduce) {
  MeshOp mesh = makeMesh({{"dp", 2}, {"tp", 2}});
  auto steps = check(sharding({{}, {}}, {axis("dp"), axis("tp")}), sharding({{}, {}}), mesh, {4, 4});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(steps[0].axes.size(), 2u);
}

TEST_F(ReshardTest, MovingAnAxisIsOneAllToAll) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 2}});
  auto steps = check(sharding({{axis("a"), axis("b")}, {}}), sharding({{axis("a")}, {axis("b")}}), mesh, {4, 4});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_to_all);
}

TEST_F(ReshardTest, ExchangedAxesAreOnePermutation) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 2}});
  auto steps = check(sharding({{axis("a")}, {axis("b")}}), sharding({{axis("b")}, {axis("a")}}), mesh, {4, 4});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::permute);
}

TEST_F(ReshardTest, GatheringTwoAxesOfADimIsOneStep) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 2}});
  auto steps = check(sharding({{axis("a"), axis("b")}, {}}), sharding({{}, {}}), mesh, {4, 4});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_gather);
}

TEST_F(ReshardTest, SlicingMovesNothing) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 2}});
  auto from = sharding({{}, {}}), to = sharding({{axis("b")}, {axis("a")}});
  check(from, to, mesh, {4, 4});
  auto type = mlir::RankedTensorType::get({4, 4}, builder.getF32Type(), from);
  EXPECT_EQ(reshardBytes(type, to, mesh), 0);
}

TEST_F(ReshardTest, BytesOfAnAllReduceAreTwiceThoseOfAGather) {
  MeshOp mesh = makeMesh({{"a", 4}});
  auto whole = sharding({{}});
  auto partial = mlir::RankedTensorType::get({8}, builder.getF32Type(), sharding({{}}, {axis("a")}));
  auto divided = mlir::RankedTensorType::get({8}, builder.getF32Type(), sharding({{axis("a")}}));
  EXPECT_EQ(reshardBytes(partial, whole, mesh), 48);
  EXPECT_EQ(reshardBytes(divided, whole, mesh), 24);
}

TEST_F(ReshardTest, RandomPairsEndAtTheTarget) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 3}, {"c", 4}});
  auto [c1, c2] = splitAxis(axis("c"), 2, mesh);
  llvm::SmallVector<AxisRefAttr> digits{axis("a"), axis("b"), c1, c2};
  std::mt19937 random(7);
  for (int draw = 0; draw < 400; ++draw) {
    ShardingAttr from = drawSharding(random, mesh, digits, 2, digits);
    ShardingAttr to = drawSharding(random, mesh, digits, 2, {});
    check(from, to, mesh, {24, 24});
    if (HasFailure())
      FAIL() << "draw " << draw;
  }
}

TEST_F(ReshardTest, RandomUnevenPairsEndAtTheTarget) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 3}, {"c", 4}});
  auto [c1, c2] = splitAxis(axis("c"), 2, mesh);
  llvm::SmallVector<AxisRefAttr> digits{axis("a"), axis("b"), c1, c2};
  llvm::SmallVector<int64_t> shape{28, 40};
  std::mt19937 random(11);
  for (int draw = 0; draw < 400; ++draw) {
    ShardingAttr from = drawDealing(random, mesh, drawSharding(random, mesh, digits, 2, digits), shape);
    ShardingAttr to = drawDealing(random, mesh, drawSharding(random, mesh, digits, 2, {}), shape);
    check(from, to, mesh, shape);
    if (HasFailure())
      FAIL() << "draw " << draw;
  }
}

TEST_F(ReshardTest, RandomFlatPairsEndAtTheTarget) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 3}, {"c", 4}});
  auto [c1, c2] = splitAxis(axis("c"), 2, mesh);
  llvm::SmallVector<AxisRefAttr> digits{axis("a"), axis("b"), c1, c2};
  llvm::SmallVector<int64_t> shape{28, 40};
  std::mt19937 random(13);
  size_t moves = 0, longest = 0;
  for (int draw = 0; draw < 300; ++draw) {
    ShardingAttr from = drawDealing(random, mesh, drawSharding(random, mesh, digits, 2, digits), shape);
    ShardingAttr to = drawDealing(random, mesh, drawSharding(random, mesh, digits, 2, {}), shape);
    if (draw % 3 == 0) // as for a parameter and its gradient: only the flat axes change
      to = from.withoutPartial();
    if (draw % 2 == 0)
      from = drawFlat(random, mesh, digits, from);
    to = drawFlat(random, mesh, digits, to);
    auto steps = check(from, to, mesh, shape);
    moves += llvm::any_of(steps, [](const ReshardStep &step) { return step.dim == -1 && step.result.isFlat(); });
    longest = std::max(longest, steps.size());
    if (HasFailure())
      FAIL() << "draw " << draw;
  }
  EXPECT_GT(moves, 50u);
  EXPECT_LE(longest, 12u);
}

TEST_F(ReshardTest, AFlatTensorIsGatheredInOneStep) {
  MeshOp mesh = makeMesh({{"dp", 2}, {"tp", 2}});
  ShardingAttr dims = sharding({{axis("tp")}, {}});
  auto steps = check(dims.withFlat({axis("dp")}), dims, mesh, {4, 4});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(steps[0].dim, -1);
}

TEST_F(ReshardTest, WhatIsFlatIsGatheredBeforeDimsChange) {
  MeshOp mesh = makeMesh({{"dp", 2}, {"tp", 2}});
  auto steps = check(sharding({{axis("tp")}, {}}).withFlat({axis("dp")}), sharding({{}, {axis("tp")}}), mesh, {4, 4});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(steps[1].kind, CollectiveKind::all_to_all);
}

TEST_F(ReshardTest, AnAxisIsTakenFromAnUnevenDimWithoutMovingTheRest) {
  MeshOp mesh = makeMesh({{"a", 2}, {"b", 2}});
  ShardingAttr both = sharding({{}}).withDim(0, divideDim(6, {axis("a"), axis("b")}, mesh));
  ShardingAttr one = sharding({{}}).withDim(0, divideDim(6, {axis("a")}, mesh));
  auto steps = check(both, one, mesh, {6});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(steps[0].axes.size(), 1u);
}

TEST_F(ReshardTest, AnotherUnitIsSplitAgain) {
  MeshOp mesh = makeMesh({{"a", 2}});
  ShardingAttr from = sharding({{}}).withDim(0, divideDim(9 * 64, {axis("a")}, mesh, 64));
  ShardingAttr to = sharding({{}}).withDim(0, divideDim(9 * 64, {axis("a")}, mesh, 192));
  auto steps = check(from, to, mesh, {9 * 64});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(steps[1].kind, std::nullopt);
}

TEST_F(ReshardTest, SharedUnitsAreCutFromWhatIsWhole) {
  MeshOp mesh = makeMesh({{"a", 4}});
  ShardingAttr shared = sharding({{}}).withDim(0, divideDim(3 * 8, {axis("a")}, mesh, 8, {}, 3));
  auto steps = check(sharding({{}}), shared, mesh, {3 * 8});
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, std::nullopt);
}

TEST_F(ReshardTest, OfSharedUnitsEachRankGathersItsOwn) {
  MeshOp mesh = makeMesh({{"a", 4}});
  ShardingAttr shared = sharding({{}}).withDim(0, divideDim(3 * 8, {axis("a")}, mesh, 8, {}, 3));
  auto steps = check(shared, sharding({{}}), mesh, {3 * 8});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, std::nullopt);
  EXPECT_EQ(steps[1].kind, CollectiveKind::all_gather);
}

TEST_F(ReshardTest, NothingIsScatteredToSharedUnits) {
  MeshOp mesh = makeMesh({{"a", 4}});
  ShardingAttr shared = sharding({{}}).withDim(0, divideDim(3 * 8, {axis("a")}, mesh, 8, {}, 3));
  auto steps = check(sharding({{}}, {axis("a")}), shared, mesh, {3 * 8});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(steps[1].kind, std::nullopt);
}

} // namespace
