//===- arguments_test.cpp - kinds of arguments of a program ---------------===//

#include "test/unit/dialect/plan_text.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;

namespace {

class ArgumentsTest : public PlanText {
protected:
  ArgumentsTest() {
    readModule(R"(
      func.func @f(%w: tensor<2x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]}, %b: tensor<2x3xf32> {plan.kind = #plan.kind<buffer>},
                   %x: tensor<2x3xf32> {plan.kind = #plan.kind<input>}, %other: tensor<2x3xf32>,
                   %lr: tensor<f64> {plan.kind = #plan.kind<setting>}, %m: tensor<2x3xf32> {plan.kind = #plan.kind<state>, plan.of = #plan.argument<parameter "w">},
                   %sum: tensor<2x3xf32> {plan.kind = #plan.kind<accumulator>}) {
        %0 = plan.call "aten.t.default"(%w) {self = #base.operand<0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
        %1 = plan.call "aten.exp.default"(%0) {self = #base.operand<0>} : (tensor<3x2xf32>) -> tensor<3x2xf32>
        %2 = plan.call "aten.t.default"(%x) {self = #base.operand<0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
        %3 = plan.call "aten.add.Tensor"(%w, %b) {self = #base.operand<0>, other = #base.operand<1>}
            : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %4 = plan.constant "c" dense<1.0> : tensor<2xf32> : tensor<2xf32>
        %5 = plan.call "aten.exp.default"(%4) {self = #base.operand<0>} : (tensor<2xf32>) -> tensor<2xf32>
        return
      })");
  }

  Value result(unsigned index) { return op(index)->getResult(0); }
};

TEST_F(ArgumentsTest, KindsAreThoseOfTheAttribute) {
  std::optional<ArgumentKind> kinds[] = {
      ArgumentKind::parameter, ArgumentKind::buffer, ArgumentKind::input,      std::nullopt,
      ArgumentKind::setting,   ArgumentKind::state,  ArgumentKind::accumulator};
  for (auto [index, kind] : llvm::enumerate(kinds))
    EXPECT_EQ(argumentKind(cast<BlockArgument>(argument(index))), kind) << index;
}

TEST_F(ArgumentsTest, ArgumentsOfOtherBlocksHaveNoKind) {
  Block *inner = function().getBody().front().splitBlock(op(3));
  BlockArgument own = inner->addArgument(argument(0).getType(), function().getLoc());
  EXPECT_EQ(argumentKind(own), std::nullopt)
      << "the first argument of the function is a parameter, that of the block is not";
}

TEST_F(ArgumentsTest, WeightsAreParametersAndBuffers) {
  EXPECT_TRUE(isWeight(argument(0)));
  EXPECT_TRUE(isWeight(argument(1)));
  for (unsigned other : {2, 3, 4, 5, 6})
    EXPECT_FALSE(isWeight(argument(other))) << other;
  EXPECT_FALSE(isWeight(result(0))) << "the result of a call";
}

TEST_F(ArgumentsTest, CallsOfOneOperandLeadBackToWeights) {
  EXPECT_TRUE(isFromWeights(argument(0)));
  EXPECT_TRUE(isFromWeights(result(1))) << "two calls after a parameter";
  EXPECT_FALSE(isFromWeights(result(2))) << "after an input";
  EXPECT_FALSE(isFromWeights(result(3))) << "of two operands";
  EXPECT_TRUE(isFromWeights(result(4)));
  EXPECT_TRUE(isFromWeights(result(5)));
}

} // namespace
