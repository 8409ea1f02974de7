//===- choose_styles_test.cpp - tensor styles from a feature graph --------===//

#include "compiler/draft/choose_styles.h"
#include "test/unit/draft/graph_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

static const StyleRequest overTensorAxes{2, 1, false};

static std::vector<std::string> stylesOf(const GraphOf &builder, const StyleRequest &request) {
  static constexpr const char *words[] = {"colwise", "rowwise", "sequence", "expert", "whole"};
  std::vector<std::string> texts;
  for (const StyleChoice &choice : chooseStyles(builder.graph, request).styles)
    texts.push_back(choice.path + " " + words[static_cast<size_t>(choice.style)]);
  return texts;
}

static std::vector<std::string> stylesOf(const GraphOf &builder, bool sequence = false) {
  return stylesOf(builder, {2, 1, sequence});
}

static std::vector<std::string> reasonsOf(const GraphOf &builder) {
  std::vector<std::string> texts;
  for (const UndividedModule &module : chooseStyles(builder.graph, overTensorAxes).undivided)
    texts.push_back(module.path + ": " + module.reason);
  return texts;
}

TEST(ChooseStyles, ATransformer) {
  GraphOf builder;
  size_t x = builder.embedding("embed");
  for (std::string layer : {"h.0.", "h.1."}) {
    size_t normed = builder.norm(layer + "norm", x);
    size_t queries = builder.linear(layer + "q", normed), keys = builder.linear(layer + "k", normed);
    x = builder.together(x, builder.linear(layer + "o", builder.together(queries, keys)));
    x = builder.together(x, builder.linear(layer + "down", builder.linear(layer + "up", x)));
  }
  size_t logits = builder.linear("head", builder.norm("norm", x));
  builder.reduce(logits);
  builder.output(logits);
  EXPECT_THAT(stylesOf(builder), ElementsAre("embed rowwise", "h.0.q colwise", "h.0.k colwise", "h.0.o rowwise",
                                             "h.0.up colwise", "h.0.down rowwise", "h.1.q colwise", "h.1.k colwise",
                                             "h.1.o rowwise", "h.1.up colwise", "h.1.down rowwise", "head colwise"));
  EXPECT_THAT(reasonsOf(builder), IsEmpty());
  std::vector<std::string> withNorms = stylesOf(builder, true);
  EXPECT_EQ(withNorms.size(), 15u);
  EXPECT_THAT(withNorms, testing::IsSupersetOf({"h.0.norm sequence", "h.1.norm sequence", "norm sequence"}));
}

TEST(ChooseStyles, PairsOfLayersAreGroups) {
  GraphOf builder;
  size_t x = builder.norm("norm", builder.input());
  x = builder.linear("0.down", builder.linear("0.up", x));
  builder.norm("n", x);
  builder.norm("m", builder.linear("1.down", builder.linear("1.up", x)));
  StyleChoices choices = chooseStyles(builder.graph, overTensorAxes);
  ASSERT_EQ(choices.styles.size(), 4u);
  EXPECT_EQ(choices.styles[0].group, choices.styles[1].group);
  EXPECT_EQ(choices.styles[2].group, choices.styles[3].group);
  EXPECT_NE(choices.styles[0].group, choices.styles[2].group);
}

TEST(ChooseStyles, OfAChainEverySecondClassIsDivided) {
  GraphOf builder;
  size_t b = builder.linear("1", builder.input()), c = builder.linear("2", b), d = builder.linear("3", c);
  builder.norm("norm", builder.linear("4", d));
  EXPECT_THAT(stylesOf(builder), ElementsAre("1 colwise", "2 rowwise", "3 colwise", "4 rowwise"));
}

TEST(ChooseStyles, AWeightWithBothDimsInAClassStays) {
  GraphOf builder; // x + W x without a norm
  size_t x = builder.linear("in", builder.input());
  x = builder.together(x, builder.linear("same", x));
  builder.norm("norm", builder.linear("out", x));
  EXPECT_THAT(stylesOf(builder), IsEmpty());
}

