//===- experts_test.cpp - records of layers of experts --------------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class ExpertRecords : public CallTest {
protected:
  std::string linearity(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return describe(record(target).linearity(parse(target, args, types)));
  }
  std::string local(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return text(record(target).localize(parse(target, args, types), plan::MeshOp()));
  }
  std::string wide(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    std::optional<LocalCall> widened = record(target).widen(parse(target, args, types));
    return widened ? text(*widened) : "";
  }
  OpCost cost(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return record(target).cost(parse(target, args, types));
  }
};

constexpr char route[] = "{indices = #base.operand<0>, first = 0 : i64, experts = 8 : i64}";
constexpr char dispatch[] = "{self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}";
constexpr char dispatchGates[] = "{gates = #base.operand<0>, table = #base.operand<1>}";
constexpr char combine[] =
    "{rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64, size = [4 : i64, 6 : i64, 16 : i64]}";
constexpr char collect[] = "{rows = #base.operand<0>, table = #base.operand<1>, size = [4 : i64, 6 : i64, 2 : i64]}";
constexpr char linear[] = "{rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>}";
constexpr char linearTransposed[] =
    "{rows = #base.operand<0>, weight = #base.operand<1>, counts = #base.operand<2>, transposed = true}";
constexpr char bias[] = "{rows = #base.operand<0>, bias = #base.operand<1>, counts = #base.operand<2>}";
constexpr char weightGradient[] = "{gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>}";
constexpr char weightGradientTransposed[] =
    "{gradient = #base.operand<0>, rows = #base.operand<1>, counts = #base.operand<2>, transposed = true}";
constexpr char biasGradient[] = "{gradient = #base.operand<0>, counts = #base.operand<1>}";

//===----------------------------------------------------------------------===//
// Rules, of global shapes
//===----------------------------------------------------------------------===//

TEST_F(ExpertRecords, ATableIsDividedByExpertsAndTokens) {
  constexpr char types[] = "(tensor<4x6x2xi64>) -> (tensor<8x4x6xi64>, tensor<8x4x6xi64>)";
  EXPECT_EQ(rule("meshplan.route", route, types), "[a, b, c] -> [d, a, b], [d, a, b]; a=4 b=6 c=2:whole d=8");
  FactorRule made = record("meshplan.route").rule(parse("meshplan.route", route, types));
  for (const Factor &factor : made.factors)
    EXPECT_EQ(factor.isCounted, factor.size == 8) << "a rank has one range of experts";
  EXPECT_EQ(linearity("meshplan.route", route, types), "");
}

TEST_F(ExpertRecords, RanksOfTokensHaveAddendsOfTheTokensOfAnExpert) {
  constexpr char args[] = "{counts = #base.operand<0>, table = #base.operand<1>}";
  constexpr char types[] = "(tensor<8x4x6xi64>, tensor<8x4x6xi64>) -> tensor<8xi64>";
  EXPECT_EQ(rule("meshplan.expert_tokens", args, types), "[a, b, c], [a, b, c] -> [a]; a=8 b=4:sum c=6:sum");
  EXPECT_EQ(linearity("meshplan.expert_tokens", args, types), "");
}

TEST_F(ExpertRecords, WhatAnExpertTakesFollowsFromAllPositionsOfASample) {
  constexpr char args[] = "{indices = #base.operand<0>, experts = 8 : i64, most = 3 : i64}";
  constexpr char types[] = "(tensor<4x6x2xi64>) -> tensor<4x6x2xi64>";
  EXPECT_EQ(rule("meshplan.drop_choices", args, types),
            "[a, b, c] -> [a, d, e]; a=4 b=6:whole c=2:whole d=6:whole e=2:whole");
  EXPECT_EQ(linearity("meshplan.drop_choices", args, types), "");
}

TEST_F(ExpertRecords, TokensBecomeRowsOnEachRankOfAnExpert) {
  constexpr char types[] = "(tensor<4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x16xf32>";
  EXPECT_EQ(rule("meshplan.dispatch", dispatch, types), "[a, b, c], [d, a, b] -> [d, a, b, c]; a=4 b=6 c=16 d=8");
  EXPECT_EQ(linearity("meshplan.dispatch", dispatch, types), "") << "addends are summed before they become rows";
  constexpr char gates[] = "(tensor<4x6x2xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6xf32>";
  EXPECT_EQ(rule("meshplan.dispatch_gates", dispatchGates, gates),
            "[a, b, c], [d, a, b] -> [d, a, b]; a=4 b=6 c=2:whole d=8");
  EXPECT_EQ(linearity("meshplan.dispatch_gates", dispatchGates, gates), "");
}

