//===- decide_call_test.cpp - which factors of a call are sharded ---------===//
//
// Each expected layout is derived by hand from what the operator computes.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/propagate/decide_call.h"
#include "plan_function.h"
#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::plan;
using namespace mlir;
using testing::ElementsAre;

namespace {

class DecideCall : public PlanFunction {
protected:
  CallDecision run(StringRef target, StringRef args, StringRef types, ArrayRef<unsigned> order = {}) {
    CallView view;
    view.target = target;
    view.args = attribute<DictionaryAttr>(args);
    auto function = type<FunctionType>(types);
    for (Type operand : function.getInputs())
      view.operands.push_back(cast<RankedTensorType>(operand));
    for (Type result : function.getResults())
      view.results.push_back(cast<RankedTensorType>(result));
    rule = factorRuleOf(view, OpRegistry::get().lookup(target));
    CallProblem problem = {rule, mesh(), {}, SmallVector<unsigned>(order)};
    for (auto [index, operand] : llvm::enumerate(view.operands)) {
      problem.operands.push_back(getSharding(operand));
      if (order.empty())
        problem.order.push_back(index);
    }
    problem.given = given;
    problem.fixed = fixed;
    return decideCall(problem);
  }

  /// `[..], [..] -> [..]`: the layouts of operands and results.
  std::string decide(StringRef target, StringRef args, StringRef types, ArrayRef<unsigned> order = {}) {
    CallDecision decision = run(target, args, types, order);
    std::string text;
    auto append = [&](ArrayRef<ShardingAttr> shardings) {
      for (auto [index, sharding] : llvm::enumerate(shardings))
        text += (index ? ", " : "") +
                StringRef(print(sharding)).drop_front(StringRef("#plan.sharding<").size()).drop_back().str();
    };
    append(decision.operands);
    text += " -> ";
    append(decision.results);
    return text;
  }

  FactorRule rule;
  FactorDivisions given;                           ///< of the next problem
  SmallVector<std::pair<unsigned, int64_t>> fixed; ///< of the next problem
};

constexpr char binary[] = "{self = #base.operand<0>, other = #base.operand<1>}";
constexpr char unary[] = "{self = #base.operand<0>}";
constexpr char product[] = "{input = #base.operand<0>, weight = #base.operand<1>}";

TEST_F(DecideCall, WholeOperandsGiveAWholeResult) {
  EXPECT_EQ(
      decide("aten.add.Tensor", binary,
             "(tensor<8x4xf32, #plan.sharding<[{}, {}]>>, tensor<4xf32, #plan.sharding<[{}]>>) -> tensor<8x4xf32>"),
      "[{}, {}], [{}] -> [{}, {}]");
  EXPECT_EQ(decide("aten.arange.default", "{end = 8}", "() -> tensor<8xi64>"), " -> [{}]");
}

TEST_F(DecideCall, NothingDividesTheFactorsOfAFixedOperand) {
  constexpr char types[] =
      "(tensor<8x4xf32, #plan.sharding<[{}, {}]>>, tensor<8x4xf32, #plan.sharding<[{\"dp\"}, {}]>>) "
      "-> tensor<8x4xf32>";
  EXPECT_EQ(decide("aten.add.Tensor", binary, types), R"([{"dp"}, {}], [{"dp"}, {}] -> [{"dp"}, {}])");
  fixed = {{0, 2}};
  EXPECT_EQ(decide("aten.add.Tensor", binary, types), "[{}, {}], [{}, {}] -> [{}, {}]");
}

TEST_F(DecideCall, GivenAxesPrecedeThoseOfOperands) {
  given.resize(2);
  given[1].axes = {AxisRefAttr::get(&context, "dp")};
  EXPECT_EQ(decide("aten.exp.default", unary, "(tensor<8x4xf32, #plan.sharding<[{\"dp\"}, {}]>>) -> tensor<8x4xf32>"),
            R"([{}, {"dp"}] -> [{}, {"dp"}])");
}

TEST_F(DecideCall, ColwiseDividesTheLastDim) {
  EXPECT_EQ(decide("aten.linear.default", product,
                   R"((tensor<8x6xf32, #plan.sharding<[{"dp"}, {}]>>, tensor<12x6xf32, #plan.sharding<[{"tp"}, {}]>>)
                      -> tensor<8x12xf32>)"),
            R"([{"dp"}, {}], [{"tp"}, {}] -> [{"dp"}, {"tp"}])");
}

TEST_F(DecideCall, RowwiseLeavesAddends) {
  EXPECT_EQ(
      decide("aten.linear.default", product,
             R"((tensor<8x12xf32, #plan.sharding<[{"dp"}, {"tp"}]>>, tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>)
                      -> tensor<8x6xf32>)"),
      R"([{"dp"}, {"tp"}], [{}, {"tp"}] -> [{"dp"}, {}], partial = sum {"tp"})");
}

TEST_F(DecideCall, AnOperandFollowsTheOther) {
  EXPECT_EQ(decide("aten.linear.default", product,
                   R"((tensor<8x12xf32, #plan.sharding<[{}, {}]>>, tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>)
                      -> tensor<8x6xf32>)"),
            R"([{}, {"tp"}], [{}, {"tp"}] -> [{}, {}], partial = sum {"tp"})");
  EXPECT_EQ(decide("aten.add.Tensor", binary,
                   R"((tensor<8x4xf32, #plan.sharding<[{}, {"tp"}]>>, tensor<4xf32, #plan.sharding<[{}]>>)
                      -> tensor<8x4xf32>)"),
            R"([{}, {"tp"}], [{"tp"}] -> [{}, {"tp"}])");
}

TEST_F(DecideCall, WhereOperandsDisagreeTheFirstInOrderWins) {
  constexpr char types[] = R"((tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>>,
                               tensor<8x4xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<8x4xf32>)";
  EXPECT_EQ(decide("aten.add.Tensor", binary, types, {0, 1}), R"([{"tp"}, {}], [{"tp"}, {}] -> [{"tp"}, {}])");
  EXPECT_EQ(decide("aten.add.Tensor", binary, types, {1, 0}), R"([{}, {"tp"}], [{}, {"tp"}] -> [{}, {"tp"}])");
}