TEST(ChooseStyles, AFusedWeightIsDividedPartByPart) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.input());
  size_t heads = builder.parts("aten.split.Tensor", "attn", builder.linear("attn.qkv", x, 32), {16, 8, 8});
  builder.norm("ln2", builder.linear("attn.proj", heads));
  std::vector<StyleChoice> styles = chooseStyles(builder.graph, overTensorAxes).styles;
  ASSERT_EQ(styles.size(), 2u);
  EXPECT_THAT(styles[0].parts, ElementsAre(16, 8, 8));
  EXPECT_EQ(styles[1].style, DraftStyle::rowwise);
  EXPECT_THAT(styles[1].parts, IsEmpty());
}

TEST(ChooseStyles, WhatALookUpOfOwnIndicesAddsToHeadsIsDividedWithThem) {
  GraphOf builder;
  size_t heads = builder.linear("q", builder.norm("ln", builder.input()));
  heads = builder.together(heads, builder.embedding("bias", false));
  builder.norm("ln2", builder.linear("o", heads));
  EXPECT_THAT(stylesOf(builder), ElementsAre("q colwise", "bias colwise", "o rowwise"));
}

TEST(ChooseStyles, OfAResidualStreamThePairsInsideItsBranchesAreDivided) {
  GraphOf builder; // without norms that need the whole stream
  size_t x = builder.linear("stem", builder.input());
  for (std::string layer : {"0.", "1."})
    x = builder.together(x, builder.linear(layer + "down", builder.linear(layer + "up", x)));
  builder.norm("norm", builder.linear("out", x));
  EXPECT_THAT(stylesOf(builder), ElementsAre("0.up colwise", "0.down rowwise", "1.up colwise", "1.down rowwise"));
  EXPECT_THAT(reasonsOf(builder),
              ElementsAre("stem: its features are also those of '*.down', which has another style",
                          "out: 'aten.layer_norm.default' in 'norm' needs the output features whole"));
}

TEST(ChooseStyles, HeadsThatANormSumsOverAreDivided) {
  GraphOf builder; // the mean gives an addend on each rank
  size_t heads = builder.linear("q", builder.norm("ln", builder.input()));
  builder.reduce(heads);
  builder.norm("ln2", builder.linear("o", heads));
  EXPECT_THAT(stylesOf(builder), ElementsAre("q colwise", "o rowwise"));
}

TEST(ChooseStyles, FeaturesThatAreNeededWholeStay) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.input());
  builder.whole("aten.topk.default", "router", builder.linear("router.gate", x));
  EXPECT_THAT(stylesOf(builder), IsEmpty());
  EXPECT_THAT(reasonsOf(builder),
              ElementsAre("router.gate: 'aten.topk.default' in 'router' needs the output features whole"));
}

TEST(ChooseStyles, EmbeddingsOfPositionsStay) {
  GraphOf builder;
  size_t words = builder.embedding("words"), positions = builder.embedding("positions", false);
  builder.norm("ln", builder.together(words, positions));
  EXPECT_THAT(stylesOf(builder), ElementsAre("words rowwise"));
  EXPECT_THAT(reasonsOf(builder), ElementsAre("positions: the indices do not come from an input of the model"));
}

TEST(ChooseStyles, SmallTablesStayBesideLargeOnes) {
  GraphOf builder;
  size_t words = builder.embedding("words"), types = builder.embedding("types", true, 2);
  size_t regions = builder.embedding("regions", true, 16);
  builder.norm("ln", builder.together(builder.together(words, types), regions));
  EXPECT_THAT(stylesOf(builder), ElementsAre("words rowwise", "regions rowwise"));
  EXPECT_THAT(reasonsOf(builder), ElementsAre("types: its 2 rows are few beside the 32 of 'words'"));
}

