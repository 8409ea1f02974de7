//===- random_test.cpp - records of counted random numbers ----------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class RandomRecords : public CallTest {
protected:
  std::string local(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return text(record(target).localize(parse(target, args, types), plan::MeshOp()));
  }
  /// True if the elements of each divisible factor are identified by their index.
  bool isCounted(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    CallView call = parse(target, args, types);
    return llvm::all_of(record(target).rule(call).factors,
                        [](const Factor &factor) { return factor.isCounted || factor.kind == FactorKind::whole; });
  }
};

constexpr char dropout[] =
    "{input = #base.operand<0>, seed = #base.operand<1>, step = #base.operand<2>, p = 0.5 : f64, "
    "number = 3 : i64}";
constexpr char uniform[] = "{seed = #base.operand<0>, step = #base.operand<1>, size = [4 : i64, 6 : i64], "
                           "number = 3 : i64, dtype = f32}";
constexpr char dropoutTypes[] = "(tensor<4x1x6xf32>, tensor<f64>, tensor<f64>) -> tensor<4x1x6xf32>";
constexpr char uniformTypes[] = "(tensor<f64>, tensor<f64>) -> tensor<4x6xf32>";

TEST_F(RandomRecords, EveryDimPassesInOneRun) {
  EXPECT_EQ(rule("meshplan.dropout", dropout, dropoutTypes), "[a, 1, b], [], [] -> [a, 1, b]; a=4 b=6");
  EXPECT_EQ(rule("meshplan.uniform", uniform, uniformTypes), "[], [] -> [a, b]; a=4 b=6");
  EXPECT_TRUE(isCounted("meshplan.dropout", dropout, dropoutTypes));
  EXPECT_TRUE(isCounted("meshplan.uniform", uniform, uniformTypes));
}

TEST_F(RandomRecords, DropoutIsLinearAsItsMaskIsGiven) {
  EXPECT_EQ(describe(record("meshplan.dropout").linearity(parse("meshplan.dropout", dropout, dropoutTypes))), "{0}");
  EXPECT_EQ(describe(record("meshplan.uniform").linearity(parse("meshplan.uniform", uniform, uniformTypes))), "");
}