TEST_F(DecideCall, AnAxisDividesOneFactor) {
  constexpr char types[] = R"((tensor<8x6xf32, #plan.sharding<[{"tp"}, {}]>>,
                               tensor<12x6xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<8x12xf32>)";
  EXPECT_EQ(decide("aten.linear.default", product, types, {1, 0}), R"([{}, {}], [{"tp"}, {}] -> [{}, {"tp"}])");
  EXPECT_EQ(decide("aten.linear.default", product, types, {0, 1}), R"([{"tp"}, {}], [{}, {}] -> [{"tp"}, {}])");
}

TEST_F(DecideCall, AFinerLayoutThatStartsAlikeIsTaken) {
  constexpr char finer[] = R"((tensor<8xf32, #plan.sharding<[{"dp"}]>>, tensor<8xf32, #plan.sharding<[{"dp", "tp"}]>>)
                               -> tensor<8xf32>)";
  EXPECT_EQ(decide("aten.add.Tensor", binary, finer), R"([{"dp", "tp"}], [{"dp", "tp"}] -> [{"dp", "tp"}])");
  constexpr char other[] = R"((tensor<8xf32, #plan.sharding<[{"tp"}]>>, tensor<8xf32, #plan.sharding<[{"dp", "tp"}]>>)
                               -> tensor<8xf32>)";
  EXPECT_EQ(decide("aten.add.Tensor", binary, other), R"([{"tp"}], [{"tp"}] -> [{"tp"}])");
}

TEST_F(DecideCall, WhatIsMinorToATakenAxisIsNotDividedAlone) {
  // dp shards the rows; the columns over tp alone would differ from those over dp and tp.
  constexpr char types[] = R"((tensor<8x8xf32, #plan.sharding<[{"dp"}, {}]>>,
                               tensor<8x8xf32, #plan.sharding<[{}, {"dp", "tp"}]>>) -> tensor<8x8xf32>)";
  EXPECT_EQ(decide("aten.add.Tensor", binary, types), R"([{"dp"}, {}], [{"dp"}, {}] -> [{"dp"}, {}])");
}

