//===- made_weights_test.cpp - features of factors of a weight ------------===//
//
// The factors of a weight [4, 6] that is [out, in] for the linear operator at the end, and the resulting fans; derived
// by hand.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/place/feature_dims.h"
#include "test/unit/import/program_text.h"

using namespace meshplan;
using namespace meshplan::plan;

namespace {

class MadeWeights : public ProgramText {
protected:
  /// Reads a program with an input x: 2x6 and these parameters. Calls are in module "m", or in the module that precedes
  /// their line as "[path]".
  void program(llvm::StringRef parameters, std::vector<std::string> lines) {
    std::string arguments = "x: 2x6xf32 {plan.kind = #plan.kind<input>}";
    llvm::SmallVector<llvm::StringRef> parts;
    parameters.split(parts, ';', -1, false);
    for (llvm::StringRef part : parts)
      arguments += ("; " + part.trim() + " {plan.kind = #plan.kind<parameter>}").str();
    std::vector<std::string> modules;
    for (std::string &line : lines) {
      llvm::StringRef text = line;
      bool hasPath = text.consume_front("[");
      auto [path, rest] = text.split("] ");
      modules.push_back(hasPath ? path.str() : "m");
      if (hasPath)
        line = rest.str();
    }
    read(arguments, lines);
    for (auto [call, module] : llvm::zip(function().getOps<CallOp>(), modules))
      call.setModule(module);
  }

