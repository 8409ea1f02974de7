//===- dim_classes_test.cpp - dims that are sharded together --------------===//

#include "compiler/draft/dim_classes.h"
#include "test/unit/draft/graph_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using Role = WeightUse::Role;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DimClasses, GatherWhatIsAroundAClass) {
  GraphOf builder;
  size_t x = builder.input(), gate = builder.linear("gate", x), up = builder.linear("up", x);
  size_t product = builder.together(gate, up), down = builder.linear("down", product);
  builder.output(down);
  DimClasses classes(builder.graph);
  EXPECT_EQ(classes.find(gate), classes.find(up));
  EXPECT_NE(classes.find(gate), classes.find(x));
  const DimClass &inner = classes[classes.find(gate)];
  EXPECT_THAT(inner.producedBy, ElementsAre(0, 1));
  EXPECT_THAT(inner.contractedBy, ElementsAre(2));
  EXPECT_FALSE(inner.wholeAt);
  EXPECT_FALSE(inner.isReduced); // by a weight only
  EXPECT_FALSE(inner.isOutput);
  EXPECT_TRUE(classes[classes.find(down)].isOutput);
}

TEST(DimClasses, TheFirstCallThatNeedsItWhole) {
  GraphOf builder;
  size_t x = builder.input();
  builder.linear("a", x);
  builder.norm("norm", x);
  builder.norm("later", x);
  EXPECT_EQ(DimClasses(builder.graph)[x].wholeAt, 1u);
}

TEST(DimClasses, OtherReductions) {
  GraphOf builder;
  size_t x = builder.input(), logits = builder.linear("head", x);
  builder.reduce(logits);
  DimClasses classes(builder.graph);
  EXPECT_TRUE(classes[classes.find(logits)].isReduced);
  EXPECT_THAT(classes[classes.find(logits)].contractedBy, IsEmpty());
}

TEST(DimClasses, RowsOfEmbeddings) {
  GraphOf builder;
  builder.embedding("embed");
  DimClasses classes(builder.graph);
  size_t rows = *builder.graph.weights[0].inputDim;
  EXPECT_THAT(classes[classes.find(rows)].lookedUpBy, ElementsAre(0));
  EXPECT_FALSE(classes[classes.find(rows)].isReduced);
}

static std::string whyLast(const GraphOf &builder, size_t behind = 0) {
  DimClasses classes(builder.graph);
  return whyWhole(builder.graph, classes, builder.graph.weights[builder.graph.weights.size() - 1 - behind]);
}

TEST(WhyWhole, WhatNeedsTheFeatures) {
  GraphOf builder;
  builder.whole("aten.topk.default", "h.3.router", builder.linear("h.3.gate", builder.input()));
  EXPECT_EQ(whyLast(builder), "'aten.topk.default' in 'h.*.router' needs the output features whole");
  size_t x = builder.input();
  builder.linear("down", x);
  builder.whole("aten.cumsum.default", "", x);
  EXPECT_EQ(whyLast(builder), "'aten.cumsum.default' needs the input features whole");
}

TEST(WhyWhole, WhatTheFeaturesAreNot) {
  GraphOf builder;
  builder.linear("alone", builder.input());
  EXPECT_EQ(whyLast(builder), "the features are not those of a pair of linear operators");
}

TEST(WhyWhole, Tables) {
  GraphOf builder;
  builder.embedding("positions", false);
  EXPECT_EQ(whyLast(builder), "the indices do not come from an input of the model");
}

TEST(WhyWhole, TablesThatAreLookedUp) {
  GraphOf builder;
  builder.embedding("words");
  EXPECT_EQ(whyLast(builder), "nothing reads it");
  builder.whole("aten.sort.default", "ranks", *builder.graph.weights[0].inputDim);
  EXPECT_EQ(whyLast(builder), "'aten.sort.default' in 'ranks' needs the input features whole") << "its rows";
}

TEST(WhyWhole, OfBothSidesTheOutputIsNamed) {
  GraphOf builder;
  size_t x = builder.input();
  builder.whole("aten.sort.default", "before", x);
  size_t y = builder.linear("w", x);
  EXPECT_EQ(whyLast(builder), "'aten.sort.default' in 'before' needs the input features whole");
  builder.whole("aten.topk.default", "after", y);
  EXPECT_EQ(whyLast(builder), "'aten.topk.default' in 'after' needs the output features whole");
}

TEST(WhyWhole, AWeightWithOneOfTheTwoDims) {
  for (bool isOutput : {true, false}) {
    GraphOf builder;
    builder.norm("ln", builder.input());
    (isOutput ? builder.graph.weights[0].outputDim : builder.graph.weights[0].inputDim) = 0;
    EXPECT_EQ(whyLast(builder), "no style splits a weight of 'aten.layer_norm.default'");
  }
}

TEST(WhyWhole, OtherWeights) {
  GraphOf builder;
  builder.norm("ln", builder.input());
  EXPECT_EQ(whyLast(builder), "no style splits a weight of 'aten.layer_norm.default'");
  builder.graph.weights[0].outputDim = builder.graph.weights[0].inputDim = 0;
  EXPECT_EQ(whyLast(builder), "'aten.layer_norm.default' reads it without an input of the model");
  builder.graph.weights[0].call = builder.graph.calls.size();
  EXPECT_EQ(whyLast(builder), "nothing reads it");
}
