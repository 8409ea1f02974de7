//===- projection_test.cpp - dims and factors -----------------------------===//

#include "compiler/sharding/projection.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace meshplan;
using namespace meshplan::plan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class ProjectionTest : public testing::Test {
protected:
  ProjectionTest() : builder(&context) {
    context.loadDialect<PlanDialect>();
    module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    llvm::SmallVector<mlir::Attribute> axes;
    for (auto [name, size] : {std::pair("two", 2), {"three", 3}, {"four", 4}})
      axes.push_back(MeshAxisAttr::get(&context, name, size));
    mesh = MeshOp::create(builder, builder.getUnknownLoc(), builder.getArrayAttr(axes));
  }

  AxisRefAttr axis(llvm::StringRef name) { return AxisRefAttr::get(&context, name); }

  /// A tensor with one dim of these factors, major to minor.
  FactorRule dimOf(llvm::ArrayRef<int64_t> sizes) {
    FactorRule rule;
    rule.operands.resize(1);
    rule.operands[0].dims.resize(1);
    for (int64_t size : sizes)
      rule.operands[0].dims[0].push_back(rule.add(size));
    return rule;
  }

  /// A tensor with one dim, each of whose indices is shared by `count` indices of a factor of `size`.
  FactorRule sharedBy(int64_t count, int64_t size) {
    FactorRule rule = dimOf({size});
    rule.operands[0].shared = {{0, count}};
    return rule;
  }

  /// A tensor with one dim that joins these factors.
  FactorRule joinOf(llvm::ArrayRef<int64_t> sizes) {
    FactorRule rule = dimOf(sizes);
    rule.operands[0].joined = {0};
    return rule;
  }

  Projection project(const FactorRule &rule, llvm::ArrayRef<AxisRefAttr> axes, int64_t unit = 1,
                     llvm::ArrayRef<DimPart> parts = {}) {
    return projectToFactors(layout(rule, axes, unit, parts), rule.operands[0], rule, mesh);
  }

  ShardingAttr layout(const FactorRule &rule, llvm::ArrayRef<AxisRefAttr> axes, int64_t unit,
                      llvm::ArrayRef<DimPart> parts) {
    int64_t extent = 1;
    for (const Factor &factor : rule.factors)
      extent *= factor.size;
    return ShardingAttr::get(&context, {divideDim(extent, axes, mesh, unit, parts)});
  }

  static std::string print(ShardingAttr sharding) {
    std::string text;
    llvm::raw_string_ostream(text) << sharding;
    return text;
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  MeshOp mesh;
};

TEST_F(ProjectionTest, AnAxisGoesToTheMajorFactor) {
  Projection projection = project(dimOf({8, 64}), {axis("two"), axis("four")});
  EXPECT_FALSE(projection.misfit);
  EXPECT_THAT(projection.factors[0].axes, ElementsAre(axis("two"), axis("four")));
  EXPECT_THAT(projection.factors[1].axes, IsEmpty());
}

TEST_F(ProjectionTest, ADimWithoutElementsIsWhole) {
  FactorRule rule = dimOf({0});
  Projection projection = project(rule, {});
  EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh), ShardingAttr::getReplicated(&context, 1));
}

TEST_F(ProjectionTest, WhatAFactorLeavesGoesToTheNext) {
  Projection projection = project(dimOf({2, 64}), {axis("four")});
  EXPECT_TRUE(projection.cut);
  EXPECT_EQ(projection.factors[0].axes.size(), 1u);
  EXPECT_EQ(projection.factors[1].axes.size(), 1u);
  EXPECT_EQ(axisSize(projection.factors[1].axes[0], mesh), 2);
}

TEST_F(ProjectionTest, AHeadIsNotCut) {
  // 9 heads of 64 over two: 288 columns each would be four and a half heads.
  Projection projection = project(dimOf({9, 64}), {axis("two")});
  ASSERT_TRUE(projection.misfit);
  EXPECT_EQ(projection.misfit->factorSize, 9);
  EXPECT_THAT(projection.factors[0].axes, IsEmpty());
}