TEST_F(DecideCall, TheSourceIsTheOperandThatDividedFirst) {
  CallDecision finer = run("aten.add.Tensor", binary,
                           R"((tensor<8xf32, #plan.sharding<[{"dp"}]>>, tensor<8xf32, #plan.sharding<[{"dp", "tp"}]>>)
                              -> tensor<8xf32>)");
  EXPECT_THAT(finer.source, ElementsAre(0));
  EXPECT_THAT(finer.factors[0].axes, ElementsAre(axis("dp"), axis("tp")));
  constexpr char both[] = R"((tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>>,
                              tensor<8x4xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<8x4xf32>)";
  EXPECT_THAT(run("aten.add.Tensor", binary, both, {1, 0}).source, ElementsAre(-1, 1)) << "what is not taken has none";
  EXPECT_THAT(run("aten.add.Tensor", binary, both, {0, 1}).source, ElementsAre(0, -1));
}

TEST_F(DecideCall, AddendsAreNamedInTheOrderOfTheMesh) {
  EXPECT_EQ(decide("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [0, 1]}",
                   R"((tensor<8x8xf32, #plan.sharding<[{"tp"}, {"dp"}]>>) -> tensor<f32>)"),
            R"([{"tp"}, {"dp"}] -> [], partial = sum {"dp", "tp"})");
  EXPECT_EQ(decide("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [0, 1]}",
                   R"((tensor<8x8xf32, #plan.sharding<[{"tp":(2)2}, {"tp":(1)2}]>>) -> tensor<f32>)"),
            R"([{"tp":(2)2}, {"tp":(1)2}] -> [], partial = sum {"tp":(1)2, "tp":(2)2})");
}

TEST_F(DecideCall, AFinerLayoutOfOtherShardsIsNotTaken) {
  // 36 rows are 18 + 18; as 9 heads of 4 they are 20 + 16, each of which is sharded further.
  constexpr char types[] = R"((tensor<36xf32, #plan.sharding<[{"dp"}]>>,
                               tensor<36xf32, #plan.sharding<[{"dp", "tp", unit 4}]>>) -> tensor<36xf32>)";
  EXPECT_EQ(decide("aten.add.Tensor", binary, types), R"([{"dp"}], [{"dp"}] -> [{"dp"}])");
}

TEST_F(DecideCall, WhatRanksShareIsAddedOnce) {
  // Two heads of 4 for four ranks: two ranks have the same head, and a sum of both addends would count it twice.
  EXPECT_EQ(decide("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [1]}",
                   R"((tensor<6x8xf32, #plan.sharding<[{}, {"tp", unit 4, repeat 2}]>>) -> tensor<6xf32>)"),
            R"([{}, {"tp", unit 4}] -> [{}], partial = sum {"tp"})");
  EXPECT_EQ(decide("aten.neg.default", unary,
                   R"((tensor<8xf32, #plan.sharding<[{"tp", unit 4, repeat 2}]>>) -> tensor<8xf32>)"),
            R"([{"tp", unit 4, repeat 2}] -> [{"tp", unit 4, repeat 2}])");
}

TEST_F(DecideCall, UnevenShardsStayAsTheyAre) {
  EXPECT_EQ(decide("aten.neg.default", unary, R"((tensor<6xf32, #plan.sharding<[{"tp"}]>>) -> tensor<6xf32>)"),
            R"([{"tp"}] -> [{"tp"}])");
  EXPECT_EQ(
      decide("aten.neg.default", unary, R"((tensor<12xf32, #plan.sharding<[{"tp", unit 4}]>>) -> tensor<12xf32>)"),
      R"([{"tp", unit 4}] -> [{"tp", unit 4}])");
}

TEST_F(DecideCall, AWholeFactorIsGathered) {
  EXPECT_EQ(decide("aten.softmax.int", "{self = #base.operand<0>, dim = -1}",
                   R"((tensor<8x4xf32, #plan.sharding<[{"dp"}, {"tp"}]>>) -> tensor<8x4xf32>)"),
            R"([{"dp"}, {}] -> [{"dp"}, {}])");
}

TEST_F(DecideCall, ReductionsLeaveAddendsOrMaxima) {
  constexpr char types[] = R"((tensor<8x4xf32, #plan.sharding<[{"dp"}, {"tp"}]>>) -> tensor<8xf32>)";
  EXPECT_EQ(decide("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [1]}", types),
            R"([{"dp"}, {"tp"}] -> [{"dp"}], partial = sum {"tp"})");
  EXPECT_EQ(decide("aten.amax.default", "{self = #base.operand<0>, dim = [1]}", types),
            R"([{"dp"}, {"tp"}] -> [{"dp"}], partial = max {"tp"})");
}

