//===- dim_units_test.cpp - what may not be cut apart ---------------------===//

#include "compiler/sharding/dim_units.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::plan;

namespace {

class DimUnitsTest : public testing::Test {
protected:
  DimUnitsTest() { context.loadDialect<PlanDialect, mlir::func::FuncDialect>(); }

  /// Parses a module with a mesh {tp = 2, big = 16} and one function.
  void parse(const std::string &function) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        R"(plan.mesh [#plan.mesh_axis<"tp" = 2>, #plan.mesh_axis<"four" = 4>, #plan.mesh_axis<"big" = 16>])" +
            ("\n" + function),
        &context);
    ASSERT_TRUE(module);
    program = *module->getOps<mlir::func::FuncOp>().begin();
    units.emplace(program);
  }

  int64_t ofArgument(unsigned argument, int64_t dim) { return units->get(program.getArgument(argument), dim); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp program;
  std::optional<DimUnits> units;
};

constexpr const char *attention = R"(
func.func @forward(%x: tensor<2x6x20xf32>, %q: tensor<36x20xf32>, %k: tensor<12x20xf32>) -> tensor<2x9x6x4xf32> {
  %0 = plan.call "aten.linear.default"(%x, %q) {input = #plan.operand<0>, weight = #plan.operand<1>}
      : (tensor<2x6x20xf32>, tensor<36x20xf32>) -> tensor<2x6x36xf32>
  %1 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = array<i64: 2, 6, 9, 4>}
      : (tensor<2x6x36xf32>) -> tensor<2x6x9x4xf32>
  %2 = plan.call "aten.transpose.int"(%1) {self = #plan.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x9x4xf32>) -> tensor<2x9x6x4xf32>
  %3 = plan.call "aten.linear.default"(%x, %k) {input = #plan.operand<0>, weight = #plan.operand<1>}
      : (tensor<2x6x20xf32>, tensor<12x20xf32>) -> tensor<2x6x12xf32>
  %4 = plan.call "aten.view.default"(%3) {self = #plan.operand<0>, size = array<i64: 2, 6, 3, 4>}
      : (tensor<2x6x12xf32>) -> tensor<2x6x3x4xf32>
  %5 = plan.call "aten.transpose.int"(%4) {self = #plan.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x3x4xf32>) -> tensor<2x3x6x4xf32>
  %6:2 = plan.call "meshplan.attention"(%2, %5, %5)
      {query = #plan.operand<0>, key = #plan.operand<1>, value = #plan.operand<2>}
      : (tensor<2x9x6x4xf32>, tensor<2x3x6x4xf32>, tensor<2x3x6x4xf32>) -> (tensor<2x9x6x4xf32>, tensor<2x9x6xf32>)
  return %6#0 : tensor<2x9x6x4xf32>
})";

TEST_F(DimUnitsTest, QueryHeadsStayWithTheirKey) {
  parse(attention);
  EXPECT_EQ(ofArgument(1, 0), 3 * 4);
  EXPECT_EQ(ofArgument(2, 0), 4);
}

TEST_F(DimUnitsTest, WhatIsContractedOrBatchedHasNoUnit) {
  parse(attention);
  EXPECT_EQ(ofArgument(0, 0), 1);
  EXPECT_EQ(ofArgument(0, 1), 1);
  EXPECT_EQ(ofArgument(0, 2), 1);
  EXPECT_EQ(ofArgument(1, 1), 1);
}

TEST_F(DimUnitsTest, DimsAreDividedByTheirUnitsWhereThereAreEnough) {
  parse(attention);
  MeshOp mesh = *module->getOps<MeshOp>().begin();
  AxisRefAttr tp = AxisRefAttr::get(&context, "tp"), big = AxisRefAttr::get(&context, "big");
  EXPECT_EQ(units->divide(program.getArgument(1), 0, {tp}, mesh), divideDim(36, {tp}, mesh, 12));
  EXPECT_EQ(units->divide(program.getArgument(1), 0, {big}, mesh), divideDim(36, {big}, mesh, 1));
}

TEST_F(DimUnitsTest, MoreShardsThanKeysShareThem) {
  parse(attention);
  MeshOp mesh = *module->getOps<MeshOp>().begin();
  AxisRefAttr four = AxisRefAttr::get(&context, "four");
  EXPECT_EQ(units->divide(program.getArgument(1), 0, {four}, mesh), divideDim(36, {four}, mesh, 4));
  EXPECT_EQ(units->divide(program.getArgument(2), 0, {four}, mesh), divideDim(12, {four}, mesh, 4, {}, 3));
}

TEST_F(DimUnitsTest, ViewsThatDisagreeMakeTheWholeDimOneUnit) {
  parse(R"(
func.func @forward(%x: tensor<12xf32>) -> (tensor<3x4xf32>, tensor<2x6xf32>) {
  %0 = plan.call "aten.view.default"(%x) {self = #plan.operand<0>, size = array<i64: 3, 4>}
      : (tensor<12xf32>) -> tensor<3x4xf32>
  %1 = plan.call "aten.view.default"(%x) {self = #plan.operand<0>, size = array<i64: 2, 6>}
      : (tensor<12xf32>) -> tensor<2x6xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<2x6xf32>
})");
  EXPECT_EQ(ofArgument(0, 0), 12);
}

TEST_F(DimUnitsTest, UnitsReachThroughChainsInBothDirections) {
  parse(R"(
func.func @forward(%x: tensor<12xf32>, %y: tensor<12xf32>) -> tensor<12xf32> {
  %0 = plan.call "aten.neg.default"(%x) {self = #plan.operand<0>} : (tensor<12xf32>) -> tensor<12xf32>
  %1 = plan.call "aten.add.Tensor"(%0, %y) {self = #plan.operand<0>, other = #plan.operand<1>}
      : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %2 = plan.call "aten.view.default"(%0) {self = #plan.operand<0>, size = array<i64: 6, 2>}
      : (tensor<12xf32>) -> tensor<6x2xf32>
  return %1 : tensor<12xf32>
})");
  EXPECT_EQ(ofArgument(0, 0), 2);
  EXPECT_EQ(ofArgument(1, 0), 2);
  EXPECT_EQ(units->get((*program.getBody().front().begin()).getResult(0), 0), 2);
}

// Rotary embeddings of whole heads leave an empty rest behind.
TEST_F(DimUnitsTest, DimsWithoutElementsHaveNoUnit) {
  parse(R"(
func.func @forward(%x: tensor<2x6x12xf32>) -> tensor<2x6x3x0xf32> {
  %0 = plan.call "aten.view.default"(%x) {self = #plan.operand<0>, size = [2 : i64, 6 : i64, 3 : i64, 4 : i64]}
      : (tensor<2x6x12xf32>) -> tensor<2x6x3x4xf32>
  %1 = plan.call "aten.slice.Tensor"(%0) {self = #plan.operand<0>, dim = 3 : i64, start = 4 : i64}
      : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x0xf32>
  %2 = plan.call "aten.clone.default"(%1) {self = #plan.operand<0>} : (tensor<2x6x3x0xf32>) -> tensor<2x6x3x0xf32>
  return %2 : tensor<2x6x3x0xf32>
})");
  EXPECT_EQ(ofArgument(0, 2), 4);
}

} // namespace
