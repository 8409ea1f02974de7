//===- draft_text_test.cpp - the text of a drafted plan -------------------===//

#include "compiler/draft/draft_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;

namespace {

class DraftTextTest : public testing::Test {
protected:
  DraftTextTest() {
    model.inputs = {{"ids", {{4, ""}, {16, ""}}}};
    model.outputs = {{"loss", {}}, {"logits", {{4, ""}, {16, ""}, {32, ""}}}};
    draft.name = "tiny";
    draft.modelFile = "tiny.pt2";
    draft.mesh = {{"dp", 2, AxisRole::data}, {"tp", 3, AxisRole::tensor}};
    draft.model = &model;
    draft.loss = "loss";
    draft.readsTokens = true;
    draft.modules = {"embed", "h.0.up", "h.0.down", "h.1.up", "h.1.down", "norm"};
    for (const std::string &path : draft.modules) {
      model.modules.push_back({path, ""});
      model.parameters.push_back({{{model.modules.size() - 1, "weight"}}});
    }
    draft.styles = {{"embed", "rowwise tp"},
                    {"h.0.up", "colwise tp"},
                    {"h.0.down", "rowwise tp"},
                    {"h.1.up", "colwise tp"},
                    {"h.1.down", "rowwise tp"}};
  }

  ModelOutline model;
  Draft draft;
};

} // namespace

TEST_F(DraftTextTest, AParameterHasAnEntryOfItsOwn) {
  model.modules = {{"", ""}};
  model.parameters.clear();
  draft.modules.clear();
  draft.styles.clear();
  for (std::string layer : {"h.0.experts", "h.1.experts"}) {
    model.modules.push_back({layer, ""});
    draft.modules.push_back(layer);
    for (std::string leaf : {"gate", "up", "down"}) {
      model.parameters.push_back({{{model.modules.size() - 1, leaf}}});
      draft.parameters.push_back(layer + "." + leaf);
      draft.styles.push_back({layer + "." + leaf, leaf == "down" ? "rowwise tp" : "colwise tp"});
    }
  }
  std::string text = writeDraft(draft).text;
  EXPECT_NE(text.find("  h.* {\n    experts.{gate, up}: colwise tp\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    experts.down: rowwise tp\n  }\n}"), std::string::npos) << "nothing is left: " << text;
  // The weight of one layer is replicated.
  draft.styles.pop_back();
  draft.undivided = {{"h.1.experts.down", "it is odd"}};
  text = writeDraft(draft).text;
  EXPECT_NE(text.find("h.0.experts.down: rowwise tp\n"), std::string::npos) << text;
  EXPECT_NE(text.find("// whole: h.1.experts.down: it is odd\n  rest: replicate"), std::string::npos) << text;
}

TEST_F(DraftTextTest, WritesBlocksOfLayers) {
  DraftText text = writeDraft(draft);
  EXPECT_EQ(text.text, R"(// Drafted by 'meshplan init': a plan that compiles, to be changed where you know better.
plan tiny {
  model "tiny.pt2"
  mesh dp = 2, tp = 3

  input ids: [batch over dp, seq]
  loss loss

  embed: rowwise tp
  h.* {
    up: colwise tp
    down: rowwise tp
  }
  rest: replicate  // weights of one dim, such as norms
}
)");
  ASSERT_EQ(text.entries.size(), 3u);
  EXPECT_EQ(text.entries[1].first, 11);
  EXPECT_THAT(text.entries[1].second, ElementsAre(1, 3));
}

TEST_F(DraftTextTest, SaysWhatStaysWhole) {
  draft.loss.clear();
  draft.splitsBatch = false;
  draft.wholeBatchReason = "dim 'batch' has size 4, which does not divide over dp = 3";
  draft.styles.clear();
  draft.undivided = {{"h.0.up", "too small"},
                     {"h.1.up", "too small"},
                     {"h.0.down", "too small"},
                     {"h.1.down", "too small"},
                     {"embed",
                      "a reason that is so long that it does not fit on the line that it begins on, because it "
                      "has too many words"}};
  draft.modules.pop_back();
  model.parameters.pop_back();
  model.outputs.clear();
  EXPECT_EQ(writeDraft(draft).text,
            R"(// Drafted by 'meshplan init': a plan that compiles, to be changed where you know better.
plan tiny {
  model "tiny.pt2"
  mesh dp = 2, tp = 3

  // the batch stays whole: dim 'batch' has size 4, which does not divide over dp = 3
  input ids: [batch, seq]

  // whole: h.*.{up, down}: too small
  // whole: embed: a reason that is so long that it does not fit on the line that it begins on, because it has too many
  //   words
  rest: replicate
}
)");
}

