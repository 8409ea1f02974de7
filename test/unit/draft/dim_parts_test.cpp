//===- dim_parts_test.cpp - dims that are several parts side by side ------===//

#include "compiler/draft/dim_parts.h"
#include "test/unit/draft/graph_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(PartsOfDims, ReachTheWeight) {
  GraphOf builder;
  size_t fused = builder.linear("qkv", builder.input(), 32);
  size_t heads = builder.parts("aten.split.Tensor", "attn", builder.together(fused, builder.newDim(32)), {16, 8, 8});
  builder.linear("proj", heads);
  std::vector<std::vector<int64_t>> parts = partsOfDims(builder.graph);
  EXPECT_THAT(parts[fused], ElementsAre(16, 8, 8));
  EXPECT_THAT(parts[heads], IsEmpty()); // of another extent
  EXPECT_THAT(parts[*builder.graph.weights[0].inputDim], IsEmpty());
}

TEST(PartsOfDims, WhatIsSaidFirstHolds) {
  GraphOf builder;
  size_t fused = builder.linear("qkv", builder.input(), 32);
  builder.parts("aten.split.Tensor", "", fused, {16, 16});
  builder.parts("aten.split.Tensor", "", fused, {24, 8});
  EXPECT_THAT(partsOfDims(builder.graph)[fused], ElementsAre(16, 16));
}

TEST(PartsOfDims, CountedHeadsArePartsOfTheFeatures) {
  GraphOf builder;
  size_t fused = builder.linear("qkv", builder.input(), 40), heads = builder.newDim(10);
  builder.together(fused, heads);
  builder.parts("aten.split_with_sizes.default", "attn", heads, {8, 1, 1});
  EXPECT_THAT(partsOfDims(builder.graph)[fused], ElementsAre(32, 4, 4));
  GraphOf equal;
  size_t halves = equal.linear("qk", equal.input(), 40), pairs = equal.newDim(10);
  equal.together(halves, pairs);
  equal.parts("aten.split_with_sizes.default", "attn", pairs, {5, 5});
  EXPECT_THAT(partsOfDims(equal.graph)[halves], IsEmpty()) << "two equal parts number an index of two";
}
