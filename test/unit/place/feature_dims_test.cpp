//===- feature_dims_test.cpp - the features of a parameter ----------------===//

#include "compiler/transforms/place/feature_dims.h"
#include "test/unit/import/program_text.h"

using namespace meshplan;
using namespace meshplan::plan;

namespace {

/// Programs of an input x and parameters w and b; the features are those of w.
class FeatureDims : public ProgramText {
protected:
  /// "output input; activations", each dim or "-"; an activation is its call's index, its operand and its dim.
  std::string features(llvm::StringRef arguments, std::vector<std::string> lines, llvm::StringRef path = "m") {
    read(arguments, lines);
    for (CallOp call : function().getOps<CallOp>())
      if (!call.getModule())
        call.setModule("m");
    return describe(find(path));
  }

  FeatureUse find(llvm::StringRef path) {
    return FeatureSearch(function()).findIn(llvm::cast<mlir::BlockArgument>(argument(1)), path);
  }

  std::string describe(const FeatureUse &use) {
    auto dim = [](std::optional<int64_t> value) { return value ? std::to_string(*value) : "-"; };
    auto feature = [](const std::optional<FeatureDim> &value) { return value ? std::to_string(value->dim) : "-"; };
    std::string text = feature(use.output) + " " + feature(use.input) + ";";
    for (const ActivationUse &activation : use.activations)
      text += " " + std::to_string(activation.operand->getOperandNumber()) + ":" + dim(activation.inputDim);
    return text;
  }