TEST_F(ProjectionTest, HeadsAreSplitUnevenly) {
  Projection projection = project(dimOf({9, 64}), {axis("two")}, 64);
  EXPECT_FALSE(projection.misfit);
  EXPECT_THAT(projection.factors[0].axes, ElementsAre(axis("two")));
  EXPECT_EQ(projection.factors[0].unit, 1);
}

TEST_F(ProjectionTest, HeadsThatShareAKeyStayTogether) {
  Projection projection = project(dimOf({9, 64}), {axis("two")}, 192);
  EXPECT_FALSE(projection.misfit);
  EXPECT_EQ(projection.factors[0].unit, 3);
}

TEST_F(ProjectionTest, AUnitThatMakesNoDifferenceIsOne) {
  Projection projection = project(dimOf({9, 64}), {axis("three")}, 192);
  EXPECT_EQ(projection.factors[0].unit, 1);
}

TEST_F(ProjectionTest, LeadingFactorsMayBeTakenDownToSingleIndices) {
  Projection projection = project(dimOf({2, 7, 5}), {axis("two"), axis("three")}, 5);
  EXPECT_FALSE(projection.misfit);
  EXPECT_THAT(projection.factors[0].axes, ElementsAre(axis("two")));
  EXPECT_THAT(projection.factors[1].axes, ElementsAre(axis("three")));
  EXPECT_THAT(projection.factors[2].axes, IsEmpty());
}

TEST_F(ProjectionTest, PartsOfAFactorOfItsOwnStay) {
  Projection projection = project(dimOf({16}), {axis("three")}, 1, {8, {4, 4}, {4, 2, 3}});
  EXPECT_FALSE(projection.misfit);
  EXPECT_THAT(projection.factors[0].parts, ElementsAre(DimPart(8), DimPart(4, 4), DimPart(4, 2, 3)));
}

TEST_F(ProjectionTest, EqualPartsDivideWhatIsBelowThem) {
  Projection projection = project(dimOf({3, 8, 4}), {axis("four")}, 1, {32, 32, 32});
  EXPECT_FALSE(projection.misfit);
  EXPECT_THAT(projection.factors[0].axes, IsEmpty());
  EXPECT_THAT(projection.factors[1].axes, ElementsAre(axis("four")));
  EXPECT_THAT(projection.factors[1].parts, IsEmpty());
}

TEST_F(ProjectionTest, EqualPartsStayWhereFactorsNumberThem) {
  FactorRule rule = dimOf({3, 8, 4});
  for (int64_t unit : {1, 4}) {
    ShardingAttr from = layout(rule, {axis("four")}, 1, {{32, unit}, {32, unit}, {32, unit}});
    Projection projection = projectToFactors(from, rule.operands[0], rule, mesh);
    llvm::SmallVector<unsigned> inexpressible;
    EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh, &inexpressible, from), from);
    EXPECT_THAT(inexpressible, IsEmpty());
    // Only if the tensor already has these parts.
    EXPECT_TRUE(projectToDims(projection.factors, rule.operands[0], rule, mesh, &inexpressible).isReplicated());
    EXPECT_THAT(inexpressible, ElementsAre(1));
  }
  // A different number of parts is different.
  FactorDivisions divisions(3);
  divisions[1].axes = {axis("four")};
  for (const std::vector<DimPart> &parts : {std::vector<DimPart>{48, 48}, std::vector<DimPart>{64, 16, 16}}) {
    llvm::SmallVector<unsigned> inexpressible;
    ShardingAttr other = ShardingAttr::get(&context, {divideDim(96, {axis("two")}, mesh, 1, parts)});
    projectToDims(divisions, rule.operands[0], rule, mesh, &inexpressible, other);
    EXPECT_THAT(inexpressible, ElementsAre(1));
  }
}

