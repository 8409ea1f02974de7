//===- module_patterns_test.cpp - modules as patterns of a plan -----------===//

#include "compiler/draft/module_patterns.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace meshplan;
using testing::ElementsAre;

/// "PATTERN: LABEL", preceded by the block and a slash.
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

TEST(PatternsOf, WhatIsTakenApartIsTakenApartAgainByTheNumberBefore) {
  // Of c.0 all except (1, 0): of b.0 only a.0, of b.1 both.
  std::vector<LabelledModule> modules;
  for (const char *path :
       {"a.0.b.0.c.0", "a.0.b.1.c.0", "a.1.b.1.c.0", "a.0.b.0.c.1", "a.0.b.1.c.1", "a.1.b.0.c.1", "a.1.b.1.c.1"})
    modules.push_back({path, "col"});
  EXPECT_THAT(textsOf(modules, {"a.1.b.0.c.0"}),
              ElementsAre("a.0.b.0/c.0: col", "a.*/b.1.c.0: col", "a.*.b.*/c.1: col"));
}

/// True if the component of a pattern matches `name`: literally, as a star, or as one of a list.
static bool matchesComponent(llvm::StringRef pattern, llvm::StringRef name) {
  size_t open = pattern.find('{');
  if (open == llvm::StringRef::npos)
    return pattern == "*" || pattern == name;
  auto [list, suffix] = pattern.drop_front(open + 1).split('}');
  for (llvm::StringRef entry : llvm::split(list, ',')) {
    auto [first, last] = entry.trim().split("..");
    int64_t begin = 0, end = 0, number = 0;
    bool isRange = !last.empty() && !first.getAsInteger(10, begin) && !last.getAsInteger(10, end);
    if (isRange ? !name.getAsInteger(10, number) && number >= begin && number <= end
                : (pattern.take_front(open) + entry.trim() + suffix).str() == name)
      return true;
  }
  return false;
}

static bool matchesPath(llvm::StringRef pattern, llvm::StringRef path) {
  while (true) {
    size_t end = 0; // of the component: dots in braces belong to ranges
    for (int depth = 0; end < pattern.size() && (pattern[end] != '.' || depth > 0); ++end)
      depth += (pattern[end] == '{') - (pattern[end] == '}');
    auto [name, rest] = path.split('.');
    if (!matchesComponent(pattern.take_front(end), name))
      return false;
    if (end == pattern.size() || rest.empty())
      return end == pattern.size() && rest.empty();
    pattern = pattern.drop_front(end + 1);
    path = rest;
  }
}

TEST(PatternsOf, MatchTheirModulesAndNoOthers) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    // Some of a.I.{up_proj, down_proj, mlp.J, mlp.last.K} with I, J, K below 4; some of these have a label.
    std::vector<std::string> all;
    std::vector<LabelledModule> modules;
    auto add = [&](const std::string &path) {
      if (random() % 4 == 0)
        return;
      all.push_back(path);
      if (unsigned label = random() % 3)
        modules.push_back({path, label == 1 ? "col" : "row"});
    };
    for (int i = 0; i < 4; ++i) {
      std::string layer = "a." + std::to_string(i) + ".";
      add(layer + "up_proj");
      add(layer + "down_proj");
      for (int j = 0; j < 4; ++j) {
        add(layer + "mlp." + std::to_string(j));
        add(layer + "mlp.last." + std::to_string(j));
      }
    }
    std::map<std::string, int> matched; // patterns, by path
    for (const ModulePattern &pattern : patternsOf(modules, all))
      for (const std::string &path : all)
        if (matchesPath(pattern.text(), path)) {
          ++matched[path];
          auto isOwn = [&](size_t index) { return modules[index].path == path; };
          EXPECT_TRUE(llvm::any_of(pattern.modules, isOwn)) << pattern.text() << " and " << path;
        }
    for (const LabelledModule &module : modules)
      EXPECT_EQ(matched[module.path], 1) << module.path << " in round " << round;
    EXPECT_EQ(matched.size(), modules.size()) << "round " << round;
  }
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

TEST(PatternsOf, ListsAtTheEndStandAlone) {
  std::vector<LabelledModule> modules;
  for (const char *stack : {"enc.", "dec."})
    for (const char *layer : {"0", "1"})
      for (const char *part : {".mlp.0", ".mlp.2"})
        modules.push_back({stack + std::string(layer) + part, "col"});
  EXPECT_THAT(textsOf(modules), ElementsAre("enc.*/mlp.*: col", "dec.*/mlp.*: col"));
  for (size_t index = 4; index < 8; ++index)
    modules[index].label = "row";
  EXPECT_THAT(textsOf(modules), ElementsAre("enc.*/mlp.*: col", "dec.*/mlp.*: row"));
}

TEST(PatternsOf, AListIsNoSiblingOfOthers) {
  EXPECT_THAT(textsOf({{"h.0.mlp.0", "col"},
                       {"h.0.mlp.1", "col"},
                       {"h.0.mlp.a", "col"},
                       {"h.0.mlp.b", "col"},
                       {"h.1.mlp.0", "col"},
                       {"h.1.mlp.1", "col"},
                       {"h.1.mlp.a", "col"},
                       {"h.1.mlp.b", "col"}}),
              ElementsAre("h.*/mlp.{0, 1}: col", "h.*/mlp.{a, b}: col"));
}

TEST(PatternsOf, NumbersThatAreNotWrittenAsNumbers) {
  EXPECT_THAT(textsOf({{"h.01.up", "col"}, {"h.1.up", "row"}}), ElementsAre("\"h.01.up\": col", "\"h.1.up\": row"));
  const std::string huge = "h.99999999999999999999.up";
  EXPECT_THAT(textsOf({{huge, "col"}}, {"h.0.up"}), ElementsAre('"' + huge + "\": col"));
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
  EXPECT_EQ(alternatives({"to_q", "to_kv"}), "to_{q, kv}");
  EXPECT_EQ(alternatives({"x_a_up", "x_a_down", "x_b"}), "x_{a_up, a_down, b}") << "the longest start of all three";
  EXPECT_EQ(alternatives({"q_", "q_a"}), "{q_, q_a}") << "nothing would be left of one";
  EXPECT_EQ(alternatives({"a_b", "_b"}), "{a_b, _b}"); // one would become empty
}
