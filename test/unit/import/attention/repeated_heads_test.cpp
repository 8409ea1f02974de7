//===- repeated_heads_test.cpp - repeated keys and values -----------------===//

#include "compiler/transforms/import/attention/repeated_heads.h"
#include "test/unit/import/program_text.h"

using namespace meshplan;

namespace {

/// Two samples, 2 key heads, 5 positions, 4 features; six heads after the repetition.
class RepeatedHeads : public ProgramText {
protected:
  /// The source of the heads of the program's last value: "argument groups", and "second" for that layout.
  std::string source(std::vector<std::string> lines, llvm::StringRef arguments = "x: 2x2x5x4xf32") {
    read(arguments, lines);
    indexing::ExprBuilder builder;
    HeadSource found = findHeadSource(builder, last());
    std::string name = found.value == last() ? "itself" : found.value == argument(0) ? "x" : "another";
    return name + " " + std::to_string(found.groups) + (found.headsSecond ? " second" : "");
  }
};

TEST_F(RepeatedHeads, ExpandedAndFlattened) {
  // Llama's repeat_kv.
  EXPECT_EQ(source({"a = aten.unsqueeze.default(x: 2x2x5x4xf32) {self = #base.operand<0>, dim = 2} : 2x2x1x5x4xf32",
                    "b = aten.expand.default(a: 2x2x1x5x4xf32) {self = #base.operand<0>, size = [2, 2, 3, 5, 4]} : "
                    "2x2x3x5x4xf32",
                    "c = aten.reshape.default(b: 2x2x3x5x4xf32) {self = #base.operand<0>, shape = [2, 6, 5, 4]} : "
                    "2x6x5x4xf32"}),
            "x 2");
}

TEST_F(RepeatedHeads, Interleaved) {
  EXPECT_EQ(
      source({"a = aten.repeat_interleave.self_int(x: 2x2x5x4xf32) {self = #base.operand<0>, repeats = 3, dim = 1} "
              ": 2x6x5x4xf32"}),
      "x 2");
}

TEST_F(RepeatedHeads, TransposedAfterwards) {
  EXPECT_EQ(
      source({"a = aten.repeat_interleave.self_int(x: 2x5x2x4xf32) {self = #base.operand<0>, repeats = 3, dim = 2} "
              ": 2x5x6x4xf32",
              "b = aten.transpose.int(a: 2x5x6x4xf32) {self = #base.operand<0>, dim0 = 1, dim1 = 2} : 2x6x5x4xf32"},
             "x: 2x5x2x4xf32"),
      "x 2 second");
}

TEST_F(RepeatedHeads, OneHeadForAll) {
  EXPECT_EQ(source({"a = aten.expand.default(x: 2x1x5x4xf32) {self = #base.operand<0>, size = [2, 6, 5, 4]} : "
                    "2x6x5x4xf32"},
                   "x: 2x1x5x4xf32"),
            "x 1");
}

TEST_F(RepeatedHeads, TheFewestHeadsOfAChainCount) {
  EXPECT_EQ(
      source({"a = aten.repeat_interleave.self_int(x: 2x1x5x4xf32) {self = #base.operand<0>, repeats = 2, dim = 1} "
              ": 2x2x5x4xf32",
              "b = aten.repeat_interleave.self_int(a: 2x2x5x4xf32) {self = #base.operand<0>, repeats = 3, dim = 1} "
              ": 2x6x5x4xf32"},
             "x: 2x1x5x4xf32"),
      "x 1");
}

TEST_F(RepeatedHeads, HeadsInAnotherOrderAreNotRepeated) {
  // repeat gives heads 0 1 0 1 0 1: neighbours belong to different groups.
  EXPECT_EQ(source({"a = aten.repeat.default(x: 2x2x5x4xf32) {self = #base.operand<0>, repeats = [1, 3, 1, 1]} : "
                    "2x6x5x4xf32"}),
            "itself 6");
}

TEST_F(RepeatedHeads, AnotherDimThatIsRepeatedIsNoHead) {
  EXPECT_EQ(
      source({"a = aten.repeat_interleave.self_int(x: 2x6x5x2xf32) {self = #base.operand<0>, repeats = 2, dim = 3} "
              ": 2x6x5x4xf32"},
             "x: 2x6x5x2xf32"),
      "itself 6");
}

TEST_F(RepeatedHeads, WithoutRepetitionItIsTheValue) {
  EXPECT_EQ(source({"a = aten.neg.default(x: 2x6x5x4xf32) {self = #base.operand<0>} : 2x6x5x4xf32"}, "x: 2x6x5x4xf32"),
            "itself 6");
  EXPECT_EQ(
      source({"a = aten.transpose.int(x: 2x5x6x4xf32) {self = #base.operand<0>, dim0 = 1, dim1 = 2} : 2x6x5x4xf32"},
             "x: 2x5x6x4xf32"),
      "itself 6")
      << "a transpose alone brings no fewer heads";
}

TEST_F(RepeatedHeads, WhatIsComputedBetweenHidesTheSource) {
  EXPECT_EQ(
      source({"a = aten.neg.default(x: 2x2x5x4xf32) {self = #base.operand<0>} : 2x2x5x4xf32",
              "b = aten.repeat_interleave.self_int(a: 2x2x5x4xf32) {self = #base.operand<0>, repeats = 3, dim = 1} "
              ": 2x6x5x4xf32"}),
      "another 2");
}

} // namespace
