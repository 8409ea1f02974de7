//===- draft_inputs_test.cpp - the inputs of a drafted plan ---------------===//

#include "compiler/draft/draft_inputs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DraftInputs, EqualInputsShareAStatement) {
  DraftInputs inputs =
      draftInputs({{"ids", {{4, ""}, {16, ""}}}, {"labels", {{4, ""}, {16, ""}}}}, {}, {"dp", 2}, true);
  EXPECT_THAT(inputs.lets, IsEmpty());
  EXPECT_THAT(inputs.statements, ElementsAre("input ids, labels: [batch over dp, seq]"));
}

TEST(DraftInputs, NamesWhatIsKnown) {
  EXPECT_THAT(draftInputs({{"pixels", {{4, ""}, {3, ""}, {8, ""}, {8, ""}}},
                           {"positions", {{1, ""}, {16, ""}}},
                           {"labels", {{4, ""}}},
                           {"scale", {}}},
                          {}, {"(dp, fsdp)", 4}, true)
                  .statements,
              ElementsAre("input pixels: [batch over (dp, fsdp), _, _, _]", "input positions: [_, _]",
                          "input labels: [batch over (dp, fsdp)]"));
  EXPECT_THAT(draftInputs({{"ids", {{4, ""}, {16, ""}}}}, {}, {}, true).statements,
              ElementsAre("input ids: [batch, seq]"));
}

TEST(DraftInputs, OnlyTokensHavePositions) {
  EXPECT_THAT(draftInputs({{"x", {{4, ""}, {16, ""}}}, {"y", {{4, ""}, {16, ""}}}}, {}, {}, false).statements,
              ElementsAre("input x, y: [batch, _]"));
}

TEST(DraftInputs, SymbolsGetTheExtentOfTheExample) {
  llvm::StringMap<int64_t> examples;
  examples["s1"] = 4;
  examples["s2"] = 10;
  // The batch is a multiple of the shards; other dims are unchanged.
  EXPECT_THAT(draftInputs({{"ids", {{0, "s1"}, {0, "s2"}}}, {"mask", {{0, "s1"}, {1, ""}, {0, "s2"}}}}, examples,
                          {"dp", 3}, true)
                  .statements,
              ElementsAre("input ids: [batch = 6 over dp, seq = 10]", "input mask: [batch = 6 over dp, _, s2 = 10]"));
}

TEST(DraftInputs, SymbolsWithTheSameExampleBelongTogether) {
  // Exporters use other symbols for labels.
  llvm::StringMap<int64_t> examples;
  examples["s1"] = examples["s97"] = 4;
  examples["s2"] = examples["s38"] = 10;
  examples["s3"] = 5;
  EXPECT_THAT(
      draftInputs({{"ids", {{0, "s1"}, {0, "s2"}}}, {"labels", {{0, "s97"}, {0, "s38"}}}}, examples, {"dp", 3}, true)
          .statements,
      ElementsAre("input ids, labels: [batch = 6 over dp, seq = 10]"));
  EXPECT_THAT(draftInputs({{"x", {{0, "s1"}}}, {"y", {{0, "s3"}}}}, examples, {"dp", 3}, false).statements,
              ElementsAre("input x: [batch = 6 over dp]", "input y: [s3 = 5]"));
}

TEST(DraftInputs, SymbolsWithoutExampleAreLets) {
  DraftInputs inputs =
      draftInputs({{"ids", {{0, "s1"}, {8, ""}}}, {"labels", {{0, "s1"}, {8, ""}}}}, {}, {"dp", 3}, true);
  EXPECT_THAT(inputs.lets, ElementsAre("let batch_size = 18  // 's1' in the model, which has no example of it"));
  EXPECT_THAT(inputs.statements, ElementsAre("input ids, labels: [batch = batch_size over dp, seq]"));
}

TEST(DraftInputs, ASymbolHasOneExtentWhereverItStands) {
  llvm::StringMap<int64_t> examples;
  examples["b"] = 3;
  EXPECT_THAT(draftInputs({{"x", {{0, "b"}}}, {"pairs", {{5, ""}, {0, "b"}}}}, examples, {"dp", 2}, false).statements,
              ElementsAre("input x: [batch = 4 over dp]", "input pairs: [_, b = 4]"));
  DraftInputs lets = draftInputs({{"x", {{0, "b"}}}, {"pairs", {{5, ""}, {0, "b"}}}}, {}, {"dp", 3}, false);
  EXPECT_THAT(lets.lets, ElementsAre("let batch_size = 18  // 'b' in the model, which has no example of it"));
  EXPECT_THAT(lets.statements,
              ElementsAre("input x: [batch = batch_size over dp]", "input pairs: [_, b = batch_size]"));
}