TEST_F(ProjectionTest, PartsOfWholeIndicesAreThoseOfTheLeadingFactor) {
  // 8 query heads, 2 key heads and 2 value heads of 4.
  FactorRule rule = dimOf({12, 4});
  for (const std::vector<DimPart> &parts :
       {std::vector<DimPart>{32, 8, 8}, {{32, 4}, {8, 4, 4}, {8, 4, 4}}, {{32, 16}, 8, 8}}) {
    for (llvm::StringRef over : {"two", "three"}) {
      ShardingAttr from = layout(rule, {axis(over)}, 1, parts);
      Projection projection = projectToFactors(from, rule.operands[0], rule, mesh);
      // Heads are cut if a part is sharded by elements, and unevenly.
      bool cuts = llvm::any_of(from.getDims()[0].getParts(), [&](const DimPart &part) {
        return part.unit == 1 && part.extent / 4 % (over == "two" ? 2 : 3) != 0;
      });
      EXPECT_EQ(projection.misfit.has_value(), cuts) << print(from);
      if (cuts)
        continue;
      EXPECT_THAT(projection.factors[0].axes, ElementsAre(axis(over)));
      EXPECT_EQ(projection.factors[0].parts.size(), 3u);
      EXPECT_EQ(projection.factors[0].parts[1].extent, 2);
      EXPECT_THAT(projection.factors[1].axes, IsEmpty());
      llvm::SmallVector<unsigned> inexpressible;
      EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh, &inexpressible), from);
      EXPECT_THAT(inexpressible, IsEmpty());
    }
  }
}

TEST_F(ProjectionTest, EqualPartsOfWholeIndicesAreThoseOfTheLeadingFactor) {
  for (int64_t unit : {1, 4}) {
    Projection projection = project(dimOf({8, 4}), {axis("two")}, 1, {{16, unit}, {16, unit}});
    EXPECT_FALSE(projection.misfit);
    EXPECT_THAT(projection.factors[0].axes, ElementsAre(axis("two")));
    EXPECT_THAT(projection.factors[0].parts, ElementsAre(DimPart(4), DimPart(4)));
    EXPECT_THAT(projection.factors[1].axes, IsEmpty());
  }
  EXPECT_TRUE(project(dimOf({8, 4}), {axis("three")}, 1, {16, 16}).misfit) << "shards would cut an index";
  EXPECT_TRUE(project(dimOf({9, 2}), {axis("two")}, 1, {9, 9}).misfit) << "parts cut an index";
}

TEST_F(ProjectionTest, OtherPartsBlock) {
  EXPECT_TRUE(project(dimOf({3, 8, 4}), {axis("four")}, 1, {62, 18, 16}).misfit);
  EXPECT_TRUE(project(dimOf({8, 4}), {axis("two")}, 1, {18, 14}).misfit);
  FactorRule counted = dimOf({8});
  counted.factors[0].isCounted = true;
  EXPECT_TRUE(project(counted, {axis("two")}, 1, {4, 4}).misfit);
}

TEST_F(ProjectionTest, PartsBelowAnotherFactorCannotBeExpressed) {
  FactorRule rule = dimOf({2, 12});
  FactorDivisions divisions(2);
  divisions[1].axes = {axis("two")};
  divisions[1].parts = {8, 4};
  llvm::SmallVector<unsigned> inexpressible;
  EXPECT_TRUE(projectToDims(divisions, rule.operands[0], rule, mesh, &inexpressible).isReplicated());
  EXPECT_THAT(inexpressible, ElementsAre(1u));
  // Parts of single indices are parts of the leading factor.
  inexpressible.clear();
  FactorRule numbered = dimOf({2, 8}), pairs = dimOf({8, 2});
  FactorDivisions halves(2);
  halves[0].axes = {axis("two")};
  halves[0].parts = {1, 1};
  EXPECT_TRUE(projectToDims(halves, numbered.operands[0], numbered, mesh, &inexpressible).isReplicated());
  EXPECT_THAT(inexpressible, ElementsAre(0u));
  inexpressible.clear();
  halves[0].parts = {4, 4};
  EXPECT_EQ(projectToDims(halves, pairs.operands[0], pairs, mesh, &inexpressible).getDims()[0],
            divideDim(16, {axis("two")}, mesh, 1, {{8, 2}, {8, 2}}));
  EXPECT_THAT(inexpressible, IsEmpty());
  for (const std::vector<DimPart> &parts : {std::vector<DimPart>{4, 4}, std::vector<DimPart>{6, 2}}) {
    halves[0].parts.assign(parts.begin(), parts.end());
    DimShardingAttr known = divideDim(16, {axis("two")}, mesh, 1, {{2 * parts[0].extent, 2}, {2 * parts[1].extent, 2}});
    ShardingAttr arriving = ShardingAttr::get(&context, {known});
    EXPECT_EQ(projectToDims(halves, pairs.operands[0], pairs, mesh, &inexpressible, arriving), arriving);
    EXPECT_THAT(inexpressible, IsEmpty());
    EXPECT_EQ(projectToFactors(arriving, pairs.operands[0], pairs, mesh).factors, halves);
  }
  divisions[0].axes = {axis("two")};
  divisions[1].axes = {axis("three")};
  ShardingAttr made = projectToDims(divisions, rule.operands[0], rule, mesh, &inexpressible);
  EXPECT_EQ(made.getDims()[0], divideDim(24, {axis("two")}, mesh));
  EXPECT_THAT(inexpressible, ElementsAre(1u));
}