TEST_F(ExpertRecords, RowsOfSomeExpertsAreAddends) {
  constexpr char types[] = "(tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>";
  EXPECT_EQ(rule("meshplan.combine", combine, types), "[a, b, c, d], [a, b, c] -> [b, c, d]; a=8:sum b=4 c=6 d=16");
  EXPECT_EQ(linearity("meshplan.combine", combine, types), "{0}");
  constexpr char gates[] = "(tensor<8x4x6xf32>, tensor<8x4x6xi64>) -> tensor<4x6x2xf32>";
  EXPECT_EQ(rule("meshplan.collect_gates", collect, gates),
            "[a, b, c], [a, b, c] -> [b, c, d]; a=8:sum b=4 c=6 d=2:whole");
  EXPECT_EQ(linearity("meshplan.collect_gates", collect, gates), "{0}");
  EXPECT_TRUE(record("meshplan.collect_gates").picksElements) << "every gate has one expert";
}

TEST_F(ExpertRecords, ProductsContractFeatures) {
  EXPECT_EQ(rule("meshplan.grouped_linear", linear,
                 "(tensor<8x4x6x16xf32>, tensor<8x12x16xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x12xf32>"),
            "[a, b, c, d], [a, e, d], [a, b, c] -> [a, b, c, e]; a=8 b=4 c=6 d=16:sum e=12");
  EXPECT_EQ(rule("meshplan.grouped_linear", linearTransposed,
                 "(tensor<8x6x16xf32>, tensor<8x16x12xf32>, tensor<8x6xi64>) -> tensor<8x6x12xf32>"),
            "[a, b, c], [a, c, d], [a, b] -> [a, b, d]; a=8 b=6 c=16:sum d=12");
  EXPECT_EQ(linearity("meshplan.grouped_linear", linear,
                      "(tensor<8x6x16xf32>, tensor<8x12x16xf32>, tensor<8x6xi64>) -> tensor<8x6x12xf32>"),
            "{0} {1}");
}

TEST_F(ExpertRecords, ABiasIsAnAddendOfPartialRows) {
  constexpr char types[] = "(tensor<8x4x6x12xf32>, tensor<8x12xf32>, tensor<8x4x6xi64>) -> tensor<8x4x6x12xf32>";
  EXPECT_EQ(rule("meshplan.grouped_bias", bias, types),
            "[a, b, c, d], [a, d], [a, b, c] -> [a, b, c, d]; a=8 b=4 c=6 d=12");
  EXPECT_EQ(linearity("meshplan.grouped_bias", bias, types), "{0, 1}");
}

TEST_F(ExpertRecords, GradientsOfParametersAreSumsOverTokens) {
  constexpr char types[] = "(tensor<8x4x6x12xf32>, tensor<8x4x6x16xf32>, tensor<8x4x6xi64>) -> tensor<8x12x16xf32>";
  EXPECT_EQ(rule("meshplan.grouped_linear_weight_gradient", weightGradient, types),
            "[a, b, c, d], [a, b, c, e], [a, b, c] -> [a, d, e]; a=8 b=4:sum c=6:sum d=12 e=16");
  EXPECT_EQ(rule("meshplan.grouped_linear_weight_gradient", weightGradientTransposed,
                 "(tensor<8x6x12xf32>, tensor<8x6x16xf32>, tensor<8x6xi64>) -> tensor<8x16x12xf32>"),
            "[a, b, c], [a, b, d], [a, b] -> [a, d, c]; a=8 b=6:sum c=12 d=16");
  EXPECT_EQ(linearity("meshplan.grouped_linear_weight_gradient", weightGradient, types), "{0} {1}");
  constexpr char ofBias[] = "(tensor<8x4x6x12xf32>, tensor<8x4x6xi64>) -> tensor<8x12xf32>";
  EXPECT_EQ(rule("meshplan.grouped_bias_gradient", biasGradient, ofBias),
            "[a, b, c, d], [a, b, c] -> [a, d]; a=8 b=4:sum c=6:sum d=12");
  EXPECT_EQ(linearity("meshplan.grouped_bias_gradient", biasGradient, ofBias), "{0}");
}

TEST_F(ExpertRecords, OneExpertOrOneSample) {
  EXPECT_EQ(rule("meshplan.dispatch", dispatch, "(tensor<1x6x16xf32>, tensor<8x1x6xi64>) -> tensor<8x1x6x16xf32>"),
            "[1, a, b], [c, 1, a] -> [c, 1, a, b]; a=6 b=16 c=8");
  EXPECT_EQ(rule("meshplan.grouped_linear", linear,
                 "(tensor<1x6x16xf32>, tensor<1x12x16xf32>, tensor<1x6xi64>) -> tensor<1x6x12xf32>"),
            "[1, a, b], [1, c, b], [1, a] -> [1, a, c]; a=6 b=16:sum c=12");
}