TEST_F(RandomRecords, PartsAreToldWhereTheyLie) {
  EXPECT_EQ(local("meshplan.dropout", dropout,
                  R"((tensor<4x8x6xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>>, tensor<f64>, tensor<f64>)
                     -> tensor<4x8x6xf32, #plan.sharding<[{"dp"}, {}, {"tp"}]>>)"),
            "meshplan.dropout {input = #base.operand<0>, number = 3 : i64, offset = [#base.local<0, result 0, dim 0, "
            "offset 1>, 0, #base.local<0, result 0, dim 2, offset 1>], p = 5.000000e-01 : f64, seed = "
            "#base.operand<1>, shape = [4, 8, 6], step = #base.operand<2>}");
  EXPECT_EQ(local("meshplan.uniform", uniform,
                  R"((tensor<f64>, tensor<f64>) -> tensor<4x6xf32, #plan.sharding<[{}, {"tp"}]>>)"),
            "meshplan.uniform {dtype = f32, number = 3 : i64, offset = [0, #base.local<0, result 0, dim 1, offset 1>], "
            "seed = #base.operand<0>, shape = [4, 6], size = [4, #base.local<0, result 0, dim 1, extent 1>], "
            "step = #base.operand<1>}");
}

TEST_F(RandomRecords, WholeCallsStay) {
  EXPECT_EQ(local("meshplan.dropout", dropout,
                  R"((tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>, tensor<f64>, tensor<f64>)
                     -> tensor<4xf32, #plan.sharding<[{}], partial = sum {"tp"}>>)"),
            "meshplan.dropout {input = #base.operand<0>, number = 3 : i64, p = 5.000000e-01 : f64, "
            "seed = #base.operand<1>, step = #base.operand<2>}");
}

constexpr char rowDropout[] = "{rows = #base.operand<0>, positions = #base.operand<1>, seed = #base.operand<2>, "
                              "step = #base.operand<3>, p = 0.5 : f64, number = 3 : i64}";

TEST_F(RandomRecords, RowsOfExpertsAreDividedByAllDims) {
  constexpr char types[] =
      "(tensor<8x4x6x16xf32>, tensor<8x4x6xi64>, tensor<f64>, tensor<f64>) -> tensor<8x4x6x16xf32>";
  EXPECT_EQ(rule("meshplan.dropout_rows", rowDropout, types),
            "[a, b, c, d], [a, b, c], [], [] -> [a, b, c, d]; a=8 b=4 c=6 d=16");
  FactorRule made = record("meshplan.dropout_rows").rule(parse("meshplan.dropout_rows", rowDropout, types));
  for (const Factor &factor : made.factors)
    EXPECT_EQ(factor.isCounted, factor.size == 16) << "rows have positions";
  EXPECT_EQ(describe(record("meshplan.dropout_rows").linearity(parse("meshplan.dropout_rows", rowDropout, types))),
            "{0}");
}

TEST_F(RandomRecords, RowsOfExpertsAreToldTheirFeatures) {
  EXPECT_EQ(local("meshplan.dropout_rows", rowDropout,
                  R"((tensor<8x4x16xf32, #plan.sharding<[{"ep"}, {"dp"}, {"tp"}]>>,
                      tensor<8x4xi64, #plan.sharding<[{"ep"}, {"dp"}]>>, tensor<f64>, tensor<f64>)
                     -> tensor<8x4x16xf32, #plan.sharding<[{"ep"}, {"dp"}, {"tp"}]>>)"),
            "meshplan.dropout_rows {features = 16 : i64, first = #base.local<0, result 0, dim 2, offset 1>, number = 3 "
            ": i64, p = 5.000000e-01 : f64, positions = #base.operand<1>, rows = #base.operand<0>, seed = "
            "#base.operand<2>, step = #base.operand<3>}");
  EXPECT_EQ(local("meshplan.dropout_rows", rowDropout,
                  R"((tensor<8x4x16xf32, #plan.sharding<[{"ep"}, {}, {}]>>,
                      tensor<8x4xi64, #plan.sharding<[{"ep"}, {}]>>, tensor<f64>, tensor<f64>)
                     -> tensor<8x4x16xf32, #plan.sharding<[{"ep"}, {}, {}]>>)"),
            "meshplan.dropout_rows {number = 3 : i64, p = 5.000000e-01 : f64, positions = #base.operand<1>, rows = "
            "#base.operand<0>, seed = #base.operand<2>, step = #base.operand<3>}");
}

/// The kernel reads rows: a transposed tensor is copied.
TEST_F(RandomRecords, CostIsThatOfTheWords) {
  CallView call = parse("meshplan.dropout", dropout, dropoutTypes);
  OpCost cost = record("meshplan.dropout").cost(call);
  EXPECT_EQ(cost.flops, 25 * 24);
  EXPECT_EQ(cost.bytes, 2 * 24 * 4 + 2 * 8);
  EXPECT_EQ(cost.workspaceBytes, 0);
  call.strides = {{1, 4, 4}, {}, {}};
  EXPECT_EQ(record("meshplan.dropout").cost(call).workspaceBytes, 24 * 4);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

constexpr char drawnAttention[] = "query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, "
                                  "dropout = 0.5 : f64";
constexpr char keyed[] = ", seed = #base.operand<3>, step = #base.operand<4>, number = 2 : i64";

std::string drawnAttentionWith(llvm::StringRef more) { return ("{" + llvm::Twine(drawnAttention) + more + "}").str(); }

/// Types of query, key, value, settings and results; batch and heads have the sharding.
std::string drawnAttentionTypes(llvm::StringRef heads, llvm::StringRef keys) {
  return ("(" + heads + ", " + keys + ", " + keys + ", tensor<f64>, tensor<f64>) -> " + heads).str();
}

TEST_F(RandomRecords, AttentionIsDividedOnceItsNumbersAreKnown) {
  std::string types = drawnAttentionTypes("tensor<2x6x1x1xf32>", "tensor<2x3x1x1xf32>");
  EXPECT_EQ(rule("meshplan.attention", drawnAttentionWith(keyed), types),
            "[a, b, 1, 1], [a, b/2, 1, 1], [a, b/2, 1, 1], [], [] -> [a, b, 1, 1]; a=2 b=6");
  EXPECT_TRUE(isCounted("meshplan.attention", drawnAttentionWith(keyed), types));
  EXPECT_EQ(rule("meshplan.attention", drawnAttentionWith(""), types),
            "[a, b, 1, 1], [c, d, 1, 1], [e, f, 1, 1], [], [] -> [g, h, 1, 1]; a=2:whole b=6:whole c=2:whole d=3:whole "
            "e=2:whole f=3:whole g=2:whole h=6:whole");
}

TEST_F(RandomRecords, AttentionIsToldItsSamplesAndHeads) {
  constexpr char heads[] = R"(tensor<2x6x1x1xf32, #plan.sharding<[{"dp"}, {"tp"}, {}, {}]>>)";
  constexpr char keys[] = R"(tensor<2x3x1x1xf32, #plan.sharding<[{"dp"}, {"tp", repeat 2}, {}, {}]>>)";
  EXPECT_EQ(
      local("meshplan.attention", drawnAttentionWith(keyed), drawnAttentionTypes(heads, heads)),
      "meshplan.attention {all_heads = 6 : i64, dropout = 5.000000e-01 : f64, first_head = #base.local<0, operand "
      "0, dim 1, offset 1>, first_sample = #base.local<0, operand 0, dim 0, offset 1>, key = #base.operand<1>, "
      "number = 2 : i64, query = #base.operand<0>, seed = #base.operand<3>, step = #base.operand<4>, value = "
      "#base.operand<2>}");
  std::string shared = local("meshplan.attention", drawnAttentionWith(keyed), drawnAttentionTypes(heads, keys));
  EXPECT_NE(shared.find("heads_per_key = 2"), std::string::npos);
  EXPECT_NE(shared.find("all_heads = 6"), std::string::npos);
}

} // namespace