TEST_F(DecideCall, PartialAxesAreInTheOrderOfTheMesh) {
  EXPECT_EQ(decide("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [0, 1]}",
                   R"((tensor<8x4xf32, #plan.sharding<[{"tp"}, {"dp"}]>>) -> tensor<f32>)"),
            R"([{"tp"}, {"dp"}] -> [], partial = sum {"dp", "tp"})");
}

TEST_F(DecideCall, WhatArrivesPartialStaysPartial) {
  EXPECT_EQ(
      decide("aten.mul.Tensor", binary,
             R"((tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>, tensor<8xf32, #plan.sharding<[{"dp"}]>>)
                      -> tensor<8xf32>)"),
      R"([{"dp"}], partial = sum {"tp"}, [{"dp"}] -> [{"dp"}], partial = sum {"tp"})");
  EXPECT_EQ(decide("aten.neg.default", unary,
                   R"((tensor<8xf32, #plan.sharding<[{}], partial = max {"tp"}>>) -> tensor<8xf32>)"),
            R"([{}], partial = max {"tp"} -> [{}], partial = max {"tp"})");
}

TEST_F(DecideCall, WhatNeighboursShareIsNotAddedByEach) {
  // Two ranks have each of the two heads of 4 elements.
  constexpr char shared[] = R"((tensor<2x8xf32, #plan.sharding<[{}, {"tp", unit 4, repeat 2}]>>) -> tensor<2x)";
  EXPECT_EQ(decide("aten.neg.default", unary, std::string(shared) + "8xf32>"),
            R"([{}, {"tp", unit 4, repeat 2}] -> [{}, {"tp", unit 4, repeat 2}])");
  EXPECT_EQ(decide("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [1], keepdim = true}",
                   std::string(shared) + "1xf32>"),
            R"([{}, {"tp", unit 4}] -> [{}, {}], partial = sum {"tp"})");
}

TEST_F(DecideCall, APartialAxisDividesNothing) {
  EXPECT_EQ(
      decide("aten.mul.Tensor", binary,
             R"((tensor<8xf32, #plan.sharding<[{}], partial = sum {"tp"}>>, tensor<8xf32, #plan.sharding<[{"tp"}]>>)
                      -> tensor<8xf32>)"),
      R"([{}], partial = sum {"tp"}, [{}] -> [{}], partial = sum {"tp"})");
}

TEST_F(DecideCall, AddendsAreAddedToAddends) {
  EXPECT_EQ(decide("aten.linear.default", product,
                   R"((tensor<8x12xf32, #plan.sharding<[{}, {"tp"}], partial = sum {"dp"}>>,
                       tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<8x6xf32>)"),
            R"([{}, {"tp"}], partial = sum {"dp"}, [{}, {"tp"}] -> [{}, {}], partial = sum {"dp", "tp"})");
}

TEST_F(DecideCall, ADimThatTheResultCannotExpressIsGivenUp) {
  // Columns of a matrix are not a range of its elements; rows are.
  constexpr char view[] = "{self = #base.operand<0>, size = [32]}";
  EXPECT_EQ(
      decide("aten.view.default", view, R"((tensor<8x4xf32, #plan.sharding<[{"dp"}, {"tp"}]>>) -> tensor<32xf32>)"),
      R"([{"dp"}, {}] -> [{"dp"}])");
  EXPECT_EQ(decide("aten.view.default", view, R"((tensor<8x4xf32, #plan.sharding<[{"tp"}, {}]>>) -> tensor<32xf32>)"),
            R"([{"tp"}, {}] -> [{"tp"}])");
}

TEST_F(DecideCall, JoinedPiecesAreDividedTogether) {
  constexpr char cat[] = "{tensors = [#base.operand<0>, #base.operand<1>]}";
  // Each rank joins its shards of both: the result is a tensor of two parts, sharded part by part.
  EXPECT_EQ(decide("aten.cat.default", cat,
                   R"((tensor<8xf32, #plan.sharding<[{"tp"}]>>, tensor<4xf32, #plan.sharding<[{"tp"}]>>)
                      -> tensor<12xf32>)"),
            R"([{"tp"}], [{"tp"}] -> [{"tp", parts [8, 4]}])");
}