TEST_F(ProjectionTest, AMinorFactorBelowAWholeOneCannotBeExpressed) {
  FactorRule rule = dimOf({9, 64});
  FactorDivisions divisions(2);
  divisions[1].axes = {axis("four")};
  llvm::SmallVector<unsigned> inexpressible;
  ShardingAttr made = projectToDims(divisions, rule.operands[0], rule, mesh, &inexpressible);
  EXPECT_TRUE(made.isReplicated());
  EXPECT_THAT(inexpressible, ElementsAre(1u));
}

TEST_F(ProjectionTest, AMinorFactorBelowAnUnevenOneCannotBeExpressed) {
  FactorRule rule = dimOf({9, 64});
  FactorDivisions divisions(2);
  divisions[0].axes = {axis("two")};
  divisions[1].axes = {axis("four")};
  llvm::SmallVector<unsigned> inexpressible;
  ShardingAttr made = projectToDims(divisions, rule.operands[0], rule, mesh, &inexpressible);
  EXPECT_EQ(made.getDims()[0], divideDim(9 * 64, {axis("two")}, mesh, 64));
  EXPECT_THAT(inexpressible, ElementsAre(1u));
}

TEST_F(ProjectionTest, JoinedFactorsAreDividedPartByPart) {
  FactorRule rule = joinOf({8, 4, 4});
  ShardingAttr from = ShardingAttr::get(&context, {divideDim(16, {axis("two")}, mesh, 1, {8, 4, 4})});
  Projection projection = projectToFactors(from, rule.operands[0], rule, mesh);
  EXPECT_FALSE(projection.misfit);
  for (const FactorDivision &division : projection.factors) {
    EXPECT_THAT(division.axes, ElementsAre(axis("two")));
    EXPECT_THAT(division.parts, IsEmpty());
  }
  EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh), from);
}

TEST_F(ProjectionTest, JoinedFactorsHaveUnitsOfTheirOwn) {
  FactorRule rule = joinOf({18, 6, 6});
  const std::vector<DimPart> parts = {{18, 2}, {6, 2, 3}, {6, 2, 3}};
  ShardingAttr from = ShardingAttr::get(&context, {divideDim(30, {axis("four")}, mesh, 1, parts)});
  Projection projection = projectToFactors(from, rule.operands[0], rule, mesh);
  EXPECT_FALSE(projection.misfit);
  for (auto [division, part] : llvm::zip_equal(projection.factors, parts)) {
    EXPECT_EQ(division.unit, part.unit);
    EXPECT_EQ(division.repeat, part.repeat);
    EXPECT_EQ(division.isShared(), part.repeat != 1);
    EXPECT_THAT(division.parts, IsEmpty());
  }
  EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh), from);
}

TEST_F(ProjectionTest, PartsMayBeFinerThanTheJoinedFactors) {
  FactorRule rule = joinOf({8, 8});
  ShardingAttr from = ShardingAttr::get(&context, {divideDim(16, {axis("two")}, mesh, 1, {8, 4, 4})});
  Projection projection = projectToFactors(from, rule.operands[0], rule, mesh);
  EXPECT_FALSE(projection.misfit);
  EXPECT_THAT(projection.factors[0].parts, IsEmpty());
  EXPECT_THAT(projection.factors[1].parts, ElementsAre(DimPart(4), DimPart(4)));
  EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh), from);
}

