//===- runtime_derivative_test.cpp - records of vjp.TARGET ----------------===//
//
// The rule of a derivative follows from that of its operator. Every expected rule is derived by hand.
//
//===----------------------------------------------------------------------===//

#include "test/unit/sharding/parsed_call.h"

using namespace meshplan;

namespace {

class RuntimeDerivative : public CallTest {
protected:
  std::string linearity(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return describe(record(target).linearity(parse(target, args, types)));
  }
  OpCost cost(llvm::StringRef target, llvm::StringRef args, llvm::StringRef types) {
    return record(target).cost(parse(target, args, types));
  }
};

constexpr char prelu[] = "self = #base.operand<0>, weight = #base.operand<1>, gradients = [#base.operand<2>], of = ";

std::string of(llvm::StringRef args, llvm::StringRef name) { return ("{" + args + "\"" + name + "\"}").str(); }

TEST_F(RuntimeDerivative, EveryOperatorWithARecordHasOne) {
  EXPECT_TRUE(OpRegistry::get().lookup("vjp.aten.prelu.default"));
  EXPECT_FALSE(OpRegistry::get().lookup("vjp.custom.scan.default"));
  EXPECT_FALSE(OpRegistry::get().lookup("vjp."));
}

TEST_F(RuntimeDerivative, FactorsPassToTheOperandThatHasThem) {
  EXPECT_EQ(rule("vjp.aten.prelu.default", of(prelu, "self"),
                 "(tensor<2x4x3xf32>, tensor<4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>"),
            "[a, b, c], [b], [a, b, c] -> [a, b, c]; a=2 b=4 c=3");
}

TEST_F(RuntimeDerivative, FactorsThatTheOperandLacksAreSummed) {
  EXPECT_EQ(rule("vjp.aten.prelu.default", of(prelu, "weight"),
                 "(tensor<2x4x3xf32>, tensor<4xf32>, tensor<2x4x3xf32>) -> tensor<4xf32>"),
            "[a, b, c], [b], [a, b, c] -> [b]; a=2:sum b=4 c=3:sum");
  EXPECT_EQ(rule("vjp.aten.atan2.default",
                 "{self = #base.operand<0>, other = #base.operand<1>, gradients = [#base.operand<2>], of = \"self\"}",
                 "(tensor<4x1xf32>, tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x1xf32>"),
            "[a, 1], [b], [a, b] -> [a, 1]; a=4 b=6:sum");
}

/// A contracted factor is in the operands, but not in the gradient of the result.
TEST_F(RuntimeDerivative, ContractedFactorsPassToo) {
  EXPECT_EQ(rule("vjp.aten.nansum.default",
                 "{self = #base.operand<0>, dim = [1], gradients = [#base.operand<1>], of = "
                 "\"self\"}",
                 "(tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>"),
            "[a, b], [a] -> [a, b]; a=4 b=6");
  constexpr char bilinear[] = "{input1 = #base.operand<0>, input2 = #base.operand<1>, weight = #base.operand<2>, "
                              "gradients = [#base.operand<3>], of = \"input1\"}";
  EXPECT_EQ(rule("vjp.aten.bilinear.default", bilinear,
                 "(tensor<4x2xf32>, tensor<4x3xf32>, tensor<6x2x3xf32>, tensor<4x6xf32>) -> tensor<4x2xf32>"),
            "[a, b], [a, c], [d, b, c], [a, d] -> [a, b]; a=4 b=2 c=3:sum d=6:sum");
}

/// A bias is not a factor of the products: every rank would add its whole gradient.
TEST_F(RuntimeDerivative, WhatIsAddedToAContractionHoldsIt) {
  constexpr char bias[] = "{input1 = #base.operand<0>, input2 = #base.operand<1>, weight = #base.operand<2>, "
                          "bias = #base.operand<3>, gradients = [#base.operand<4>], of = \"bias\"}";
  EXPECT_EQ(rule("vjp.aten.bilinear.default", bias,
                 "(tensor<4x2xf32>, tensor<4x3xf32>, tensor<6x2x3xf32>, tensor<6xf32>, tensor<4x6xf32>) -> "
                 "tensor<6xf32>"),
            "[a, b], [a, c], [d, b, c], [d], [a, d] -> [d]; a=4:sum b=2:whole c=3:whole d=6");
}

TEST_F(RuntimeDerivative, WhatTheOperatorHoldsIsHeld) {
  EXPECT_EQ(rule("vjp.aten.prod.dim_int",
                 "{self = #base.operand<0>, dim = 1, gradients = [#base.operand<1>], of = \"self\"}",
                 "(tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>"),
            "[a, b], [a] -> [a, b]; a=4 b=6:whole");
}

/// Each rank only knows its own maximum.
TEST_F(RuntimeDerivative, MaximaAreHeld) {
  EXPECT_EQ(rule("vjp.aten.max.default", "{self = #base.operand<0>, gradients = [#base.operand<1>], of = \"self\"}",
                 "(tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>"),
            "[a, b], [] -> [a, b]; a=4:whole b=6:whole");
}

TEST_F(RuntimeDerivative, AFormThatKnowsItsRankRunsWhole) {
  ASSERT_TRUE(record("aten.mean.dim").localize);
  EXPECT_EQ(rule("vjp.aten.mean.dim",
                 "{self = #base.operand<0>, dim = [1], gradients = [#base.operand<1>], of = \"self\"}",
                 "(tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>"),
            "[a, b], [c] -> [d, e]; a=4:whole b=6:whole c=4:whole d=4:whole e=6:whole");
}

/// The shape of a result without gradient is unknown.
TEST_F(RuntimeDerivative, WithoutAGradientItRunsWhole) {
  EXPECT_EQ(rule("vjp.aten.sort.default",
                 "{self = #base.operand<0>, dim = 1, gradients = [#base.operand<1>, unit], of = \"self\"}",
                 "(tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>"),
            "[a, b], [c, d] -> [e, f]; a=4:whole b=6:whole c=4:whole d=6:whole e=4:whole f=6:whole");
}

TEST_F(RuntimeDerivative, AnItemOfAList) {
  constexpr char args[] = "{equation = \"ij,jk\", tensors = [#base.operand<0>, #base.operand<1>], "
                          "gradients = [#base.operand<2>], of = \"tensors.1\"}";
  EXPECT_EQ(
      rule("vjp.aten.einsum.default", args, "(tensor<4x6xf32>, tensor<6x2xf32>, tensor<4x2xf32>) -> tensor<6x2xf32>"),
      "[a, b], [b, c], [a, c] -> [b, c]; a=4:sum b=6 c=2");
}

/// Samples are parallel in the gradients of input and state, and summed in those of the weights.
TEST_F(RuntimeDerivative, SeveralResults) {
  constexpr char types[] = "(tensor<5x6x2xf32>, tensor<1x6x3xf32>, tensor<3x2xf32>, tensor<3x3xf32>, "
                           "tensor<5x6x3xf32>, tensor<1x6x3xf32>) -> ";
  std::string args = "input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, #base.operand<3>], "
                     "has_biases = false, num_layers = 1, gradients = [#base.operand<4>, #base.operand<5>], of = ";
  auto found = [&](llvm::StringRef names, llvm::StringRef results) {
    return rule("vjp.aten.rnn_tanh.input", of(args, names), (types + results).str());
  };
  std::string samples = found("hx, input", "(tensor<1x6x3xf32>, tensor<5x6x2xf32>)");
  EXPECT_TRUE(llvm::StringRef(samples).contains("b=6 ")) << samples;
  std::string weights = found("params.0, params.1", "(tensor<3x2xf32>, tensor<3x3xf32>)");
  EXPECT_TRUE(llvm::StringRef(weights).contains("b=6:sum")) << weights;
  std::string mixed = found("input, params.0", "(tensor<5x6x2xf32>, tensor<3x2xf32>)");
  EXPECT_TRUE(llvm::StringRef(mixed).contains("b=6:whole")) << mixed;
}

/// Indices have zeros as gradient, which give the shape.
TEST_F(RuntimeDerivative, PlacesOfMaximaPass) {
  EXPECT_EQ(rule("vjp.aten.adaptive_max_pool2d.default",
                 "{self = #base.operand<0>, output_size = [3, 3], gradients = [#base.operand<1>, #base.operand<2>], "
                 "of = \"self\"}",
                 "(tensor<2x4x6x6xf32>, tensor<2x4x3x3xf32>, tensor<2x4x3x3xi64>) -> tensor<2x4x6x6xf32>"),
            "[a, b, c, d], [a, b, e, f], [a, b, g, h] -> [a, b, c, d]; a=2 b=4 c=6:whole d=6:whole e=3:whole f=3:whole "
            "g=3:whole h=3:whole");
}

/// The number of groups is a literal, which a rank scales with its features.
TEST_F(RuntimeDerivative, TransposedConvolution) {
  auto found = [&](llvm::StringRef name, llvm::StringRef result) {
    return rule(
        "vjp.aten.conv_transpose1d.default",
        of("input = #base.operand<0>, weight = #base.operand<1>, bias = #base.operand<2>, "
           "gradients = [#base.operand<3>], of = ",
           name),
        ("(tensor<2x6x5xf32>, tensor<6x4x3xf32>, tensor<4xf32>, tensor<2x4x7xf32>) -> tensor<" + result + ">").str());
  };
  constexpr char operands[] = "[a, b, c], [b, d, e], [d], [a, d, f] -> ";
  EXPECT_EQ(found("input", "2x6x5xf32"),
            operands + std::string("[a, b, c]; a=2 b=6 c=5:whole d=4:sum e=3:whole f=7:whole"));
  EXPECT_EQ(found("weight", "6x4x3xf32"),
            operands + std::string("[b, d, e]; a=2:sum b=6 c=5:whole d=4 e=3:whole f=7:whole"));
  EXPECT_EQ(found("bias", "4xf32"), operands + std::string("[d]; a=2:sum b=6:whole c=5:whole d=4 e=3:whole f=7:whole"));
}

/// Whatever an archive contains, a rule does not shard unknown operands.
TEST_F(RuntimeDerivative, WhatNamesNoOperandRunsWhole) {
  constexpr char types[] = "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";
  for (const char *args : {"{self = #base.operand<0>, gradients = [#base.operand<1>], of = \"other\"}",
                           "{self = #base.operand<0>, gradients = [#base.operand<1>]}",
                           "{self = #base.operand<0>, gradients = [], of = \"self\"}",
                           "{self = #base.operand<0>, gradients = [#base.operand<1>], of = \"self.3\"}",
                           "{self = #base.operand<0>, gradients = [#base.operand<1>], of = \"self, self\"}",
                           "{self = #base.operand<0>, gradients = [#base.operand<1>], of = \"\"}"})
    EXPECT_EQ(rule("vjp.aten.atan.default", args, types), "[a], [b] -> [c]; a=4:whole b=4:whole c=4:whole") << args;
}

TEST_F(RuntimeDerivative, ItIsLinearInTheGradients) {
  EXPECT_EQ(linearity("vjp.aten.prelu.default", of(prelu, "self"),
                      "(tensor<2x4x3xf32>, tensor<4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>"),
            "{2}");
  EXPECT_EQ(linearity("vjp.aten.aminmax.default",
                      "{self = #base.operand<0>, gradients = [#base.operand<1>, #base.operand<2>], of = \"self\"}",
                      "(tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>"),
            "{1, 2}")
      << "in all of them together";
}

TEST_F(RuntimeDerivative, ItCostsTheCallOnceMoreAndItsBackwardPass) {
  CallView call = parse("aten.prelu.default", "{self = #base.operand<0>, weight = #base.operand<1>}",
                        "(tensor<2x4x3xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>");
  OpCost own = record(call.target).cost(call);
  OpCost made = cost("vjp.aten.prelu.default", of(prelu, "self"),
                     "(tensor<2x4x3xf32>, tensor<4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>");
  EXPECT_EQ(made.flops, 3 * own.flops);
  EXPECT_EQ(made.bytes, 3 * own.bytes);
  EXPECT_EQ(made.workspaceBytes, own.workspaceBytes + 4 * 2 * 4 * 3) << "the result is recomputed";
}

/// As metered, a layer needs 11 tensors like its output for gru, and 3 for a plain layer. The gradients reuse memory of
/// the forward pass that is recomputed.
TEST_F(RuntimeDerivative, ARecurrentLayerKeepsEveryPlace) {
  constexpr char args[] = "{input = #base.operand<0>, hx = #base.operand<1>, params = [#base.operand<2>, "
                          "#base.operand<3>], has_biases = false, num_layers = 1, gradients = [#base.operand<4>, "
                          "#base.operand<5>], of = \"input\"}";
  constexpr int64_t like = 4 * 32 * 16 * 64;
  auto held = [&](llvm::StringRef target, int64_t gates) {
    std::string rows = std::to_string(gates * 64);
    return cost(target, args,
                "(tensor<32x16x64xf32>, tensor<1x16x64xf32>, tensor<" + rows + "x64xf32>, tensor<" + rows +
                    "x64xf32>, tensor<32x16x64xf32>, tensor<1x16x64xf32>) -> tensor<32x16x64xf32>")
               .workspaceBytes +
           like;
  };
  EXPECT_EQ(held("vjp.aten.gru.input", 3), 11 * like);
  EXPECT_EQ(held("vjp.aten.rnn_tanh.input", 1), 3 * like);
  EXPECT_GT(held("vjp.aten.lstm.input", 4), 22 * like);
}

} // namespace
