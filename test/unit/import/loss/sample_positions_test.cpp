//===- sample_positions_test.cpp - the samples that a tensor contains -----===//

#include "compiler/transforms/import/loss/sample_positions.h"
#include "test/unit/import/program_text.h"

using namespace meshplan;

namespace {

/// Labels of 4 samples and 6 positions.
class SamplePositions : public ProgramText {
protected:
  inline static const std::string labels = "t: 4x6xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"batch\", \"\"]}";

  /// The layout of the samples in the last value of a program: a stride, "none", or the operator after which it is
  /// unknown.
  std::string places(std::vector<std::string> lines, llvm::StringRef arguments = labels) {
    read(arguments, lines);
    meshplan::SamplePositions found = findSamples(last(), *countSamples(function().getBody().front()));
    if (found.obstacle)
      return found.obstacle.getTarget().str();
    return found.stride ? std::to_string(*found.stride) : "none";
  }
};

TEST_F(SamplePositions, AViewKeepsThem) {
  EXPECT_EQ(places({"a = aten.view.default(t: 4x6xi64) {self = #base.operand<0>, size = [-1]} : 24xi64"}), "6");
  EXPECT_EQ(places({"a = aten.view.default(t: 4x6xi64) {self = #base.operand<0>, size = [2, 12]} : 2x12xi64"}), "6");
  EXPECT_EQ(places({"a = aten.unsqueeze.default(t: 4x6xi64) {self = #base.operand<0>, dim = 0} : 1x4x6xi64"}), "6");
}

TEST_F(SamplePositions, ShiftedLabels) {
  // As in models for text: padded, sliced, viewed.
  EXPECT_EQ(
      places({"a = aten.pad.default(t: 4x6xi64) {self = #base.operand<0>, pad = [0, 1], value = -100.0} : 4x7xi64",
              "b = aten.slice.Tensor(a: 4x7xi64) {self = #base.operand<0>, dim = 1, start = 1, end = 99} : 4x6xi64",
              "c = aten.contiguous.default(b: 4x6xi64) {self = #base.operand<0>} : 4x6xi64",
              "d = aten.view.default(c: 4x6xi64) {self = #base.operand<0>, size = [24]} : 24xi64"}),
      "6");
  // Without the first position, and without padding.
  EXPECT_EQ(
      places({"a = aten.slice.Tensor(t: 4x6xi64) {self = #base.operand<0>, dim = 1, start = 1, end = 99} : 4x5xi64",
              "b = aten.view.default(a: 4x5xi64) {self = #base.operand<0>, size = [20]} : 20xi64"}),
      "5");
}

TEST_F(SamplePositions, TurnedLabels) {
  // Positions before samples.
  EXPECT_EQ(places({"a = aten.transpose.int(t: 4x6xi64) {self = #base.operand<0>, dim0 = 0, dim1 = 1} : 6x4xi64",
                    "b = aten.reshape.default(a: 6x4xi64) {self = #base.operand<0>, shape = [24]} : 24xi64"}),
            "1");
  EXPECT_EQ(places({"a = aten.view.default(t: 6x4xi64) {self = #base.operand<0>, size = [24]} : 24xi64"},
                   "t: 6x4xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"\", \"batch\"]}"),
            "1");
}

TEST_F(SamplePositions, LabelsThatAMaskHides) {
  const std::string both = labels + "; m: 4x6xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"batch\", \"\"]}";
  EXPECT_EQ(places({"a = aten.eq.Scalar(m: 4x6xi64) {self = #base.operand<0>, other = 0} : 4x6xi1",
                    "b = aten.masked_fill.Scalar(t: 4x6xi64, a: 4x6xi1) {self = #base.operand<0>, mask = "
                    "#base.operand<1>, value = -100} : 4x6xi64",
                    "c = aten.view.default(b: 4x6xi64) {self = #base.operand<0>, size = [24]} : 24xi64"},
                   both),
            "6");
  // The samples of one operand are aligned with the positions of the other.
  EXPECT_EQ(places({"a = aten.transpose.int(m: 4x4xi64) {self = #base.operand<0>, dim0 = 0, dim1 = 1} : 4x4xi64",
                    "b = aten.add.Tensor(t: 4x4xi64, a: 4x4xi64) {self = #base.operand<0>, other = #base.operand<1>} : "
                    "4x4xi64"},
                   "t: 4x4xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"batch\", \"\"]}; m: 4x4xi64 {plan.kind = "
                   "#plan.kind<input>, plan.dims = [\"batch\", \"\"]}"),
            "aten.add.Tensor");
}

TEST_F(SamplePositions, LabelsThatAreHiddenBehindAView) {
  const std::string view = "a = aten.view.default(t: 4x6xi64) {self = #base.operand<0>, size = [-1]} : 24xi64";
  EXPECT_EQ(places({view, "b = aten.gt.Scalar(a: 24xi64) {self = #base.operand<0>, other = 2} : 24xi1",
                    "c = aten.masked_fill.Scalar(a: 24xi64, b: 24xi1) {self = #base.operand<0>, mask = "
                    "#base.operand<1>, value = -100} : 24xi64"}),
            "6");
  // The samples of one operand are aligned with the positions of the other, in a single dim.
  const std::string both =
      "t: 4x4xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"batch\", \"\"]}; m: 4x4xi64 {plan.kind = "
      "#plan.kind<input>, plan.dims = [\"\", \"batch\"]}";
  EXPECT_EQ(places({"a = aten.view.default(t: 4x4xi64) {self = #base.operand<0>, size = [16]} : 16xi64",
                    "b = aten.view.default(m: 4x4xi64) {self = #base.operand<0>, size = [16]} : 16xi64",
                    "c = aten.add.Tensor(a: 16xi64, b: 16xi64) {self = #base.operand<0>, other = #base.operand<1>} : "
                    "16xi64"},
                   both),
            "aten.add.Tensor");
  // Positions are reversed, shifted or mixed.
  EXPECT_EQ(places({view, "b = aten.flip.default(a: 24xi64) {self = #base.operand<0>, dims = [0]} : 24xi64"}),
            "aten.flip.default");
  EXPECT_EQ(places({view, "b = aten.roll.default(a: 24xi64) {self = #base.operand<0>, shifts = [1], dims = [0]} : "
                          "24xi64"}),
            "aten.roll.default");
  EXPECT_EQ(places({view, "b = aten.cumsum.default(a: 24xi64) {self = #base.operand<0>, dim = 0} : 24xi64"}),
            "aten.cumsum.default");
}

TEST_F(SamplePositions, OperatorsThatMixSamples) {
  EXPECT_EQ(places({"a = aten.flip.default(t: 4x6xi64) {self = #base.operand<0>, dims = [0]} : 4x6xi64"}),
            "aten.flip.default");
  EXPECT_EQ(
      places({"a = aten.slice.Tensor(t: 4x6xi64) {self = #base.operand<0>, dim = 0, start = 1, end = 99} : 3x6xi64"}),
      "aten.slice.Tensor");
  EXPECT_EQ(places({"a = aten.sum.dim_IntList(t: 4x6xi64) {self = #base.operand<0>, dim = [0]} : 6xi64"}),
            "aten.sum.dim_IntList");
  // An operator without a record.
  EXPECT_EQ(places({"a = aten.unheard_of.default(t: 4x6xi64) {self = #base.operand<0>} : 4x6xi64"}),
            "aten.unheard_of.default");
}

TEST_F(SamplePositions, WhatHasNone) {
  EXPECT_EQ(places({"a = aten.view.default(u: 24xi64) {self = #base.operand<0>, size = [4, 6]} : 4x6xi64"},
                   labels + "; u: 24xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"\"]}"),
            "none");
  // Only the shape comes from samples.
  EXPECT_EQ(
      places({"a = aten.view_as.default(u: 24xi64, t: 4x6xi64) {self = #base.operand<0>, other = #base.operand<1>} : "
              "4x6xi64"},
             labels + "; u: 24xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"\"]}"),
      "none");
  // Calls that do not feed the value do not matter.
  EXPECT_EQ(places({"a = aten.flip.default(t: 4x6xi64) {self = #base.operand<0>, dims = [0]} : 4x6xi64",
                    "b = aten.view.default(t: 4x6xi64) {self = #base.operand<0>, size = [24]} : 24xi64"}),
            "6");
}

TEST_F(SamplePositions, TheOnlySampleHasAll) {
  EXPECT_EQ(places({"a = aten.flip.default(t: 1x6xi64) {self = #base.operand<0>, dims = [1]} : 1x6xi64"},
                   "t: 1x6xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"batch\", \"\"]}"),
            "1");
}

TEST_F(SamplePositions, TheyAreCountedAtAnyInput) {
  read("u: 3x2xi64 {plan.kind = #plan.kind<input>, plan.dims = [\"\", \"seq\"]}; " + std::string(labels),
       {"a = aten.neg.default(u: 3x2xi64) {self = #base.operand<0>} : 3x2xi64"});
  EXPECT_EQ(countSamples(function().getBody().front()), 4);
  read("u: 3x2xi64", {"a = aten.neg.default(u: 3x2xi64) {self = #base.operand<0>} : 3x2xi64"});
  EXPECT_EQ(countSamples(function().getBody().front()), std::nullopt);
}

} // namespace