TEST(ChooseStyles, NormsOfWhatPairsReadDivideTheSequence) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.input());
  builder.norm("last", builder.linear("o", builder.linear("q", x)));
  EXPECT_THAT(stylesOf(builder, true), ElementsAre("ln sequence", "q colwise", "o rowwise"));
}

TEST(ChooseStyles, WhatIsNeededWithAllPositionsReadsAll) {
  GraphOf builder;
  size_t positions = builder.newDim(20), x = builder.norm("norm", builder.input());
  size_t queries = builder.linear("q", x), keys = builder.linear("k", x);
  builder.keeps(positions);
  builder.whole("meshplan.attention", "attention", keys);
  builder.needs(positions);
  // Features that are needed whole, separately at each position.
  size_t chances = builder.linear("router", x);
  builder.keeps(positions);
  builder.whole("aten.topk.default", "topk", chances);
  builder.norm("last", builder.linear("o", queries));
  EXPECT_THAT(stylesOf(builder, true), ElementsAre("norm sequence", "q colwise", "k whole", "o rowwise"));
  EXPECT_THAT(stylesOf(builder), ElementsAre("q colwise", "o rowwise")) << "without it nothing is gathered";
}

TEST(ChooseStyles, ATiedHeadIsInTheGroupOfItsEmbedding) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.embedding("embed"));
  size_t logits = builder.linear("head", x);
  size_t rows = *builder.graph.weights[0].inputDim;
  builder.together(logits, rows); // one parameter: its rows are the head's output features
  builder.reduce(logits);
  StyleChoices choices = chooseStyles(builder.graph, overTensorAxes);
  ASSERT_EQ(choices.styles.size(), 2u);
  EXPECT_EQ(choices.styles[0].group, choices.styles[1].group);
}

TEST(ChooseStyles, AHeadThatNobodyReadsStays) {
  GraphOf builder;
  builder.linear("dead", builder.norm("ln", builder.input()));
  EXPECT_THAT(stylesOf(builder), IsEmpty());
}

TEST(ChooseStyles, WeightsOfTheRootHaveAStyle) {
  GraphOf builder;
  builder.norm("ln", builder.linear("down", builder.linear("", builder.input())));
  EXPECT_THAT(stylesOf(builder), ElementsAre(" colwise", "down rowwise"));
}

TEST(ChooseStyles, TheSequenceStaysWholeAtNormsOfTheRoot) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.norm("", builder.input()));
  builder.norm("last", builder.linear("o", builder.linear("q", x)));
  EXPECT_THAT(stylesOf(builder, /*sequence=*/true), ElementsAre("ln sequence", "q colwise", "o rowwise"));
}

TEST(ChooseStyles, WeightsOfOneModuleHaveTheirOwnStyles) {
  GraphOf builder; // as experts
  size_t x = builder.norm("ln", builder.input());
  size_t gate = builder.linear("mlp", x, 12, "gate"), up = builder.linear("mlp", x, 12, "up");
  builder.norm("ln2", builder.linear("mlp", builder.together(gate, up), 12, "down"));
  EXPECT_THAT(stylesOf(builder), ElementsAre("mlp.gate colwise", "mlp.up colwise", "mlp.down rowwise"));
  EXPECT_THAT(reasonsOf(builder), IsEmpty());
}

TEST(ChooseStyles, AWeightBesideOthersOfItsModuleStays) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.input());
  builder.whole("aten.topk.default", "mlp", builder.linear("mlp", x, 12, "router"));
  builder.norm("ln2", builder.linear("mlp.down", builder.linear("mlp", x, 12, "up")));
  EXPECT_THAT(stylesOf(builder), ElementsAre("mlp.up colwise", "mlp.down rowwise"));
  EXPECT_THAT(reasonsOf(builder),
              ElementsAre("mlp.router: 'aten.topk.default' in 'mlp' needs the output features whole"));
}

