//===- module_patterns_test.cpp - modules as patterns of a plan -----------===//

#include "compiler/draft/module_patterns.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;

/// "PATTERN: LABEL", the block in front with a slash.
static std::vector<std::string> textsOf(const std::vector<LabelledModule> &modules,
                                        std::vector<std::string> others = {}) {
  for (const LabelledModule &module : modules)
    others.push_back(module.path);
  std::vector<std::string> texts;
  for (const ModulePattern &pattern : patternsOf(modules, others))
    texts.push_back((pattern.block.empty() ? "" : pattern.block + "/") + pattern.path + ": " + pattern.label);
  return texts;
}

TEST(PatternsOf, EqualLayersAreAStar) {
  EXPECT_THAT(
      textsOf({{"embed", "row"}, {"h.0.up", "col"}, {"h.0.down", "row"}, {"h.1.up", "col"}, {"h.1.down", "row"}}),
      ElementsAre("embed: row", "h.*/up: col", "h.*/down: row"));
}

TEST(PatternsOf, NeighboursAreAlternatives) {
  EXPECT_THAT(textsOf({{"h.0.attn.q_proj", "col"},
                       {"h.0.attn.k_proj", "col"},
                       {"h.0.attn.o_proj", "row"},
                       {"h.0.mlp.up", "col"},
                       {"h.1.attn.q_proj", "col"},
                       {"h.1.attn.k_proj", "col"},
                       {"h.1.attn.o_proj", "row"},
                       {"h.1.mlp.up", "col"}}),
              ElementsAre("h.*/attn.{q, k}_proj: col", "h.*/attn.o_proj: row", "h.*/mlp.up: col"));
}

TEST(PatternsOf, ModulesKnowTheirPattern) {
  std::vector<LabelledModule> modules{{"h.0.q", "col"}, {"h.0.k", "col"}, {"h.1.q", "col"}, {"h.1.k", "col"}};
  std::vector<ModulePattern> patterns = patternsOf(modules, {"h.0.q", "h.0.k", "h.1.q", "h.1.k"});
  ASSERT_EQ(patterns.size(), 1u);
  EXPECT_EQ(patterns[0].text(), "h.*.{q, k}");
  EXPECT_THAT(patterns[0].modules, ElementsAre(0, 2, 1, 3));
}

TEST(PatternsOf, LayersThatDifferAreNumbered) {
  EXPECT_THAT(textsOf({{"h.0.up", "col"}, {"h.1.up", "col"}, {"h.2.up", "col"}, {"h.5.up", "col"}}, {"h.3.up"}),
              ElementsAre("h.{0..2, 5}/up: col"));
  EXPECT_THAT(textsOf({{"0", "col"}, {"2", "row"}, {"4", "col"}}), ElementsAre("{0, 4}: col", "2: row"));
  EXPECT_THAT(textsOf({{"a.0.b.0.c", "col"}, {"a.1.b.0.c", "col"}}, {"a.0.b.1.c"}), ElementsAre("a.*/b.0.c: col"));
}

TEST(PatternsOf, WhatNoListMatchesIsTakenApartByItsLastNumber) {
  EXPECT_THAT(
      textsOf({{"s.0.conv.0", "col"}, {"s.1.conv.0", "col"}, {"s.1.conv.2", "col"}}, {"s.0.conv.1", "s.0.conv.2"}),
      ElementsAre("s.*/conv.0: col", "s.1/conv.2: col"));
}

TEST(PatternsOf, ANumberWithoutSiblingsStays) {
  EXPECT_THAT(textsOf({{"h.0.up", "col"}}), ElementsAre("h.0/up: col"));
  EXPECT_THAT(textsOf({{"h.0.b.0.up", "col"}, {"h.0.b.1.up", "col"}}), ElementsAre("h.0.b.*/up: col"));
}

TEST(PatternsOf, APatternOfOneLayerIsAStarWhereOthersLackTheModule) {
  EXPECT_THAT(textsOf({{"h.0.bias", "col"}}, {"h.1.up"}), ElementsAre("h.*/bias: col"));
}

TEST(PatternsOf, ABlockStandsWhereItsFirstPatternStands) {
  EXPECT_THAT(
      textsOf({{"h.0.up", "col"}, {"h.1.up", "col"}, {"head", "col"}, {"h.0.down", "row"}, {"h.1.down", "row"}}),
      ElementsAre("h.*/up: col", "h.*/down: row", "head: col"));
}

TEST(PatternsOf, TheLastNumberIsTheBlock) {
  EXPECT_THAT(textsOf({{"e.block.0.layer.0.q", "col"}, {"e.block.1.layer.0.q", "col"}}, {"e.block.0.layer.1.up"}),
              ElementsAre("e.block.*.layer.*/q: col"));
  EXPECT_THAT(textsOf({{"h.0.mlp.0", "col"}, {"h.1.mlp.0", "col"}}), ElementsAre("h.*/mlp.0: col"));
}

TEST(PatternsOf, OtherNamesAreQuoted) {
  EXPECT_THAT(textsOf({{"a-b.c", "col"}, {"rest", "row"}}), ElementsAre("\"a-b.c\": col", "\"rest\": row"));
}

TEST(PatternsOf, TheRootStandsAlone) {
  EXPECT_THAT(textsOf({{"fin", "sequence"}, {"", "sequence"}, {"norm", "sequence"}}),
              ElementsAre("{fin, norm}: sequence", "\"\": sequence"));
}

TEST(Alternatives, ShareWhatIsBehindOrBeforeAnUnderscore) {
  EXPECT_EQ(alternatives({"q_proj"}), "q_proj");
  EXPECT_EQ(alternatives({"q_proj", "k_proj"}), "{q, k}_proj");
  EXPECT_EQ(alternatives({"post_attn_norm", "pre_attn_norm"}), "{post, pre}_attn_norm");
  EXPECT_EQ(alternatives({"wi_0", "wi_1"}), "wi_{0, 1}");
  EXPECT_EQ(alternatives({"norm1", "norm12"}), "norm{1, 12}");
  EXPECT_EQ(alternatives({"pre_fc1", "pre_fc2"}), "pre_fc{1, 2}");
  EXPECT_EQ(alternatives({"fc1", "fc"}), "{fc1, fc}");
  EXPECT_EQ(alternatives({"query", "key"}), "{query, key}");
  EXPECT_EQ(alternatives({"a_b", "_b"}), "{a_b, _b}"); // nothing would be left of one
}