  /// "output input; in/out" of parameter `index`: dims, in parentheses if the features belong to another factor of a
  /// product, and fans.
  std::string features(unsigned index, llvm::StringRef path = "m") {
    auto parameter = llvm::cast<mlir::BlockArgument>(argument(index));
    FeatureUse use = FeatureSearch(function()).find(parameter, path);
    auto text = [](const std::optional<FeatureDim> &feature) -> std::string {
      std::string dim = feature ? std::to_string(feature->dim) : "-";
      return feature && !feature->meets ? "(" + dim + ")" : dim;
    };
    std::string fans = use.fans ? std::to_string(use.fans->in) + "/" + std::to_string(use.fans->out) : "none";
    std::string behind = use.unknown ? " after " + use.unknown.getTarget().str() : "";
    return text(use.output) + " " + text(use.input) + "; " + fans + behind;
  }
};

/// y = linear(x, `weight`)
std::string linearText(const std::string &weight) {
  return "y = aten.linear.default(x: 2x6xf32, " + weight +
         ": 4x6xf32) {input = #base.operand<0>, weight = #base.operand<1>} : 2x4xf32";
}

std::string binary(const std::string &result, const std::string &target, const std::string &operands,
                   const std::string &second, const std::string &type) {
  return result + " = aten." + target + "(" + operands + ") {self = #base.operand<0>, " + second +
         " = #base.operand<1>} : " + type;
}

TEST_F(MadeWeights, OperatorsOfSeveralOperandsAreFollowed) {
  program("w: 4x6xf32; m: 4x6xf32; g: 4x1xf32; s: 6xf32",
          {binary("a", "mul.Tensor", "w: 4x6xf32, m: 4x6xf32", "other", "4x6xf32"),
           binary("b", "mul.Tensor", "a: 4x6xf32, g: 4x1xf32", "other", "4x6xf32"),
           binary("c", "mul.Tensor", "b: 4x6xf32, s: 6xf32", "other", "4x6xf32"), linearText("c")});
  EXPECT_EQ(features(1), "0 1; 6/4");
  EXPECT_EQ(features(2), "0 1; 6/4");
  EXPECT_EQ(features(3), "0 -; none") << "a gain of rows is not a weight by itself";
  EXPECT_EQ(features(4), "- 0; none");
}

TEST_F(MadeWeights, AFactorOfAProductHasFansOfItsOwn) {
  program("w: 4x6xf32; b: 4x2xf32; a: 2x6xf32",
          {binary("p", "mm.default", "b: 4x2xf32, a: 2x6xf32", "mat2", "4x6xf32"),
           binary("v", "add.Tensor", "w: 4x6xf32, p: 4x6xf32", "other", "4x6xf32"), linearText("v")});
  EXPECT_EQ(features(1), "0 1; 6/4");
  EXPECT_EQ(features(2), "0 (1); 2/4");
  EXPECT_EQ(features(3), "(0) 1; 6/2");
  // The module that owns a factor has no operators of its own.
  EXPECT_EQ(features(3, "adapter"), "(0) 1; 6/2");
}

TEST_F(MadeWeights, AFactorInTheMiddleIsReadFromBothSides) {
  program("b: 4x2xf32; c: 2x3xf32; a: 3x6xf32",
          {binary("p", "mm.default", "b: 4x2xf32, c: 2x3xf32", "mat2", "4x3xf32"),
           binary("q", "mm.default", "p: 4x3xf32, a: 3x6xf32", "mat2", "4x6xf32"), linearText("q")});
  EXPECT_EQ(features(1), "0 (1); 2/4");
  EXPECT_EQ(features(2), "(0) (1); 3/2");
  EXPECT_EQ(features(3), "(0) 1; 6/3");
  program("b: 4x2xf32; c: 2x3xf32; a: 3x6xf32",
          {"y = aten.einsum.default(x: 2x6xf32, b: 4x2xf32, c: 2x3xf32, a: 3x6xf32) {equation = \"ni,or,rs,si->no\", "
           "tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>, #base.operand<3>]} : 2x4xf32"});
  EXPECT_EQ(features(1), "0 (1); 2/4");
  EXPECT_EQ(features(2), "(0) (1); 3/2");
  EXPECT_EQ(features(3), "(0) 1; 6/3");
}

TEST_F(MadeWeights, WhatMeetsAnActivationCountsForMore) {
  // The Gram matrix comes first in the program.
  program("w: 6x6xf32", {"t = aten.t.default(w: 6x6xf32) {self = #base.operand<0>} : 6x6xf32",
                         binary("g", "mm.default", "t: 6x6xf32, w: 6x6xf32", "mat2", "6x6xf32"),
                         binary("v", "sub.Tensor", "w: 6x6xf32, g: 6x6xf32", "other", "6x6xf32"),
                         "y = aten.linear.default(x: 2x6xf32, v: 6x6xf32) {input = #base.operand<0>, weight = "
                         "#base.operand<1>} : 2x6xf32"});
  EXPECT_EQ(features(1), "0 1; 6/6");
}

TEST_F(MadeWeights, WhatNeedsADimWholeKeepsIt) {
  program("w: 4x6xf32",
          {"s = aten.softmax.int(w: 4x6xf32) {self = #base.operand<0>, dim = 1} : 4x6xf32", linearText("s")});
  EXPECT_EQ(features(1), "0 1; 6/4");
  program("w: 4x8xf32",
          {"s = aten.slice.Tensor(w: 4x8xf32) {self = #base.operand<0>, dim = 1, end = 6} : 4x6xf32", linearText("s")});
  EXPECT_EQ(features(1), "0 1; 8/4");
}

TEST_F(MadeWeights, PartsOfADimCount) {
  program("w: 24xf32",
          {"v = aten.view.default(w: 24xf32) {self = #base.operand<0>, size = [4, 6]} : 4x6xf32", linearText("v")});
  EXPECT_EQ(features(1), "0 -; 6/4");
  program("w: 6x2x2xf32",
          {"p = aten.permute.default(w: 6x2x2xf32) {self = #base.operand<0>, dims = [2, 1, 0]} : 2x2x6xf32",
           "v = aten.view.default(p: 2x2x6xf32) {self = #base.operand<0>, size = [4, 6]} : 4x6xf32", linearText("v")});
  EXPECT_EQ(features(1), "2 0; 6/4") << "the major output features are in dim 2";
}

TEST_F(MadeWeights, JoinedWeightsHaveFansOfTheirOwn) {
  program("w: 3x6xf32; v: 1x6xf32", {"c = aten.cat.default(w: 3x6xf32, v: 1x6xf32) {tensors = [#base.operand<0>, "
                                     "#base.operand<1>], dim = 0} : 4x6xf32",
                                     linearText("c")});
  EXPECT_EQ(features(1), "0 1; 6/3");
  EXPECT_EQ(features(2), "0 1; 6/1");
}

TEST_F(MadeWeights, WhatMixesDimsDoesNotTell) {
  program("w: 6x6xf32", {"v = aten.linalg_inv.default(w: 6x6xf32) {A = #base.operand<0>} : 6x6xf32",
                         "y = aten.linear.default(x: 2x6xf32, v: 6x6xf32) {input = #base.operand<0>, weight = "
                         "#base.operand<1>} : 2x6xf32"});
  EXPECT_EQ(features(1), "- -; none after aten.linalg_inv.default");
  program("w: 4x6xf32", {"v = custom.op.default(w: 4x6xf32) {self = #base.operand<0>} : 4x6xf32", linearText("v")});
  EXPECT_EQ(features(1), "- -; none after custom.op.default");
}

TEST_F(MadeWeights, SeveralContractedDimsCountTogether) {
  program("w: 2x3x4xf32", {"v = aten.view.default(x: 2x6xf32) {self = #base.operand<0>, size = [2, 2, 3]} : 2x2x3xf32",
                           "y = aten.einsum.default(v: 2x2x3xf32, w: 2x3x4xf32) {equation = \"nhd,hdo->no\", tensors = "
                           "[#base.operand<0>, #base.operand<1>]} : 2x4xf32"});
  EXPECT_EQ(features(1), "2 0; 6/4");
  // Experts are not features: each has all features.
  program("w: 5x6x4xf32", {"y = aten.einsum.default(x: 2x6xf32, w: 5x6x4xf32) {equation = \"ni,eio->eno\", tensors = "
                           "[#base.operand<0>, #base.operand<1>]} : 5x2x4xf32"});
  EXPECT_EQ(features(1), "2 1; 6/4");
  program("w: 6x2x2xf32", {"y = aten.einsum.default(x: 2x6xf32, w: 6x2x2xf32) {equation = \"ni,ihd->nhd\", tensors = "
                           "[#base.operand<0>, #base.operand<1>]} : 2x2x2xf32"});
  EXPECT_EQ(features(1), "1 0; 6/4") << "heads before the size of a head";
}

TEST_F(MadeWeights, ConvolutionsCountTheirGroupsAndWindows) {
  auto lines = [](const std::string &weight, const std::string &target, const std::string &result) {
    return std::vector<std::string>{
        "v = aten.view.default(x: 2x6xf32) {self = #base.operand<0>, size = [1, 6, 2]} : 1x6x2xf32",
        "y = aten." + target + "(v: 1x6x2xf32, w: " + weight +
            ") {input = #base.operand<0>, weight = #base.operand<1>, groups = 2 : i64} : " + result};
  };
  program("w: 4x3x1xf32", lines("4x3x1xf32", "conv1d.default", "1x4x2xf32"));
  EXPECT_EQ(features(1), "0 1; 3/2") << "output features with their groups";
  program("w: 6x2x3xf32", lines("6x2x3xf32", "conv_transpose1d.default", "1x4x4xf32"));
  EXPECT_EQ(features(1), "0 -; 9/6") << "of 6 / 2 input channels, and of 4 / 2 output channels, 3 places each";
}

TEST_F(MadeWeights, AWindowIsFollowedToo) {
  // A standardized weight: a subtracted tensor has only its own dims.
  program("w: 4x3x2xf32",
          {"m = aten.mean.dim(w: 4x3x2xf32) {self = #base.operand<0>, dim = [1, 2], keepdim = true} : 4x1x1xf32",
           binary("s", "sub.Tensor", "w: 4x3x2xf32, m: 4x1x1xf32", "other", "4x3x2xf32"),
           "v = aten.view.default(x: 2x6xf32) {self = #base.operand<0>, size = [2, 3, 2]} : 2x3x2xf32",
           "y = aten.conv1d.default(v: 2x3x2xf32, s: 4x3x2xf32) {input = #base.operand<0>, weight = #base.operand<1>} "
           ": 2x4x1xf32"});
  EXPECT_EQ(features(1), "0 1; 6/8");
}

TEST_F(MadeWeights, OfLinearWithOneFeatureNeitherSideIsMissing) {
  program("w: 4x1xf32", {"v = aten.view.default(x: 2x6xf32) {self = #base.operand<0>, size = [12, 1]} : 12x1xf32",
                         "y = aten.linear.default(v: 12x1xf32, w: 4x1xf32) {input = #base.operand<0>, weight = "
                         "#base.operand<1>} : 12x4xf32"});
  EXPECT_EQ(features(1), "0 1; 1/4");
}

TEST_F(MadeWeights, AProjectionOfConstantDataIsOne) {
  // The module projects positions, and another module contracts their scores.
  std::vector<std::string> lines = {
      "[pos] p = aten.linear.default(t: 5x3xf32, w: 6x3xf32) {input = #base.operand<0>, weight = #base.operand<1>} : "
      "5x6xf32",
      "[m] y = aten.linear.default(x: 2x6xf32, p: 5x6xf32) {input = #base.operand<0>, weight = #base.operand<1>} : "
      "2x5xf32"};
  program("w: 6x3xf32; t: 5x3xf32", lines);
  EXPECT_EQ(features(1, "pos"), "0 1; 3/6");
  // A module without operators leaves the weight to its readers: there it is a factor of a product.
  EXPECT_EQ(features(1, "other"), "(1) 0; 6/3");
}

//===----------------------------------------------------------------------===//
// Weights that activations have scaled
//===----------------------------------------------------------------------===//

/// y = w' x for each sample, from a weight [2, 4, 6].
std::string ofSamples(const std::string &weight) {
  return "y = aten.einsum.default(" + weight +
         ": 2x4x6xf32, x: 2x6xf32) {equation = \"boi,bi->bo\", tensors = [#base.operand<0>, #base.operand<1>]} : "
         "2x4xf32";
}

std::string viewed(const std::string &result, const std::string &of, const std::string &type) {
  return result + " = aten.view.default(" + of + ") {self = #base.operand<0>, size = []} : " + type;
}

std::string summed(const std::string &result, const std::string &of, int dim, const std::string &type) {
  return result + " = aten.sum.dim_IntList(" + of + ") {self = #base.operand<0>, dim = [" + std::to_string(dim) +
         "], keepdim = true} : " + type;
}

TEST_F(MadeWeights, AWeightThatActivationsScaleIsFollowed) {
  auto scaledBy = [&](const std::string &scale, const std::string &made, bool isFirst) {
    std::string operands = isFirst ? "w: 4x6xf32, " + scale : scale + ", w: 4x6xf32";
    program("w: 4x6xf32", {made, binary("m", "mul.Tensor", operands, "other", "2x4x6xf32"), ofSamples("m")});
    return features(1);
  };
  std::string sum = summed("s", "x: 2x6xf32", 1, "2x1xf32");
  EXPECT_EQ(scaledBy("v: 2x1x6xf32", viewed("v", "x: 2x6xf32", "2x1x6xf32"), true), "0 1; 6/4") << "of input features";
  EXPECT_EQ(scaledBy("v: 2x1x6xf32", viewed("v", "x: 2x6xf32", "2x1x6xf32"), false), "0 1; 6/4");
  program("w: 4x6xf32; k: 4x6xf32",
          {"g = aten.linear.default(x: 2x6xf32, k: 4x6xf32) {input = #base.operand<0>, weight = #base.operand<1>} : "
           "2x4xf32",
           viewed("v", "g: 2x4xf32", "2x4x1xf32"),
           binary("m", "mul.Tensor", "v: 2x4x1xf32, w: 4x6xf32", "other", "2x4x6xf32"), ofSamples("m")});
  EXPECT_EQ(features(1), "0 1; 6/4") << "of output features";
  program("w: 4x6xf32", {sum, viewed("v", "s: 2x1xf32", "2x1x1xf32"),
                         binary("m", "mul.Tensor", "w: 4x6xf32, v: 2x1x1xf32", "other", "2x4x6xf32"), ofSamples("m")});
  EXPECT_EQ(features(1), "0 1; 6/4") << "of samples";
  program("w: 4x6xf32", {viewed("v", "x: 2x6xf32", "2x1x6xf32"),
                         binary("m", "add.Tensor", "w: 4x6xf32, v: 2x1x6xf32", "other", "2x4x6xf32"), ofSamples("m")});
  EXPECT_EQ(features(1), "0 1; 6/4") << "added to";
  program("w: 4x6xf32", {"m = aten.einsum.default(w: 4x6xf32, x: 2x6xf32) {equation = \"oi,bi->boi\", tensors = "
                         "[#base.operand<0>, #base.operand<1>]} : 2x4x6xf32",
                         ofSamples("m")});
  EXPECT_EQ(features(1), "0 1; 6/4") << "by a product without a sum";
}

TEST_F(MadeWeights, AWeightOfEachSampleMayBeNormalized) {
  program("w: 4x6xf32",
          {viewed("v", "x: 2x6xf32", "2x1x6xf32"),
           binary("m", "mul.Tensor", "w: 4x6xf32, v: 2x1x6xf32", "other", "2x4x6xf32"),
           binary("q", "mul.Tensor", "m: 2x4x6xf32, m: 2x4x6xf32", "other", "2x4x6xf32"),
           summed("n", "q: 2x4x6xf32", 2, "2x4x1xf32"),
           "r = aten.rsqrt.default(n: 2x4x1xf32) {self = #base.operand<0>} : 2x4x1xf32",
           binary("d", "mul.Tensor", "m: 2x4x6xf32, r: 2x4x1xf32", "other", "2x4x6xf32"), ofSamples("d")});
  EXPECT_EQ(features(1), "0 1; 6/4");
}

TEST_F(MadeWeights, WeightsOfSamplesMayBeGroupsOfAConvolution) {
  program("w: 4x6x3xf32",
          {viewed("v", "x: 2x6xf32", "2x1x6x1xf32"),
           binary("m", "mul.Tensor", "w: 4x6x3xf32, v: 2x1x6x1xf32", "other", "2x4x6x3xf32"),
           "k = aten.view.default(m: 2x4x6x3xf32) {self = #base.operand<0>, size = [8, 6, 3]} : 8x6x3xf32",
           viewed("i", "x: 2x6xf32", "1x12x1xf32"),
           "y = aten.conv1d.default(i: 1x12x1xf32, k: 8x6x3xf32) {input = #base.operand<0>, weight = "
           "#base.operand<1>, groups = 2 : i64, padding = [1]} : 1x8x1xf32"});
  EXPECT_EQ(features(1), "0 1; 18/12");
}

TEST_F(MadeWeights, AProductThatIsWrittenOutIsOne) {
  program("w: 4x6xf32", {viewed("v", "x: 2x6xf32", "2x1x6xf32"),
                         binary("m", "mul.Tensor", "w: 4x6xf32, v: 2x1x6xf32", "other", "2x4x6xf32"),
                         summed("y", "m: 2x4x6xf32", 2, "2x4x1xf32")});
  EXPECT_EQ(features(1), "0 (1); 6/4");
}

TEST_F(MadeWeights, WhatIsAddedToActivationsIsNoWeight) {
  program("w: 4x6xf32", {viewed("v", "x: 2x6xf32", "2x1x6xf32"),
                         binary("m", "add.Tensor", "w: 4x6xf32, v: 2x1x6xf32", "other", "2x4x6xf32")});
  EXPECT_EQ(features(1), "0 -; none");
  program("w: 6xf32", {binary("m", "mul.Tensor", "x: 2x6xf32, w: 6xf32", "other", "2x6xf32")});
  EXPECT_EQ(features(1), "- -; none");
}

TEST_F(MadeWeights, WhereASearchEndsItSaysSo) {
  program("w: 2x6xf32", {binary("m", "add.Tensor", "x: 2x6xf32, w: 2x6xf32", "other", "2x6xf32")});
  EXPECT_EQ(features(1), "- -; none after aten.add.Tensor") << "a difference of a weight, or a table of positions";
  program("w: 4x6xf32; b: 5x4xf32", {viewed("v", "x: 2x6xf32", "2x1x6xf32"),
                                     binary("m", "mul.Tensor", "w: 4x6xf32, v: 2x1x6xf32", "other", "2x4x6xf32"),
                                     binary("p", "matmul.default", "b: 5x4xf32, m: 2x4x6xf32", "other", "2x5x6xf32")});
  EXPECT_EQ(features(1), "- -; none after aten.matmul.default") << "a factor of a weight, or an activation";
}

TEST_F(MadeWeights, ATriangleKeepsItsDims) {
  program("w: 4x6xf32", {"t = aten.tril.default(w: 4x6xf32) {self = #base.operand<0>} : 4x6xf32", linearText("t")});
  EXPECT_EQ(features(1), "0 1; 6/4");
}

} // namespace