TEST(DraftInputs, EachSymbolHasALetOfItsOwn) {
  DraftInputs inputs = draftInputs({{"x", {{4, ""}, {0, "2*s0"}, {0, "s1 + 1"}}}}, {}, {}, false);
  EXPECT_THAT(inputs.lets, ElementsAre("let extent_size = 16  // '2*s0' in the model, which has no example of it",
                                       "let extent_size_2 = 16  // 's1 + 1' in the model, which has no example of it"));
  EXPECT_THAT(inputs.statements, ElementsAre("input x: [batch, _ = extent_size, _ = extent_size_2]"));
}

TEST(DraftInputs, ASymbolThatIsCalledLikeAnotherDimNamesNone) {
  llvm::StringMap<int64_t> examples;
  examples["batch"] = 6;
  examples["seq"] = 10;
  EXPECT_THAT(draftInputs({{"x", {{4, ""}, {0, "batch"}, {0, "seq"}}}}, examples, {"dp", 2}, true).statements,
              ElementsAre("input x: [batch over dp, _ = 6, _ = 10]"))
      << "only the batch is divided";
  EXPECT_THAT(draftInputs({{"ids", {{0, "batch"}, {0, "seq"}}}}, examples, {"dp", 4}, true).statements,
              ElementsAre("input ids: [batch = 8 over dp, seq = 10]"));
}

TEST(DraftInputs, WithoutInputsOrDimsNothingIsStated) {
  EXPECT_THAT(draftInputs({}, {}, {"dp", 2}, true).statements, IsEmpty());
  DraftInputs scalars = draftInputs({{"a", {}}, {"b", {}}}, {}, {"dp", 2}, true);
  EXPECT_THAT(scalars.statements, IsEmpty());
  EXPECT_THAT(scalars.lets, IsEmpty());
}

TEST(DraftInputs, TheSequenceIsThatOfTheFirstTokens) {
  // A dim whose extent differs from the first is `_`; with three dims none is a sequence.
  EXPECT_THAT(draftInputs({{"ids", {{4, ""}, {16, ""}}},
                           {"mask", {{4, ""}, {16, ""}, {16, ""}}},
                           {"target", {{4, ""}, {12, ""}}},
                           {"other", {{8, ""}, {16, ""}}}},
                          {}, {"dp", 2}, true)
                  .statements,
              ElementsAre("input ids: [batch over dp, seq]", "input mask: [batch over dp, _, _]",
                          "input target: [batch over dp, _]", "input other: [_, _]"));
}

TEST(DraftInputs, OnlyTheBatchIsRoundedUp) {
  llvm::StringMap<int64_t> examples;
  examples["b"] = 5;
  examples["odd"] = 7;
  EXPECT_THAT(draftInputs({{"x", {{0, "b"}, {0, "odd"}}}}, examples, {"(dp, fsdp)", 4}, false).statements,
              ElementsAre("input x: [batch = 8 over (dp, fsdp), odd = 7]"));
  EXPECT_THAT(draftInputs({{"x", {{0, "b"}, {0, "odd"}}}}, examples, {}, false).statements,
              ElementsAre("input x: [batch = 5, odd = 7]"));
  // Without examples both are 16; the batch is the next multiple of three.
  EXPECT_THAT(draftInputs({{"x", {{0, "b"}, {0, "odd"}}}}, {}, {"dp", 3}, false).lets,
              ElementsAre("let batch_size = 18  // 'b' in the model, which has no example of it",
                          "let odd_size = 16  // 'odd' in the model, which has no example of it"));
}

TEST(DraftInputs, NamesThatAreNoWordsAreQuoted) {
  EXPECT_THAT(draftInputs({{"a.b", {{4, ""}}}, {"rest", {{4, ""}}}, {"c", {{4, ""}}}}, {}, {}, false).statements,
              ElementsAre("input \"a.b\", \"rest\", c: [batch]"));
}

TEST(DraftInputs, PositionsMayComeFirst) {
  llvm::StringMap<int64_t> examples;
  examples["s0"] = 3;
  EXPECT_THAT(draftInputs({{"src", {{8, ""}, {0, "s0"}, {16, ""}}}, {"mask", {{0, "s0"}, {8, ""}}}}, examples,
                          {"dp", 2}, false, {{"seq", "batch", "_"}, {"batch", "seq"}})
                  .statements,
              ElementsAre("input src: [seq, batch = 4 over dp, _]", "input mask: [batch = 4 over dp, seq]"));
}