TEST_F(DraftTextTest, TheRootHasNoName) {
  draft.modules.push_back("");
  draft.undivided = {{"", "too small"}};
  EXPECT_NE(writeDraft(draft).text.find("  // whole: the root module: too small\n"), std::string::npos);
}

TEST_F(DraftTextTest, WithoutARest) {
  draft.modules.pop_back();
  model.parameters.pop_back();
  EXPECT_EQ(writeDraft(draft).text.find("rest"), std::string::npos);
}

TEST_F(DraftTextTest, OneNameOfATiedParameterIsEnough) {
  model.parameters.back().names.push_back({0, "weight"}); // 'norm' is tied to 'embed'
  EXPECT_EQ(writeDraft(draft).text.find("rest"), std::string::npos);
}

TEST_F(DraftTextTest, WithoutATensorAxisEveryRankHoldsAllWeights) {
  draft.mesh.pop_back();
  draft.styles.clear();
  EXPECT_EQ(writeDraft(draft).text,
            R"(// Drafted by 'meshplan init': a plan that compiles, to be changed where you know better.
plan tiny {
  model "tiny.pt2"
  mesh dp = 2

  input ids: [batch over dp, seq]
  loss loss

  rest: replicate  // every rank holds all weights
}
)");
}

TEST_F(DraftTextTest, SaysWhatIsTakenFromWhere) {
  draft.notes = {"A note."};
  draft.lossUnit = {"token", "per_token"};
  draft.training = {{"data dp", "", {{"shard optimizer", "zero"}, {"bucket none", ""}}},
                    {"clip_grad_norm 1", "clip", {}}};
  draft.leftOut = {"'unit h.*': a reason"};
  DraftText text = writeDraft(draft);
  EXPECT_EQ(text.text, R"(// Drafted by 'meshplan init': a plan that compiles, to be changed where you know better.
// A note.
plan tiny {
  model "tiny.pt2"
  mesh dp = 2, tp = 3

  input ids: [batch over dp, seq]
  loss loss per token  // per_token

  embed: rowwise tp
  h.* {
    up: colwise tp
    down: rowwise tp
  }
  rest: replicate  // weights of one dim, such as norms

  data dp {
    shard optimizer  // zero
    bucket none
  }
  clip_grad_norm 1  // clip
  // left out: 'unit h.*': a reason
}
)");
  ASSERT_EQ(text.training.size(), 4u);
  EXPECT_EQ(text.training[1].line, 18);
  EXPECT_EQ(text.training[1].option, 0u);
  EXPECT_EQ(text.training[3].statement, 1u);
  EXPECT_FALSE(text.training[3].option);
}

TEST_F(DraftTextTest, AnEntryDoesNotCoverAContainerOfAnotherLayer) {
  // The path of a weight in the second layer is a module with adapters in the first one.
  model.modules = {{"", ""}, {"h.0.up", ""}, {"h.0.up.a", ""}, {"h.0.up.base", ""}, {"h.1.up", ""}};
  model.parameters = {{{{2, "weight"}}}, {{{3, "weight"}}}, {{{4, "weight"}}}};
  draft.modules = {"h.0.up.a", "h.0.up.base", "h.1.up"};
  draft.styles = {{"h.0.up.base", "colwise tp"}, {"h.1.up", "colwise tp"}};
  std::string text = writeDraft(draft).text;
  EXPECT_NE(text.find("h.1.up: colwise tp"), std::string::npos) << text;
  EXPECT_EQ(text.find("h.*.up:"), std::string::npos) << text;
}