  static std::string arguments(llvm::StringRef input, llvm::StringRef weight, llvm::StringRef bias = "4xf32") {
    return ("x: " + input + " {plan.kind = #plan.kind<input>}; w: " + weight +
            " {plan.kind = #plan.kind<parameter>}; b: " + bias + " {plan.kind = #plan.kind<buffer>}")
        .str();
  }
};

constexpr char linear[] =
    "y = aten.linear.default(x: 2x6xf32, w: 4x6xf32, b: 4xf32) {input = #base.operand<0>, weight = #base.operand<1>, "
    "bias = #base.operand<2>} : 2x4xf32";

TEST_F(FeatureDims, LinearKeepsOutputsFirst) {
  EXPECT_EQ(features(arguments("2x6xf32", "4x6xf32"), {linear}), "0 1; 0:1");
}

TEST_F(FeatureDims, ASingleOutputIsOne) {
  EXPECT_EQ(features(arguments("2x6xf32", "1x6xf32"),
                     {"y = aten.linear.default(x: 2x6xf32, w: 1x6xf32) {input = #base.operand<0>, weight = "
                      "#base.operand<1>} : 2x1xf32"}),
            "0 1; 0:1");
  EXPECT_EQ(
      features(arguments("2x6xf32", "1x6xf32"),
               {"t = aten.t.default(w: 1x6xf32) {self = #base.operand<0>} : 6x1xf32",
                "y = aten.mm.default(x: 2x6xf32, t: 6x1xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} : "
                "2x1xf32"}),
      "0 1; 0:1");
}

TEST_F(FeatureDims, Conv1DOfGptKeepsInputsFirst) {
  EXPECT_EQ(features(arguments("2x6xf32", "6x4xf32"),
                     {"y = aten.addmm.default(b: 4xf32, x: 2x6xf32, w: 6x4xf32) {self = #base.operand<0>, mat1 = "
                      "#base.operand<1>, mat2 = #base.operand<2>} : 2x4xf32"}),
            "1 0; 1:1");
}

TEST_F(FeatureDims, ARearrangedWeightIsFollowed) {
  EXPECT_EQ(
      features(arguments("2x6xf32", "4x6xf32"),
               {"t = aten.t.default(w: 4x6xf32) {self = #base.operand<0>} : 6x4xf32",
                "y = aten.mm.default(x: 2x6xf32, t: 6x4xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} : "
                "2x4xf32"}),
      "0 1; 0:1");
  EXPECT_EQ(features(arguments("2x6xf32", "24xf32"),
                     {"t = aten.view.default(w: 24xf32) {self = #base.operand<0>, size = [4, 6]} : 4x6xf32",
                      "y = aten.linear.default(x: 2x6xf32, t: 4x6xf32) {input = #base.operand<0>, weight = "
                      "#base.operand<1>} : 2x4xf32"}),
            "0 -; 0:1")
      << "of the flat dim the outputs are the major factor";
}

TEST_F(FeatureDims, ABiasHasOutputsOnly) {
  EXPECT_EQ(features("x: 2x6xf32 {plan.kind = #plan.kind<input>}; w: 4xf32 {plan.kind = #plan.kind<parameter>}; k: "
                     "4x6xf32 {plan.kind = "
                     "#plan.kind<parameter>}",
                     {"y = aten.linear.default(x: 2x6xf32, k: 4x6xf32, w: 4xf32) {input = #base.operand<0>, weight = "
                      "#base.operand<1>, bias = #base.operand<2>} : 2x4xf32"}),
            "0 -; 0:-");
}

TEST_F(FeatureDims, AnEmbeddingIsLookedUp) {
  // If the vocabulary is sharded, the result is a sum over it; the features are in the result.
  EXPECT_EQ(features(arguments("2x5xi64", "32x6xf32"),
                     {"y = aten.embedding.default(w: 32x6xf32, x: 2x5xi64) {weight = #base.operand<0>, indices = "
                      "#base.operand<1>} : 2x5x6xf32"}),
            "1 0; 1:-");
}

TEST_F(FeatureDims, AScaleOfActivationsHasNone) {
  // Each feature of the weight scales one of the activation: the product has no new output feature.
  EXPECT_EQ(features(arguments("2x6xf32", "6xf32"),
                     {"y = aten.mul.Tensor(x: 2x6xf32, w: 6xf32) {self = #base.operand<0>, other = #base.operand<1>} : "
                      "2x6xf32"}),
            "- -;");
}

TEST_F(FeatureDims, OnlyUsesInsideTheModuleCount) {
  std::vector<std::string> lines = {linear};
  read(arguments("2x6xf32", "4x6xf32"), lines);
  for (auto [module, path, found] : {std::tuple("mlp.up", "mlp.up", true),
                                     {"mlp.up", "mlp", true},
                                     {"mlp.up", "", true},
                                     {"mlp.up.inner", "mlp.up", true},
                                     {"mlp.upper", "mlp.up", false},
                                     {"mlp", "mlp.up", false},
                                     {"other", "mlp", false}}) {
    call(0).setModule(module);
    EXPECT_EQ(describe(find(path)), found ? "0 1; 0:1" : "- -;") << module << " in " << path;
  }
  call(0).removeModuleAttr();
  EXPECT_EQ(describe(find("mlp")), "- -;");
  EXPECT_EQ(describe(find("")), "0 1; 0:1") << "the whole model";
}

TEST_F(FeatureDims, TheFirstUseThatTellsDecides) {
  EXPECT_EQ(
      features(arguments("2x6xf32", "6x6xf32"),
               {"s = custom.op.default(w: 6x6xf32) {self = #base.operand<0>} : 6x6xf32",
                "a = aten.mul.Tensor(w: 6x6xf32) {self = #base.operand<0>, other = #base.operand<0>} : "
                "6x6xf32",
                "y = aten.mm.default(x: 2x6xf32, w: 6x6xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} : "
                "2x6xf32"})
          .substr(0, 3),
      "1 0");
}

TEST_F(FeatureDims, EveryCallOfTheModuleCounts) {
  EXPECT_EQ(features(arguments("2x6xf32", "6x6xf32"),
                     {"y = aten.mm.default(x: 2x6xf32, w: 6x6xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} "
                      ": 2x6xf32",
                      "z = aten.mm.default(y: 2x6xf32, w: 6x6xf32) {self = #base.operand<0>, mat2 = #base.operand<1>} "
                      ": 2x6xf32"}),
            "1 0; 0:1 0:1");
}

TEST_F(FeatureDims, AUseThatDisagreesWithTheFirstDoesNotCount) {
  // Tied embeddings: first the table is looked up, and at the end it is multiplied.
  std::string x = "x: 2x5xi64 {plan.kind = #plan.kind<input>}; w: 32x6xf32 {plan.kind = #plan.kind<parameter>}";
  EXPECT_EQ(features(x, {"e = aten.embedding.default(w: 32x6xf32, x: 2x5xi64) {weight = #base.operand<0>, indices = "
                         "#base.operand<1>} : 2x5x6xf32",
                         "y = aten.linear.default(e: 2x5x6xf32, w: 32x6xf32) {input = #base.operand<0>, weight = "
                         "#base.operand<1>} : 2x5x32xf32"}),
            "1 0; 1:-");
}

TEST_F(FeatureDims, AnUnusedParameterHasNone) {
  EXPECT_EQ(features(arguments("2x6xf32", "4x6xf32"),
                     {"y = aten.neg.default(x: 2x6xf32) {self = #base.operand<0>} : 2x6xf32"}),
            "- -;");
}

} // namespace
