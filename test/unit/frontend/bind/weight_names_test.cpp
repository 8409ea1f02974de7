//===- weight_names_test.cpp - names of parameters in weight files --------===//

#include "test/unit/frontend/bind/training/training_plan.h"

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// A mixture of four experts in each of two layers, with a router, a vector of biases of the experts, and a buffer.
ModelOutline mixture() {
  ModelOutline model = llama(2);
  for (std::string layer : {"0", "1"}) {
    size_t experts = model.modules.size();
    model.modules.push_back({"model.layers." + layer + ".mlp.experts", "Experts"});
    model.modules.push_back({"model.layers." + layer + ".mlp.gate", "Router"});
    model.parameters.push_back({{{experts, "gate_up_proj"}}, {experts}, {4, 96, 16}, true});
    model.parameters.push_back({{{experts, "down_proj"}}, {experts}, {4, 16, 48}, true});
    model.parameters.push_back({{{experts, "scales"}}, {experts}, {4}, true});
    model.parameters.push_back({{{experts + 1, "weight"}}, {experts + 1}, {4, 16}, true});
    model.buffers.push_back({"model.layers." + layer + ".mlp.gate.bias", {4}});
  }
  return model;
}

/// "name in the model: names in the file", with the sizes of several parts.
std::vector<std::string> namesOf(const std::string &entries, const ModelOutline &model = mixture()) {
  std::vector<std::string> texts;
  for (const BoundWeightName &each : bound("weight_names { " + entries + " }", model).weightNames) {
    std::string text = each.tensor + ": " + each.text;
    for (int64_t size : each.pieces.sizes)
      text += each.pieces.sizes.size() > 1 ? " " + std::to_string(size) : "";
    texts.push_back(text);
  }
  return texts;
}

TEST(BindWeightNames, APlanWithoutThemHasNone) { EXPECT_THAT(bound("loss loss").weightNames, IsEmpty()); }

TEST(BindWeightNames, AStarIsWhatTheStarOfTheParameterMatches) {
  EXPECT_THAT(namesOf("lm_head.weight: output.weight"), ElementsAre("lm_head.weight: output.weight"));
  EXPECT_THAT(namesOf("model.layers.*.mlp.gate.weight: h.*.router"),
              ElementsAre("model.layers.0.mlp.gate.weight: h.0.router", "model.layers.1.mlp.gate.weight: h.1.router"));
  EXPECT_THAT(namesOf("model.layers.1.*.down_*.weight: l.*_*"),
              ElementsAre("model.layers.1.mlp.down_proj.weight: l.mlp_proj"));
}

TEST(BindWeightNames, TwoStarsAreAnyNumberOfComponents) {
  EXPECT_THAT(namesOf("model.norm.**: **.norm"), ElementsAre("model.norm.weight: weight.norm"));
  EXPECT_THAT(namesOf("**.lm_head.weight: **.out"), ElementsAre("lm_head.weight: out"));
  EXPECT_THAT(namesOf("lm_head.weight.**: out.**"), ElementsAre("lm_head.weight: out"));
  EXPECT_EQ(namesOf("model.**: text.**").size(), 30u) << "all but lm_head, buffers too";
}

TEST(BindWeightNames, StackedTensorsAreNumbered) {
  std::vector<BoundWeightName> names =
      bound("weight_names { model.layers.*.mlp.experts.gate_up_proj: stack l.*.experts.*.{w1, w3}.weight }", mixture())
          .weightNames;
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[1].pieces,
            (WeightPieces{{"l.1.experts.", "l.1.experts."}, {".w1.weight", ".w3.weight"}, {48, 48}, 1, 4}));
  EXPECT_EQ(names[1].text, "stack l.1.experts.*.w1.weight, l.1.experts.*.w3.weight");
  EXPECT_THAT(namesOf("model.layers.0.mlp.experts.scales: stack scale.*"),
              ElementsAre("model.layers.0.mlp.experts.scales: stack scale.*"));
}

TEST(BindWeightNames, ChoicesArePartsOfADim) {
  EXPECT_THAT(namesOf("lm_head.weight: {a, b.{c, d}} parts (2, 1, 1)"),
              ElementsAre("lm_head.weight: a, b.c, b.d 24576 12288 12288"));
  EXPECT_THAT(namesOf("model.norm.weight: {a, b}{c, d}"),
              ElementsAre("model.norm.weight: ac, ad, bc, bd 144 144 144 144"));
  std::string down = "model.layers.0.mlp.experts.down_proj: stack e.*.w2.{0..3}";
  EXPECT_EQ(bound("weight_names { " + down + " dim 2 }", mixture()).weightNames[0].pieces.dim, 2);
  EXPECT_EQ(bound("weight_names { " + down + " }", mixture()).weightNames[0].pieces.dim, 1);
}

TEST(BindWeightNames, BuffersHaveThemToo) {
  std::vector<BoundWeightName> names =
      bound("weight_names { model.layers.*.mlp.gate.bias: h.*.bias }", mixture()).weightNames;
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].tensor, "model.layers.0.mlp.gate.bias");
  EXPECT_EQ(names[0].parameter, std::nullopt);
}

TEST(BindWeightNames, ATiedParameterIsOne) {
  EXPECT_THAT(namesOf("**.weight: x.**.w", llama(1, /*tied=*/true)).back(), "model.norm.weight: x.model.norm.w");
  EXPECT_THAT(namesOf("lm_head.weight: out", llama(1, /*tied=*/true)), ElementsAre("model.embed_tokens.weight: out"));
}

TEST(BindWeightNames, NestedChoicesDoNotTakeLong) {
  std::string inner = "{0..60}{0..60}", choices = inner;
  for (int i = 0; i < 60; ++i)
    choices += ", " + inner;
  EXPECT_THAT(faults("weight_names { lm_head.weight: {" + choices + "} }")[0],
              testing::HasSubstr("has more than 4096 choices"));
}

TEST(BindWeightNames, ManyStarsDoNotTakeLong) {
  std::string pattern = "*";
  for (int i = 0; i < 40; ++i)
    pattern += "e*";
  EXPECT_THAT(faults("weight_names { " + pattern + ".weight: x }")[0],
              "'" + pattern + ".weight' matches no parameter and no buffer");
}

} // namespace
