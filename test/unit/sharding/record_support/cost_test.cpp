//===- cost_test.cpp - bytes and flops, counted by hand -------------------===//

#include "compiler/sharding/record_support/cost.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class CostTest : public CallTest {
protected:
  OpCost pointwise(llvm::StringRef types) { return pointwiseCost(parse("x", "{}", types), 3); }
};

TEST_F(CostTest, BytesOfATensor) {
  CallView call = parse(
      "x", "{}", "(tensor<4x6xf32>, tensor<bf16>, tensor<5xi1>, tensor<3x0xf64>, tensor<2xi64>) -> tensor<4xf16>");
  const int64_t bytes[] = {96, 2, 5, 0, 16};
  for (size_t index = 0; index < call.operands.size(); ++index)
    EXPECT_EQ(tensorBytes(call.operands[index]), bytes[index]) << index;
  EXPECT_EQ(trafficBytes(call), 96 + 2 + 5 + 0 + 16 + 8);
  EXPECT_EQ(trafficBytes(parse("x", "{}", "() -> ()")), 0);
}

TEST_F(CostTest, AViewIsFree) {
  OpCost cost = viewCost(parse("x", "{}", "(tensor<4xf32>) -> tensor<2x2xf32>"));
  EXPECT_TRUE(cost.aliases);
  EXPECT_EQ(cost.flops + cost.bytes + cost.workspaceBytes, 0);
}

TEST_F(CostTest, ACopyOnlyMovesBytes) {
  OpCost cost = copyCost(parse("x", "{}", "(tensor<4xf32>) -> tensor<4xbf16>"));
  EXPECT_EQ(cost.bytes, 16 + 8);
  EXPECT_EQ(cost.flops + cost.workspaceBytes, 0);
  EXPECT_FALSE(cost.aliases);
}

TEST_F(CostTest, PointwiseWorkIsThatOfTheResult) {
  OpCost cost = pointwise("(tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>");
  EXPECT_EQ(cost.flops, 3 * 24);
  EXPECT_EQ(cost.bytes, 96 + 24 + 96);
  EXPECT_EQ(cost.workspaceBytes, 0);
  EXPECT_EQ(pointwise("() -> ()").flops, 0);
}

TEST_F(CostTest, OperandsOfAnotherTypeAreConvertedFirst) {
  // The common type is f32: the other operands are converted as a whole.
  EXPECT_EQ(pointwise("(tensor<6xf32>, tensor<6xbf16>) -> tensor<6xf32>").workspaceBytes, 24);
  EXPECT_EQ(pointwise("(tensor<6xf32>, tensor<5xi64>, tensor<3xi1>) -> tensor<6xf32>").workspaceBytes, (5 + 3) * 4);
  // A float takes precedence over a wider integer, and the wider of two floats over the other.
  EXPECT_EQ(pointwise("(tensor<6xi64>, tensor<4xbf16>) -> tensor<6xbf16>").workspaceBytes, 6 * 2);
  EXPECT_EQ(pointwise("(tensor<6xf64>, tensor<4xf32>) -> tensor<6xf64>").workspaceBytes, 4 * 8);
}

TEST_F(CostTest, AComparisonIsOfTheTypeOfItsOperands) {
  EXPECT_EQ(pointwise("(tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>").workspaceBytes, 0);
  EXPECT_EQ(pointwise("(tensor<6xi64>, tensor<6xi32>) -> tensor<6xi1>").workspaceBytes, 6 * 8);
}

TEST_F(CostTest, AWiderResultIsTheCommonType) {
  EXPECT_EQ(pointwise("(tensor<6xbf16>) -> tensor<6xf32>").workspaceBytes, 6 * 4);
}

} // namespace
