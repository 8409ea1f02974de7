//===- why_whole_test.cpp - why a weight cannot be sharded ----------------===//

#include "compiler/draft/why_whole.h"
#include "test/unit/draft/graph_of.h"
#include "gtest/gtest.h"

using namespace meshplan;
using Role = WeightUse::Role;

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
