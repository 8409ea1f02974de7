//===- call_view_test.cpp - arguments of a call ---------------------------===//

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "parsed_call.h"
#include "gmock/gmock.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::Optional;

namespace {

using CallViewTest = CallTest;

TEST_F(CallViewTest, ReadsLiterals) {
  CallView call = parse("x", "{i = -3, f = 0.5, b = true, s = \"text\"}", "() -> ()");
  EXPECT_EQ(call.getInt("i", 7), -3);
  EXPECT_EQ(call.getFloat("f", 7), 0.5);
  EXPECT_EQ(call.getFloat("i", 7), -3.0);
  EXPECT_EQ(call.getFloat("b", 7), 1.0) << "a truth value may stand for a number";
  EXPECT_TRUE(call.getBool("b", false));
}

TEST_F(CallViewTest, GivesTheDefaultForWhatIsAbsentOrOfAnotherKind) {
  CallView call = parse("x", "{i = -3, f = 0.5, b = true}", "() -> ()");
  EXPECT_EQ(call.getInt("none", 7), 7);
  EXPECT_EQ(call.getInt("f", 7), 7);
  EXPECT_EQ(call.getInt("b", 7), 7);
  EXPECT_FALSE(call.getBool("i", false));
}

TEST_F(CallViewTest, ReadsListsOfIntegers) {
  CallView call = parse("x", "{l = [1, -1], d = array<i64: 2, 3>, m = [1, #base.local<0, result 0, dim 0, extent 1>]}",
                        "() -> tensor<4xf32>");
  EXPECT_THAT(call.getInts("l"), Optional(ElementsAre(1, -1)));
  EXPECT_THAT(call.getInts("d"), Optional(ElementsAre(2, 3)));
  EXPECT_EQ(call.getInts("m"), std::nullopt);
  EXPECT_EQ(call.getInts("none"), std::nullopt);
}

TEST_F(CallViewTest, ReadsOperands) {
  CallView call = parse("x",
                        "{a = #base.operand<1>, far = #base.operand<2>, n = unit, "
                        "l = [#base.operand<0>, unit, #base.operand<1>]}",
                        "(tensor<4xf32>, tensor<6xf32>) -> ()");
  EXPECT_THAT(call.getOperand("a"), Optional(1u));
  EXPECT_EQ(call.getOperand("far"), std::nullopt);
  EXPECT_EQ(call.getOperand("n"), std::nullopt);
  EXPECT_EQ(call.getOperand("none"), std::nullopt);
  EXPECT_THAT(call.getOperands("l"), ElementsAre(Optional(0u), std::nullopt, Optional(1u)));
  EXPECT_TRUE(call.getOperands("a").empty());
}

TEST_F(CallViewTest, IsMadeFromACall) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @f(%0: tensor<4xf32>) -> tensor<4xf32> {
      %1 = plan.call "aten.neg.default"(%0) {self = #base.operand<0>} : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    })",
                                                        &context);
  ASSERT_TRUE(module);
  module->walk([](plan::CallOp op) {
    CallView call = CallView::of(op);
    EXPECT_EQ(call.target, "aten.neg.default");
    EXPECT_EQ(call.operands.size(), 1u);
    EXPECT_EQ(call.results.front().getShape().front(), 4);
    EXPECT_THAT(call.getOperand("self"), Optional(0u));
  });
}

} // namespace