//===----------------------------------------------------------------------===//
// Forms on a rank
//===----------------------------------------------------------------------===//

TEST_F(ExpertRecords, ARankIsToldItsExperts) {
  EXPECT_EQ(local("meshplan.route", route,
                  R"((tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>)
                     -> (tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>,
                         tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>))"),
            "meshplan.route {experts = #base.local<0, result 0, dim 0, extent 1>, first = #base.local<0, result 0, "
            "dim 0, offset 1>, indices = #base.operand<0>}");
  EXPECT_EQ(local("meshplan.route", route,
                  R"((tensor<4x6x2xi64, #plan.sharding<[{"dp"}, {}, {}]>>)
                     -> (tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>,
                         tensor<8x4x6xi64, #plan.sharding<[{}, {"dp"}, {}]>>))"),
            "meshplan.route {experts = 8 : i64, first = 0 : i64, indices = #base.operand<0>}");
}

TEST_F(ExpertRecords, SizesAreThoseOfTheRank) {
  EXPECT_EQ(local("meshplan.combine", combine,
                  R"((tensor<8x4x6x16xf32, #plan.sharding<[{"ep"}, {"dp"}, {}, {}]>>,
                      tensor<8x4x6xi64, #plan.sharding<[{"ep"}, {"dp"}, {}]>>)
                     -> tensor<4x6x16xf32, #plan.sharding<[{"dp"}, {}, {}], partial = sum {"ep"}>>)"),
            "meshplan.combine {rows = #base.operand<0>, size = [#base.local<0, result 0, dim 0, extent 1>, 6, 16], "
            "slots = 2 : i64, table = #base.operand<1>}");
  EXPECT_EQ(
      local(
          "meshplan.collect_gates", collect,
          R"((tensor<8x4x6xf32, #plan.sharding<[{}, {}, {"tp"}]>>, tensor<8x4x6xi64, #plan.sharding<[{}, {}, {"tp"}]>>)
                     -> tensor<4x6x2xf32, #plan.sharding<[{}, {"tp"}, {}]>>)"),
      "meshplan.collect_gates {rows = #base.operand<0>, size = [4, #base.local<0, result 0, dim 1, extent 1>, 2], "
      "table = #base.operand<1>}");
}

TEST_F(ExpertRecords, SumsOfHalfTypesAreWrittenInFloat) {
  EXPECT_EQ(
      wide("meshplan.grouped_linear", linearTransposed,
           "(tensor<8x6x16xbf16>, tensor<8x16x12xbf16>, tensor<8x6xi64>) -> tensor<8x6x12xbf16>"),
      "meshplan.grouped_linear_f32 {counts = #base.operand<2>, rows = #base.operand<0>, transposed = true, weight "
      "= #base.operand<1>}");
  EXPECT_EQ(wide("meshplan.grouped_linear_weight_gradient", weightGradient,
                 "(tensor<8x6x12xbf16>, tensor<8x6x16xbf16>, tensor<8x6xi64>) -> tensor<8x12x16xbf16>"),
            "meshplan.grouped_linear_weight_gradient_f32 {counts = #base.operand<2>, gradient = #base.operand<0>, rows "
            "= #base.operand<1>}");
  EXPECT_EQ(wide("meshplan.combine", combine, "(tensor<8x4x6x16xbf16>, tensor<8x4x6xi64>) -> tensor<4x6x16xbf16>"),
            "meshplan.combine {dtype = f32, rows = #base.operand<0>, size = [4, 6, 16], slots = 2 : i64, table = "
            "#base.operand<1>}");
  EXPECT_EQ(linearity("meshplan.combine", combine, "(tensor<8x4x6x16xbf16>, tensor<8x4x6xi64>) -> tensor<4x6x16xf32>"),
            "{0}");
}

//===----------------------------------------------------------------------===//
// Costs, of what a rank stores: rows [R, features], a table [R], counts [experts]
//===----------------------------------------------------------------------===//

TEST_F(ExpertRecords, ProductsCostAsManyRowsAsThereAre) {
  OpCost made = cost("meshplan.grouped_linear", linear,
                     "(tensor<24x16xf32>, tensor<8x12x16xf32>, tensor<8xi64>) -> tensor<24x12xf32>");
  EXPECT_EQ(made.flops, 2 * 24 * 12 * 16);
  EXPECT_EQ(made.bytes, 4 * (24 * 16 + 8 * 12 * 16 + 24 * 12) + 8 * 8) << "the weights of all experts are read";
  ASSERT_TRUE(made.product);
  EXPECT_EQ(made.product->m, 24);
  EXPECT_EQ(made.product->n, 12);
  EXPECT_EQ(made.product->k, 16);
  EXPECT_EQ(made.product->count, 1);
  EXPECT_EQ(made.workspaceBytes, 0);
  OpCost sums = cost("meshplan.grouped_linear_weight_gradient", weightGradient,
                     "(tensor<24x12xf32>, tensor<24x16xf32>, tensor<8xi64>) -> tensor<8x12x16xf32>");
  EXPECT_EQ(sums.flops, made.flops);
  EXPECT_EQ(sums.bytes, made.bytes);
  EXPECT_EQ(sums.product->k, 24);
  EXPECT_EQ(sums.workspaceBytes, 0);
}

TEST_F(ExpertRecords, WideProductsConvertTheOperandsOfOneExpert) {
  OpCost made = cost("meshplan.grouped_linear_f32", linear,
                     "(tensor<24x16xbf16>, tensor<8x12x16xbf16>, tensor<8xi64>) -> tensor<24x12xf32>");
  EXPECT_EQ(made.workspaceBytes, 4 * (3 * 16 + 12 * 16)) << "3 rows and a matrix";
  OpCost sums = cost("meshplan.grouped_linear_weight_gradient_f32", weightGradient,
                     "(tensor<24x12xbf16>, tensor<24x16xbf16>, tensor<8xi64>) -> tensor<8x12x16xf32>");
  EXPECT_EQ(sums.workspaceBytes, 4 * (3 * 12 + 3 * 16));
}

TEST_F(ExpertRecords, SumsOfRowsConvertThoseOfOneExpert) {
  constexpr char types[] = "(tensor<24x12xf32>, tensor<8xi64>) -> tensor<8x12xf32>";
  EXPECT_EQ(cost("meshplan.grouped_bias_gradient", biasGradient, types).workspaceBytes, 4 * 12) << "one sum";
  constexpr char half[] = "(tensor<24x12xbf16>, tensor<8xi64>) -> tensor<8x12xbf16>";
  EXPECT_EQ(cost("meshplan.grouped_bias_gradient", biasGradient, half).workspaceBytes, 4 * 12 * (1 + 3));
}

/// The numbers of the experts, what sorting makes of them, and a buffer of the sort.
TEST_F(ExpertRecords, ATableIsSorted) {
  auto workspace = [&](llvm::StringRef types) { return cost("meshplan.route", route, types).workspaceBytes; };
  EXPECT_EQ(workspace("(tensor<4x6x2xi64>) -> (tensor<48xi64>, tensor<8xi64>)"), 3 * 8 * 48);
  EXPECT_EQ(workspace("(tensor<4x6x2xi64>) -> (tensor<12xi64>, tensor<2xi64>)"), 4 * 8 * 48 - 8 * 12);
}

TEST_F(ExpertRecords, MovedRowsCostTheirBytes) {
  OpCost rows = cost("meshplan.dispatch", dispatch, "(tensor<4x6x16xf32>, tensor<24xi64>) -> tensor<24x16xf32>");
  EXPECT_EQ(rows.bytes, 2 * 4 * 24 * 16 + 8 * 24) << "only the tokens of the rows are read";
  EXPECT_EQ(rows.workspaceBytes, 8 * 24) << "the tokens";
  OpCost sums = cost("meshplan.combine", combine, "(tensor<24x16xf32>, tensor<24xi64>) -> tensor<4x6x16xf32>");
  EXPECT_EQ(sums.bytes, 4 * 24 * 16 + 8 * 24 + 4 * 24 * 16);
  EXPECT_EQ(sums.workspaceBytes, 8 * 24 * 2 + 4 * 24 * 16 + 8 * 24) << "the row of each pair, and the rows of one slot";
  OpCost half = cost("meshplan.combine", combine, "(tensor<24x16xbf16>, tensor<24xi64>) -> tensor<4x6x16xbf16>");
  EXPECT_EQ(half.workspaceBytes, 8 * 24 * 2 + (2 + 4 + 4) * 24 * 16 + 8 * 24);
  OpCost wide = cost("meshplan.combine", combine, "(tensor<24x16xbf16>, tensor<24xi64>) -> tensor<4x6x16xf32>");
  EXPECT_EQ(wide.workspaceBytes, 8 * 24 * 2 + (2 + 4) * 24 * 16 + 8 * 24) << "summed in the result";
}

} // namespace
