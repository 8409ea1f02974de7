//===- dim_parts_test.cpp - dims of several parts -------------------------===//

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
  EXPECT_THAT(parts[heads], IsEmpty()); // another extent
  EXPECT_THAT(parts[*builder.graph.weights[0].inputDim], IsEmpty());
}

TEST(PartsOfDims, AllThatIsSaidHolds) {
  GraphOf builder;
  size_t fused = builder.linear("qkv", builder.input(), 32);
  builder.parts("aten.split.Tensor", "", fused, {16, 16});
  builder.parts("aten.split.Tensor", "", fused, {24, 8});
  EXPECT_THAT(partsOfDims(builder.graph)[fused], ElementsAre(16, 8, 8));
}

TEST(PartsOfDims, OfParts) {
  GraphOf builder; // a state space layer: a gate, then features that a convolution mixes and the model splits again
  size_t fused = builder.linear("in", builder.input(), 44);
  size_t gate = builder.parts("aten.split_with_sizes.default", "", fused, {16, 24, 4}), mixed = gate + 1;
  size_t convolved = builder.together(builder.newDim(24), mixed);
  builder.parts("aten.split_with_sizes.default", "", convolved, {16, 4, 4});
  std::vector<std::vector<int64_t>> parts = partsOfDims(builder.graph);
  EXPECT_THAT(parts[fused], ElementsAre(16, 16, 4, 4, 4));
  EXPECT_THAT(parts[mixed], ElementsAre(16, 4, 4));
  EXPECT_THAT(parts[gate], IsEmpty());
}

TEST(PartsOfDims, AreNotThoseOfAKeyHeadThatAllRanksHold) {
  GraphOf builder;
  size_t fused = builder.linear("qkv", builder.input(), 24);
  size_t queries = builder.parts("aten.split_with_sizes.default", "", fused, {16, 8});
  builder.graph.links[builder.graph.parts[0].links[1]].dims = {queries + 1};
  builder.parts("aten.chunk.default", "", queries + 1, {4, 4});
  EXPECT_THAT(partsOfDims(builder.graph)[fused], ElementsAre(16, 8));
}

TEST(PartsOfDims, ReachThePartsOfAJoinedDim) {
  GraphOf builder;
  size_t joined = builder.newDim(24), first = builder.parts("aten.cat.default", "", joined, {16, 8});
  builder.parts("aten.split.Tensor", "", builder.together(builder.newDim(24), joined), {8, 16});
  std::vector<std::vector<int64_t>> parts = partsOfDims(builder.graph);
  EXPECT_THAT(parts[first], ElementsAre(8, 8));
  EXPECT_THAT(parts[first + 1], IsEmpty());
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
  EXPECT_THAT(partsOfDims(equal.graph)[halves], ElementsAre(20, 20));
  GraphOf single;
  size_t both = single.linear("qk", single.input(), 40), two = single.newDim(2);
  single.together(both, two);
  single.parts("aten.unbind.int", "attn", two, {1, 1});
  EXPECT_THAT(partsOfDims(single.graph)[both], IsEmpty()) << "parts of one number an index";
}