TEST_F(ProjectionTest, JoinedFactorsDividedAsOneBlock) {
  FactorRule rule = joinOf({8, 4, 4});
  for (const std::vector<DimPart> &parts : {std::vector<DimPart>(), std::vector<DimPart>{4, 12}}) {
    ShardingAttr from = ShardingAttr::get(&context, {divideDim(16, {axis("two")}, mesh, 1, parts)});
    EXPECT_TRUE(projectToFactors(from, rule.operands[0], rule, mesh).misfit);
  }
}

TEST_F(ProjectionTest, JoinedFactorsDividedDifferentlyCannotBeExpressed) {
  FactorRule rule = joinOf({8, 4});
  FactorDivisions divisions(2);
  divisions[0].axes = {axis("two")};
  llvm::SmallVector<unsigned> inexpressible;
  EXPECT_TRUE(projectToDims(divisions, rule.operands[0], rule, mesh, &inexpressible).isReplicated());
  EXPECT_THAT(inexpressible, ElementsAre(0u));
}

TEST_F(ProjectionTest, IndicesThatShareAKeyKeepItWhole) {
  FactorRule rule = sharedBy(3, 9);
  ShardingAttr keys = ShardingAttr::get(&context, {divideDim(3, {axis("two")}, mesh)});
  Projection projection = projectToFactors(keys, rule.operands[0], rule, mesh);
  EXPECT_FALSE(projection.misfit);
  EXPECT_EQ(projection.factors[0].unit, 3);
  EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh), keys);
}

TEST_F(ProjectionTest, MoreShardsThanKeysShareThem) {
  FactorRule rule = sharedBy(3, 9);
  FactorDivisions heads(1);
  heads[0].axes = {axis("four")};
  ShardingAttr keys = projectToDims(heads, rule.operands[0], rule, mesh);
  EXPECT_EQ(keys.getDims()[0], divideDim(3, {axis("four")}, mesh, 1, {}, 3));
  Projection back = projectToFactors(keys, rule.operands[0], rule, mesh);
  EXPECT_FALSE(back.misfit);
  EXPECT_EQ(back.factors[0], heads[0]);
}

TEST_F(ProjectionTest, KeysAreSharedPartByPart) {
  FactorRule rule = sharedBy(2, 12);
  for (const char *name : {"two", "four"}) {
    FactorDivisions heads(1);
    heads[0].axes = {axis(name)};
    heads[0].parts = {4, 8};
    ShardingAttr keys = projectToDims(heads, rule.operands[0], rule, mesh);
    ASSERT_EQ(keys.getDims()[0].getParts().size(), 2u);
    EXPECT_EQ(keys.getDims()[0].getParts()[0].extent, 2);
    Projection back = projectToFactors(keys, rule.operands[0], rule, mesh);
    EXPECT_FALSE(back.misfit);
    EXPECT_EQ(projectToDims(back.factors, rule.operands[0], rule, mesh), keys);
  }
  FactorDivisions odd(1);
  odd[0].axes = {axis("two")};
  odd[0].parts = {5, 7};
  llvm::SmallVector<unsigned> inexpressible;
  EXPECT_TRUE(projectToDims(odd, rule.operands[0], rule, mesh, &inexpressible).isReplicated());
  EXPECT_THAT(inexpressible, ElementsAre(0u)) << "a key would be cut";
}

TEST_F(ProjectionTest, SharingPassesThroughAViewOfHeads) {
  FactorRule rule = dimOf({3, 8});
  ShardingAttr columns = ShardingAttr::get(&context, {divideDim(24, {axis("four")}, mesh, 8, {}, 3)});
  Projection projection = projectToFactors(columns, rule.operands[0], rule, mesh);
  EXPECT_FALSE(projection.misfit);
  EXPECT_EQ(projection.factors[0].repeat, 3);
  EXPECT_EQ(projectToDims(projection.factors, rule.operands[0], rule, mesh), columns);
}

