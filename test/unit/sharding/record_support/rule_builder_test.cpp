//===- rule_builder_test.cpp - rules of records ---------------------------===//

#include "compiler/sharding/record_support/rule_builder.h"
#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;
using namespace mlir;

namespace {

class RuleBuilderTest : public CallTest {
protected:
  /// The rule that `write` builds for a call with these types, or its fault.
  template <typename Write> std::string build(StringRef types, Write write) {
    CallView call = parse("x", "{a = #base.operand<0>, b = #base.operand<1>, n = 3, none = unit}", types);
    RuleBuilder builder(call);
    write(builder);
    FactorRule rule = builder.finish();
    std::optional<std::string> fault = rule.findFault(call.operands, call.results);
    return fault ? "fault: " + *fault : describe(rule);
  }
};

TEST_F(RuleBuilderTest, WhatIsNotSaidIsWhole) {
  EXPECT_EQ(build("(tensor<4x1xf32>) -> (tensor<4xf32>, tensor<f32>)", [](RuleBuilder &) {}),
            "[a, 1] -> [b], []; a=4:whole b=4:whole");
}

TEST_F(RuleBuilderTest, ATieIsOneFactor) {
  EXPECT_EQ(build("(tensor<4x6xf32>, tensor<5x6xf32>) -> tensor<4x5xf32>",
                  [](RuleBuilder &b) {
                    b.tie({b.operand("a")[0], b.result()[0]});
                    b.tie({b.operand("b")[0], b.result()[1]});
                    b.tie({b.operand("a")[1], b.operand("b")[1]}, FactorKind::sum);
                  }),
            "[a, b], [c, b] -> [a, c]; a=4 b=6:sum c=5");
}

TEST_F(RuleBuilderTest, DimsOfSizeOneBroadcast) {
  EXPECT_EQ(build("(tensor<1xf32>, tensor<6xf32>) -> tensor<6xf32>",
                  [](RuleBuilder &b) { b.tie({b.operand("a")[0], b.operand("b")[0], b.result()[0]}); }),
            "[1], [a] -> [a]; a=6");
  EXPECT_EQ(build("(tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>",
                  [](RuleBuilder &b) { b.tie({b.operand("a")[0], b.result()[0]}); }),
            "[1], [1] -> [1]");
}

TEST_F(RuleBuilderTest, DifferentSizesAreNotTied) {
  EXPECT_EQ(build("(tensor<4xf32>, tensor<6xf32>) -> tensor<6xf32>",
                  [](RuleBuilder &b) { b.tie({b.operand("a")[0], b.operand("b")[0], b.result()[0]}); }),
            "[a], [b] -> [c]; a=4:whole b=6:whole c=6:whole");
}

TEST_F(RuleBuilderTest, AParallelTieNeedsAResult) {
  EXPECT_EQ(build("(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>",
                  [](RuleBuilder &b) { b.tie({b.operand("a")[0], b.operand("b")[0]}); }),
            "[a], [b] -> []; a=4:whole b=4:whole");
  // A broadcast result does not have the factor.
  EXPECT_EQ(build("(tensor<4xf32>, tensor<4xf32>) -> tensor<1xf32>",
                  [](RuleBuilder &b) { b.tie({b.operand("a")[0], b.operand("b")[0], b.result()[0]}); }),
            "[a], [b] -> [1]; a=4:whole b=4:whole");
}

TEST_F(RuleBuilderTest, WhatTheCallLacksIsIgnored) {
  EXPECT_EQ(build("(tensor<4xf32>) -> tensor<4xf32>",
                  [](RuleBuilder &b) {
                    EXPECT_FALSE(b.operand("b")) << "refers to an operand that is not there";
                    EXPECT_FALSE(b.operand("n")) << "a literal";
                    EXPECT_FALSE(b.operand("none"));
                    EXPECT_FALSE(b.operand("absent"));
                    EXPECT_FALSE(b.operand(std::nullopt));
                    EXPECT_FALSE(b.result(1));
                    EXPECT_FALSE(b.operand("a")[1].tensor);
                    EXPECT_FALSE(b.operand("a")[-2].tensor);
                    b.tie({b.operand("b")[0], b.operand("a")[3], b.result()[0]});
                    b.append(b.result(1)[0], b.add(7, FactorKind::whole));
                  }),
            "[a] -> [b]; a=4:whole b=4");
}

TEST_F(RuleBuilderTest, NegativeDimsCountFromTheEnd) {
  EXPECT_EQ(
      build("(tensor<4x6xf32>) -> tensor<6xf32>", [](RuleBuilder &b) { b.tie({b.operand("a")[-1], b.result()[-1]}); }),
      "[a, b] -> [b]; a=4:whole b=6");
}

TEST_F(RuleBuilderTest, AlignedDimsAreTiedFromTheLast) {
  StringRef types = "(tensor<2x3x4xf32>, tensor<3x1xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>)";
  EXPECT_EQ(build(types, [](RuleBuilder &b) { b.tieAligned(); }), "[a, b, c], [b, 1] -> [a, b, c], [c]; a=2 b=3 c=4");
  EXPECT_EQ(build(types, [](RuleBuilder &b) { b.tieAligned({0, 2}); }),
            "[a, b, c], [b, 1] -> [d, b, e], [f]; a=2:whole b=3 c=4:whole d=2:whole e=4:whole f=4:whole");
  EXPECT_EQ(build("() -> ()", [](RuleBuilder &b) { b.tieAligned(); }), "-> ");
}

TEST_F(RuleBuilderTest, AppendedFactorsAreMoreAndMoreMinor) {
  EXPECT_EQ(build("(tensor<24xf32>) -> tensor<6x4xf32>",
                  [](RuleBuilder &b) {
                    for (int64_t dim : {0, 1}) {
                      unsigned factor = b.add(dim == 0 ? 6 : 4);
                      b.append(b.operand("a")[0], factor);
                      b.append(b.result()[dim], factor);
                    }
                  }),
            "[ab] -> [a, b]; a=6 b=4");
}

TEST_F(RuleBuilderTest, ASharedFactorCountsSeveralTimes) {
  // 8 query heads; 4 of them share each of 2 key heads.
  auto write = [](int64_t count) {
    return [count](RuleBuilder &b) {
      unsigned heads = b.add(8);
      b.append(b.operand("a")[0], heads);
      b.append(b.result()[0], heads);
      b.share(b.operand("b")[0], heads, count);
    };
  };
  EXPECT_EQ(build("(tensor<8xf32>, tensor<2xf32>) -> tensor<8xf32>", write(4)), "[a], [a/4] -> [a]; a=8");
  EXPECT_EQ(build("(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>", write(1)), "[a], [a] -> [a]; a=8");
  EXPECT_EQ(build("(tensor<8xf32>, tensor<3xf32>) -> tensor<8xf32>", write(3)),
            "fault: dim 0 of operand 1 is overlapped by 3 indices of more than one factor");
}

TEST_F(RuleBuilderTest, JoinedPiecesHaveAFactorEach) {
  EXPECT_EQ(build("(tensor<4xf32>, tensor<6xf32>) -> tensor<10xf32>",
                  [](RuleBuilder &b) { b.join(b.result()[0], {b.operand("a")[0], b.operand("b")[0]}); }),
            "[a], [b] -> [a|b]; a=4 b=6");
  EXPECT_EQ(build("(tensor<10xf32>) -> (tensor<4xf32>, tensor<6xf32>)",
                  [](RuleBuilder &b) { b.join(b.operand("a")[0], {b.result(0)[0], b.result(1)[0]}); }),
            "[a|b] -> [a], [b]; a=4 b=6");
}

TEST_F(RuleBuilderTest, PiecesThatDoNotFitAreNotJoined) {
  StringRef types = "(tensor<4xf32>, tensor<6xf32>) -> tensor<9xf32>",
            apart = "[a], [b] -> [c]; a=4:whole b=6:whole c=9:whole";
  EXPECT_EQ(build(types, [](RuleBuilder &b) { b.join(b.result()[0], {b.operand("a")[0], b.operand("b")[0]}); }), apart);
  EXPECT_EQ(build(types, [](RuleBuilder &b) { b.join(b.result()[1], {b.operand("a")[0]}); }), apart);
  EXPECT_EQ(build("(tensor<4xf32>) -> tensor<4xf32>",
                  [](RuleBuilder &b) { b.join(b.result()[0], {b.operand("a")[0], b.operand("b")[0]}); }),
            "[a] -> [b]; a=4:whole b=4:whole");
}

TEST_F(RuleBuilderTest, EveryDimPassesOrNone) {
  CallView call = parse("x", "{a = #base.operand<0>, b = #base.operand<1>}",
                        "(tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)");
  EXPECT_EQ(describe(alignedRule(call)), "[a, b], [b] -> [a, b], [a, b]; a=4 b=6");
  EXPECT_EQ(describe(undividedRule(call)), "[a, b], [c] -> [d, e], [f, g]; a=4:whole b=6:whole c=6:whole d=4:whole "
                                           "e=6:whole f=4:whole g=6:whole");
}

TEST_F(RuleBuilderTest, TheDimOfTheArgumentIsWhole) {
  auto rule = [&](StringRef args, int64_t defaultDim) {
    return describe(wholeDimRule(parse("x", args, "(tensor<4x6xf32>) -> tensor<4x6xf32>"), defaultDim));
  };
  EXPECT_EQ(rule("{a = #base.operand<0>, dim = 0}", -1), "[a, b] -> [c, b]; a=4:whole b=6 c=4:whole");
  EXPECT_EQ(rule("{a = #base.operand<0>, dim = -1}", 0), "[a, b] -> [a, c]; a=4 b=6:whole c=6:whole");
  EXPECT_EQ(rule("{a = #base.operand<0>}", 0), "[a, b] -> [c, b]; a=4:whole b=6 c=4:whole") << "the default";
  EXPECT_EQ(rule("{a = #base.operand<0>}", -1), "[a, b] -> [a, c]; a=4 b=6:whole c=6:whole");
  EXPECT_EQ(describe(wholeDimRule<1>(parse("x", "{a = #base.operand<0>}", "(tensor<4x6xf32>) -> tensor<4x3xf32>"))),
            "[a, b] -> [a, c]; a=4 b=6:whole c=3:whole")
      << "its size may change";
}

TEST_F(RuleBuilderTest, DimsAreNumberedAsInPyTorch) {
  struct {
    int64_t dim, rank, index;
  } cases[] = {{0, 3, 0},   {2, 3, 2}, {-1, 3, 2}, {-3, 3, 0}, {3, 3, -1},
               {-4, 3, -1}, {0, 0, 0}, {-1, 0, 0}, {1, 0, -1}, {-2, 0, -1}};
  for (auto [dim, rank, index] : cases)
    EXPECT_EQ(normalizeDim(dim, rank), index) << dim << " of rank " << rank;
}

} // namespace