TEST(ChooseStyles, AFewFeaturesOfDividedOnesAreAddedUp) {
  GraphOf builder; // a number for each head, of all of them
  size_t values = builder.linear("v", builder.norm("ln", builder.input()), 12);
  size_t heads = builder.linear("side", values, 4);
  builder.norm("ln2", builder.linear("o", builder.together(values, heads)));
  EXPECT_THAT(stylesOf(builder), ElementsAre("v colwise", "side rowwise", "o rowwise"));
}

TEST(ChooseStyles, GroupsBetweenAPairAreDividedWithIt) {
  GraphOf builder;
  size_t x = builder.linear("up", builder.norm("ln", builder.input()));
  builder.norm("ln2", builder.linear("down", builder.grouped("depthwise", x)));
  EXPECT_THAT(stylesOf(builder), ElementsAre("up colwise", "depthwise colwise", "down rowwise"));
}

TEST(ChooseStyles, APairBeginsAtGroups) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.input());
  size_t queries = builder.grouped("q", x), keys = builder.grouped("k", x);
  builder.norm("ln2", builder.linear("o", builder.together(queries, keys)));
  EXPECT_THAT(stylesOf(builder), ElementsAre("q colwise", "k colwise", "o rowwise"));
}

TEST(ChooseStyles, WhatAnAdapterAdaptsIsDivided) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.input());
  size_t inner = builder.linear("up", x);
  builder.linearTo("up.b", builder.linear("up.a", x, 2), inner);
  size_t out = builder.linear("down", inner);
  builder.linearTo("down.b", builder.linear("down.a", inner, 2), out);
  builder.norm("ln2", out);
  EXPECT_THAT(stylesOf(builder), ElementsAre("up colwise", "up.b colwise", "down rowwise", "down.a rowwise"));
}

TEST(ChooseStyles, ATableOfTheModuleGoesWithItsFeatures) {
  GraphOf builder; // biases of experts, which the routing looks up
  size_t x = builder.norm("ln", builder.input());
  size_t inner = builder.linear("experts", x, 12, "up");
  builder.together(inner, builder.embedding("experts", true, 4));
  builder.norm("ln2", builder.linear("experts", inner, 12, "down"));
  EXPECT_THAT(stylesOf(builder), ElementsAre("experts.up colwise", "experts.weight colwise", "experts.down rowwise"));
}

TEST(ChooseStyles, OfAttentionTheHeadsAreDividedAndNotWhatKeysAreMadeOf) {
  GraphOf g;
  size_t x = g.norm("norm", g.input()), memory = g.linear("memory", g.norm("other", g.input()));
  size_t heads = g.attention(g.linear("q", x), g.linear("k", memory), g.linear("v", memory));
  g.norm("last", g.linear("o", heads));
  EXPECT_THAT(stylesOf(g), testing::UnorderedElementsAre("q colwise", "k colwise", "v colwise", "o rowwise"));
}

TEST(ChooseStyles, AVectorOfSeveralWeightsHasNoStyleOfOne) {
  GraphOf g;
  size_t bias = g.vector("m", "in_proj_bias", 36);
  size_t first = g.parts("aten.chunk.default", "m", bias, {12, 12, 12});
  size_t x = g.norm("norm", g.input());
  size_t query = g.linear("m", x, 12, "q_proj_weight"), key = g.linear("m", x, 12, "k_proj_weight");
  size_t value = g.linear("m", x, 12, "v_proj_weight");
  g.together(query, first), g.together(key, first + 1), g.together(value, first + 2);
  g.norm("last", g.linear("m.out_proj", g.attention(query, key, value)));
  EXPECT_THAT(stylesOf(g), ElementsAre("m.q_proj_weight colwise", "m.k_proj_weight colwise", "m.v_proj_weight colwise",
                                       "m.out_proj rowwise"));
}