TEST_F(DecideCall, TheSourceOfAFactorIsTheFirstThatDividedIt) {
  CallDecision decision = run("aten.linear.default", product,
                              R"((tensor<8x12xf32, #plan.sharding<[{"dp"}, {"tp"}]>>,
                                  tensor<6x12xf32, #plan.sharding<[{}, {"tp"}]>>) -> tensor<8x6xf32>)",
                              {1, 0});
  unsigned rows = rule.operands[0].dims[0][0], columns = rule.operands[1].dims[0][0],
           contracted = rule.operands[0].dims[1][0];
  EXPECT_EQ(decision.source[rows], 0);
  EXPECT_EQ(decision.source[columns], -1);
  EXPECT_EQ(decision.source[contracted], 1);
  EXPECT_THAT(decision.factors[rows].axes, ElementsAre(axis("dp")));
  EXPECT_FALSE(decision.misfit || decision.cut);
}

TEST_F(DecideCall, AnAxisThatCutsAHeadIsNamed) {
  // 24 columns over 4 ranks are 6 columns each, but a head has 4: ranks would share heads.
  constexpr char view[] = "{self = #base.operand<0>, size = [6, 4]}";
  constexpr char types[] = R"((tensor<24xf32, #plan.sharding<[{"tp"}]>>) -> tensor<6x4xf32>)";
  CallDecision decision = run("aten.view.default", view, types);
  ASSERT_TRUE(decision.misfit);
  EXPECT_EQ(decision.misfit->first, 0u);
  EXPECT_EQ(decision.misfit->second.dim, 0u);
  EXPECT_EQ(decision.misfit->second.factorSize, 6);
  EXPECT_EQ(decision.misfit->second.axis, axis("tp"));
  EXPECT_EQ(decide("aten.view.default", view, types), "[{}] -> [{}, {}]");
}

TEST_F(DecideCall, AnAxisLargerThanAFactorIsCutIntoDigits) {
  // Two heads for four ranks: pairs of ranks split a head.
  constexpr char view[] = "{self = #base.operand<0>, size = [2, 4]}";
  constexpr char types[] = R"((tensor<8xf32, #plan.sharding<[{"tp"}]>>) -> tensor<2x4xf32>)";
  CallDecision decision = run("aten.view.default", view, types);
  ASSERT_TRUE(decision.cut);
  EXPECT_EQ(decision.cut->first, 0u);
  EXPECT_EQ(decision.cut->second.axis, axis("tp"));
  EXPECT_FALSE(decision.misfit);
  EXPECT_EQ(decide("aten.view.default", view, types), R"([{"tp"}] -> [{"tp":(1)2}, {"tp":(2)2}])");
}

TEST_F(DecideCall, AnOperatorWithoutRecordDividesNothing) {
  EXPECT_EQ(decide("custom.op.default", unary, R"((tensor<8xf32, #plan.sharding<[{"tp"}]>>) -> tensor<8xf32>)"),
            "[{}] -> [{}]");
}

TEST_F(DecideCall, PartsAreSharedPartByPart) {
  EXPECT_EQ(decide("aten.sum.dim_IntList", "{self = #base.operand<0>, dim = [1]}",
                   R"((tensor<8x10xf32, #plan.sharding<[{}, {"tp", parts [8, 2 repeat 2]}]>>) -> tensor<8xf32>)"),
            R"([{}, {"tp", parts [8, 2]}] -> [{}], partial = sum {"tp"})");
}

/// Shared elements would not change the maximum, but the collective needs no duplicates.
TEST_F(DecideCall, AMaximumTakesThemFromOneRankToo) {
  EXPECT_EQ(decide("aten.amax.default", "{self = #base.operand<0>, dim = [1]}",
                   R"((tensor<8x2xf32, #plan.sharding<[{}, {"tp", repeat 2}]>>) -> tensor<8xf32>)"),
            R"([{}, {"tp"}] -> [{}], partial = max {"tp"})");
}

/// Both operands of a contraction have the same elements.
TEST_F(DecideCall, AContractionOfSharedUnitsTakesBothFromOneRank) {
  EXPECT_EQ(decide("aten.matmul.default", binary,
                   R"((tensor<6x8xf32, #plan.sharding<[{}, {"tp", unit 4, repeat 2}]>>,
                       tensor<8x5xf32, #plan.sharding<[{"tp", unit 4, repeat 2}, {}]>>) -> tensor<6x5xf32>)"),
            R"([{}, {"tp", unit 4}], [{"tp", unit 4}, {}] -> [{}, {}], partial = sum {"tp"})");
}

} // namespace