/// The divisions of the factors of a dim, projected back, give the dim again.
TEST_F(ProjectionTest, RoundTripsOfRandomDims) {
  std::mt19937 random(3);
  auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  int projected = 0;
  for (int count = 0; count < 2000; ++count) {
    llvm::SmallVector<int64_t> sizes;
    for (int factors = draw(1, 3); factors > 0; --factors)
      sizes.push_back(draw(1, 9));
    llvm::SmallVector<AxisRefAttr> axes{axis("two"), axis("three"), axis("four")};
    std::shuffle(axes.begin(), axes.end(), random);
    axes.truncate(draw(1, 3));
    FactorRule rule = dimOf(sizes);
    int64_t unit = draw(0, 1) && sizes.size() > 1 ? sizes.back() : 1;
    ShardingAttr from = layout(rule, axes, unit, {});
    Projection projection = projectToFactors(from, rule.operands[0], rule, mesh);
    if (projection.misfit)
      continue;
    ++projected;
    llvm::SmallVector<unsigned> inexpressible;
    ShardingAttr back = projectToDims(projection.factors, rule.operands[0], rule, mesh, &inexpressible);
    EXPECT_THAT(inexpressible, IsEmpty());
    EXPECT_EQ(back, from) << "draw " << count << ": " << print(from) << " becomes " << print(back) << " for factors "
                          << testing::PrintToString(std::vector<int64_t>(sizes.begin(), sizes.end()));
    if (HasFailure())
      return;
  }
  EXPECT_GT(projected, 500);
}

/// The divisions of factors, projected to a dim, come back from it.
TEST_F(ProjectionTest, DrawnDivisionsComeBackFromTheirDim) {
  std::mt19937 generator(11);
  auto draw = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(generator);
  };
  const char *const axes[] = {"two", "three", "four"};
  int divided = 0, inParts = 0;
  for (int round = 0; round < 4000; ++round) {
    llvm::SmallVector<int64_t> sizes;
    for (int64_t count = draw(1, 3); count > 0; --count)
      sizes.push_back(draw(1, 2) == 1 ? draw(1, 4) : 12);
    // Joined factors are sharded together.
    bool isJoined = sizes.size() > 1 && !llvm::is_contained(sizes, 1) && draw(0, 2) == 0;
    FactorRule rule = isJoined ? joinOf(sizes) : dimOf(sizes);
    FactorDivisions divisions(sizes.size());
    AxisRefAttr common = axis(axes[draw(0, 2)]);
    for (auto [index, division] : llvm::enumerate(divisions)) {
      if (sizes[index] == 1 || (!isJoined && draw(0, 1) == 0))
        continue;
      division.axes = {isJoined ? common : axis(axes[index])};
      auto drawPart = [&](int64_t extent) {
        int64_t unit = extent % 4 == 0 ? draw(0, 2) * 2 : 1;
        return DimPart(extent, std::max<int64_t>(unit, 1), std::max<int64_t>(draw(-3, 4), 1));
      };
      DimPart whole = drawPart(sizes[index]);
      division.unit = whole.unit;
      division.repeat = whole.repeat;
      if (sizes[index] == 12 && draw(0, 2) == 0)
        division = {division.axes, 1,
                    draw(0, 1) == 0 ? llvm::SmallVector<DimPart, 3>{drawPart(8), drawPart(4)}
                                    : llvm::SmallVector<DimPart, 3>{drawPart(6), drawPart(6)}};
      division = canonical(division, rule.factors[index], mesh);
    }
    llvm::SmallVector<unsigned> inexpressible;
    ShardingAttr made = projectToDims(divisions, rule.operands[0], rule, mesh, &inexpressible);
    if (!inexpressible.empty())
      continue;
    Projection back = projectToFactors(made, rule.operands[0], rule, mesh);
    ASSERT_FALSE(back.misfit) << print(made);
    for (auto [index, division] : llvm::enumerate(divisions)) {
      bool isWhole = isSingleSharedBlock(division, rule.factors[index], mesh) && !isJoined;
      ASSERT_EQ(back.factors[index], isWhole ? FactorDivision() : division) << print(made) << " of " << index;
    }
    divided += !made.isReplicated();
    inParts += !made.getDims()[0].getParts().empty();
  }
  EXPECT_GT(divided, 1000);
  EXPECT_GT(inParts, 200);
}

} // namespace