/// An attention between norms, and a mixture of this many experts with stacked weights and a router.
static GraphOf mixtureOf(int64_t experts) {
  GraphOf builder;
  size_t x = builder.norm("ln", builder.embedding("embed"));
  size_t tokens = builder.norm("ln2", builder.linear("o", builder.linear("q", x)));
  builder.whole("aten.topk.default", "mlp.gate", builder.linear("mlp.gate", tokens));
  size_t first = builder.graph.weights.size();
  builder.norm("ln3", builder.linear("mlp.experts", builder.linear("mlp.experts", tokens, 12, "up"), 12, "down"));
  for (size_t index : {first, first + 1}) {
    WeightUse &weight = builder.graph.weights[index];
    weight.dims.insert(weight.dims.begin(), builder.newDim(experts));
    weight.expertsOf = "mlp.experts";
  }
  return builder;
}

TEST(ChooseStyles, ExpertsAreDividedOverWhatDividesSamples) {
  EXPECT_THAT(stylesOf(mixtureOf(4), {std::nullopt, 2, false}), ElementsAre("mlp.experts expert"));
  EXPECT_THAT(stylesOf(mixtureOf(4), {1, 2, false}),
              ElementsAre("embed rowwise", "q colwise", "o rowwise", "mlp.experts expert"));
  EXPECT_THAT(stylesOf(mixtureOf(4), {2, 2, true}), ElementsAre("embed rowwise", "ln sequence", "q colwise",
                                                                "o rowwise", "ln2 sequence", "mlp.experts expert"));
  EXPECT_THAT(chooseStyles(mixtureOf(4).graph, {std::nullopt, 2, false}).undivided, IsEmpty());
}

TEST(ChooseStyles, ExpertsNeedNotBeEquallyManyOnRanksThatHaveSamples) {
  EXPECT_THAT(stylesOf(mixtureOf(3), {std::nullopt, 2, false}), ElementsAre("mlp.experts expert"));
  EXPECT_THAT(stylesOf(mixtureOf(3), {std::nullopt, 4, false}), IsEmpty()) << "a rank would have none";
  EXPECT_THAT(stylesOf(mixtureOf(6), {2, 2, false}),
              ElementsAre("embed rowwise", "q colwise", "o rowwise", "mlp.experts expert"));
}

TEST(ChooseStyles, FeaturesOfExpertsAreDividedWhereExpertsCannotBe) {
  auto ofExperts = [](int64_t experts, const StyleRequest &request) {
    std::vector<std::string> styles = stylesOf(mixtureOf(experts), request);
    return std::vector<std::string>(styles.end() - 2, styles.end());
  };
  auto features = ElementsAre("mlp.experts.up colwise", "mlp.experts.down rowwise");
  EXPECT_THAT(ofExperts(3, {2, 2, false}), features) << "a rank would have none";
  EXPECT_THAT(ofExperts(2, {2, 2, false}), features);
  EXPECT_THAT(ofExperts(4, {2, 1, false}), features) << "samples are not split";
}

TEST(ChooseStyles, MixturesWithFewerExpertsThanRanksAreNamed) {
  auto few = [](const StyleRequest &request) {
    FeatureGraph graph;
    graph.mixtures = {{"first", 3}, {"second", 8}};
    return chooseStyles(graph, request).fewExperts;
  };
  EXPECT_THAT(few({std::nullopt, 4, false}), ElementsAre(Mixture{"first", 3}));
  EXPECT_THAT(few({2, 2, false}), ElementsAre(Mixture{"first", 3})) << "two axes";
  EXPECT_THAT(few({std::nullopt, 3, false}), IsEmpty());
  EXPECT_THAT(few({4, 1, false}), IsEmpty()) << "samples are not split";
}

TEST(ChooseStyles, TheStyleOfExpertsIsThatOfTheModuleThatComputesTheirRows) {
  GraphOf builder = mixtureOf(4); // the weights lie in modules without operators
  for (WeightUse &weight : builder.graph.weights)
    if (weight.expertsOf) {
      weight.module = "mlp.store";
      weight.expertsOf = "mlp";
    }
  EXPECT_THAT(stylesOf(builder, {2, 2, false}), ElementsAre("embed rowwise", "q colwise", "o rowwise", "mlp expert"));
}
