//===- local_args_test.cpp - arguments that differ between ranks ----------===//

#include "compiler/sharding/record_support/local_args.h"
#include "test/unit/sharding/parsed_call.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace mlir;
using testing::ElementsAre;

namespace {

using LocalArgs = CallTest;

TEST_F(LocalArgs, ADimIsDividedIfItsShardingHasAxes) {
  CallView call = parse("x", "{}", R"((tensor<4x6xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<4xf32>) -> ())");
  EXPECT_FALSE(isDivided(call.operands[0], 0));
  EXPECT_TRUE(isDivided(call.operands[0], 1));
  EXPECT_FALSE(isDivided(call.operands[0], 2));
  EXPECT_FALSE(isDivided(call.operands[0], -1));
  EXPECT_FALSE(isDivided(call.operands[1], 0)) << "undecided";
}

TEST_F(LocalArgs, UnchangedIsTheCall) {
  CallView call = parse("aten.neg.default", "{self = #base.operand<0>}", "(tensor<4xf32>) -> tensor<4xf32>");
  EXPECT_EQ(unchanged(call).target, "aten.neg.default");
  EXPECT_EQ(unchanged(call).args, call.args);
}

TEST_F(LocalArgs, AnArgumentIsSetReplacedOrRemoved) {
  DictionaryAttr args = parse("x", "{a = 1, b = 2}", "() -> ()").args;
  EXPECT_EQ(print(withArg(args, "c", intLiteral(&context, 3))), "{a = 1 : i64, b = 2 : i64, c = 3 : i64}");
  EXPECT_EQ(print(withArg(args, "a", intLiteral(&context, -1))), "{a = -1 : i64, b = 2 : i64}");
  EXPECT_EQ(print(withArg(args, "a", nullptr)), "{b = 2 : i64}");
  EXPECT_EQ(print(withArg(args, "none", nullptr)), "{a = 1 : i64, b = 2 : i64}");
}

TEST_F(LocalArgs, TheOperandsBehindADroppedOneMoveUp) {
  CallView call = parse("x", "{a = #base.operand<0>, b = #base.operand<1>, c = #base.operand<2>, n = 4}",
                        "(tensor<4xf32>, tensor<5xf32>, tensor<6xf32>) -> tensor<4xf32>");
  CallRewrite middle = withoutOperand(call, "y", "b");
  EXPECT_EQ(middle.target, "y");
  EXPECT_EQ(print(middle.args), "{a = #base.operand<0>, c = #base.operand<1>, n = 4 : i64}");
  EXPECT_THAT(middle.operands, ElementsAre(0, 2));
  CallRewrite first = withoutOperand(call, "y", "a");
  EXPECT_EQ(print(first.args), "{b = #base.operand<0>, c = #base.operand<1>, n = 4 : i64}");
  EXPECT_THAT(first.operands, ElementsAre(1, 2));
}

TEST_F(LocalArgs, AnArgumentThatIsNoTensorDropsNoOperand) {
  CallView call = parse("x", "{a = #base.operand<0>, b = 2}", "(tensor<4xf32>) -> tensor<4xf32>");
  CallRewrite rewrite = withoutOperand(call, "y", "b");
  EXPECT_EQ(print(rewrite.args), "{a = #base.operand<0>}");
  EXPECT_THAT(rewrite.operands, ElementsAre(0));
}

TEST_F(LocalArgs, SizesAreLiteralWhereTheDimIsWhole) {
  CallView call = parse("x", "{}", R"(() -> tensor<4x6x8xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>>)");
  EXPECT_EQ(print(localSizes(call, 0, 3)),
            "[#base.local<0, result 0, dim 0, extent 1>, 6, #base.local<0, result 0, dim 2, extent 1>]");
  EXPECT_EQ(print(localSizes(call, 1, 1)), "[6]");
  EXPECT_EQ(print(localSizes(call, 3, 0)), "[]");
}

TEST_F(LocalArgs, OnlyADividedResultChangesItsSizes) {
  auto localized = [&](StringRef type) {
    return print(localizeSizes(parse("x", "{size = [-1, 6]}", type), "size").args);
  };
  EXPECT_EQ(localized("() -> tensor<4x6xf32>"), "{size = [-1, 6]}");
  EXPECT_EQ(localized("() -> tensor<4x6xf32, #plan.sharding<[{}, {}]>>"), "{size = [-1, 6]}");
  EXPECT_EQ(localized(R"(() -> tensor<4x6xf32, #plan.sharding<[{}, {"tp"}]>>)"),
            "{size = [4, #base.local<0, result 0, dim 1, extent 1>]}");
}

} // namespace
