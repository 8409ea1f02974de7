//===- build_graph_test.cpp - the feature graph of a program --------------===//

#include "compiler/draft/build_graph.h"
#include "compiler/draft/dim_classes.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;
using Role = WeightUse::Role;

namespace {

/// An embedding, two heads of 4 columns from a reshape, and a projection back.
class BuildGraphTest : public testing::Test {
protected:
  BuildGraphTest() {
    model.modules = {{"", ""}, {"embed", ""}, {"q", ""}, {"o", ""}};
    model.parameters = {
        {{{1, "weight"}}, {1}, {32, 8}}, {{{2, "weight"}}, {2}, {8, 8}}, {{{3, "weight"}}, {3}, {8, 8}}};
    graph = buildFeatureGraph(module.function(), model);
  }

  PlanModule module{R"(
func.func @forward(
    %table: tensor<32x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight"]},
    %q: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["q.weight"]},
    %o: tensor<8x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["o.weight"]},
    %ids: tensor<6xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"]}) -> tensor<6x8xf32> {
  %x = plan.call "aten.embedding.default"(%table, %ids) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<32x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
  %h = plan.call "aten.linear.default"(%x, %q) {input = #base.operand<0>, weight = #base.operand<1>} in "q"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %v = plan.call "aten.view.default"(%h) {self = #base.operand<0>, size = [6, 2, 4]} : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %s = plan.call "aten.softmax.int"(%v) {self = #base.operand<0>, dim = 2 : i64} : (tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
  %w = plan.call "aten.view.default"(%s) {self = #base.operand<0>, size = [6, 8]} : (tensor<6x2x4xf32>) -> tensor<6x8xf32>
  %y = plan.call "aten.linear.default"(%w, %o) {input = #base.operand<0>, weight = #base.operand<1>} in "o"
      : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
)"};
  ModelOutline model;
  FeatureGraph graph;
};

} // namespace

TEST_F(BuildGraphTest, WeightsKnowTheirFeatures) {
  ASSERT_EQ(graph.weights.size(), 3u);
  EXPECT_EQ(graph.weights[0].role, Role::embedding);
  EXPECT_TRUE(graph.weights[0].looksUpInput);
  EXPECT_EQ(graph.weights[0].inputDim, graph.weights[0].dims[0]); // the rows
  EXPECT_EQ(graph.weights[1].role, Role::linear);
  EXPECT_EQ(graph.weights[1].module, "q");
  EXPECT_EQ(graph.weights[1].outputDim, graph.weights[1].dims[0]);
  EXPECT_EQ(graph.weights[1].inputDim, graph.weights[1].dims[1]);
  EXPECT_EQ(graph.calls[graph.weights[2].call].module, "o");
}

TEST_F(BuildGraphTest, HeadsAreDividedThroughTheirReshapes) {
  DimClasses classes(graph);
  size_t heads = classes.find(*graph.weights[1].outputDim);
  EXPECT_EQ(heads, classes.find(*graph.weights[2].inputDim));
  // The softmax over the columns of a head does not matter to the heads.
  EXPECT_FALSE(classes[heads].wholeAt);
  // The hidden features leave the model.
  EXPECT_TRUE(classes[classes.find(*graph.weights[2].outputDim)].isOutput);
}

TEST_F(BuildGraphTest, PartsAreDividedTogether) {
  PlanModule split(R"(
func.func @forward(%x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<6x8xf32> {
  %p:3 = plan.call "aten.split_with_sizes.default"(%x) {self = #base.operand<0>, split_sizes = [4, 2, 2], dim = 1 : i64}
      : (tensor<6x8xf32>) -> (tensor<6x4xf32>, tensor<6x2xf32>, tensor<6x2xf32>)
  %y = plan.call "aten.cat.default"(%p#0, %p#1, %p#2) {tensors = [#base.operand<0>, #base.operand<1>, #base.operand<2>], dim = 1 : i64}
      : (tensor<6x4xf32>, tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
)");
  FeatureGraph own = buildFeatureGraph(split.function(), {});
  ASSERT_EQ(own.parts.size(), 2u);
  EXPECT_EQ(own.parts[0].sizes, (std::vector<int64_t>{4, 2, 2}));
  DimClasses classes(own);
  EXPECT_EQ(classes.find(own.parts[0].dim), classes.find(own.parts[1].dim));
  EXPECT_EQ(own.extents[own.parts[0].dim], 8);
}

TEST_F(BuildGraphTest, PartsThatAViewCountsAreDividedTogether) {
  auto graphOf = [](const std::string &reader) {
    PlanModule counted(R"(
func.func @forward(%x: tensor<6x24xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<6x2x4xf32> {
  %v = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [6, 3, 2, 4]}
      : (tensor<6x24xf32>) -> tensor<6x3x2x4xf32>
  %t = plan.call "aten.permute.default"(%v) {self = #base.operand<0>, dims = [1, 0, 2, 3]}
      : (tensor<6x3x2x4xf32>) -> tensor<3x6x2x4xf32>
  )" + reader + R"(
  return %y : tensor<6x2x4xf32>
}
)");
    return buildFeatureGraph(counted.function(), {});
  };
  FeatureGraph apart = graphOf(R"(%y = plan.call "aten.select.int"(%t) {self = #base.operand<0>, dim = -4, index = 1}
      : (tensor<3x6x2x4xf32>) -> tensor<6x2x4xf32>)");
  ASSERT_EQ(apart.parts.size(), 1u);
  EXPECT_EQ(apart.parts[0].sizes, (std::vector<int64_t>{8, 8, 8}));
  DimClasses classes(apart);
  EXPECT_EQ(classes.find(apart.parts[0].dim), classes.find(apart.outputDims[1])) << "the heads of each part";
  EXPECT_FALSE(classes[classes.find(apart.parts[0].dim)].wholeAt);
  FeatureGraph together = graphOf(R"(%y = plan.call "aten.sum.dim_IntList"(%t) {self = #base.operand<0>, dim = [0]}
      : (tensor<3x6x2x4xf32>) -> tensor<6x2x4xf32>)");
  EXPECT_TRUE(together.parts.empty());
}

TEST_F(BuildGraphTest, HeadsThatASplitSharesOutAreNoParts) {
  PlanModule fused(R"(
func.func @forward(%x: tensor<6x24xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<6x4x4xf32> {
  %v = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [6, 6, 4]} : (tensor<6x24xf32>) -> tensor<6x6x4xf32>
  %h:3 = plan.call "aten.split_with_sizes.default"(%v) {self = #base.operand<0>, split_sizes = [4, 1, 1], dim = 1}
      : (tensor<6x6x4xf32>) -> (tensor<6x4x4xf32>, tensor<6x1x4xf32>, tensor<6x1x4xf32>)
  return %h#0 : tensor<6x4x4xf32>
}
)");
  FeatureGraph own = buildFeatureGraph(fused.function(), {});
  DimClasses classes(own);
  EXPECT_EQ(classes.find(own.outputDims[1]), classes.find(1)) << "heads, not the features of each";
  ASSERT_EQ(own.parts.size(), 1u);
  EXPECT_EQ(own.parts[0].sizes, (std::vector<int64_t>{4, 1, 1}));
}

TEST_F(BuildGraphTest, OfGroupsTheActivationComesLast) {
  PlanModule grouped(R"(
func.func @forward(%w: tensor<8x2x3xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                   %x: tensor<6x8x5xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<6x8x3xf32> {
  %y = plan.call "aten.conv1d.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>, groups = 4}
      : (tensor<6x8x5xf32>, tensor<8x2x3xf32>) -> tensor<6x8x3xf32>
  return %y : tensor<6x8x3xf32>
}
)");
  FeatureGraph own = buildFeatureGraph(grouped.function(), {});
  auto channels = llvm::find_if(own.links, [](const DimLink &link) { return link.activations > 0; });
  ASSERT_NE(channels, own.links.end());
  EXPECT_EQ(channels->dims, (std::vector<size_t>{0, 7, 4})) << "of the weight, the result and the activation";
  EXPECT_EQ(channels->activations, 1u);
  EXPECT_EQ(DimClasses(own).find(4), DimClasses(own).find(7));
  EXPECT_NE(DimClasses(own, /*beginsAtGroups=*/true).find(4), DimClasses(own, true).find(7));
}

TEST_F(BuildGraphTest, WholeResultsAreFree) {
  PlanModule reshape(R"(
func.func @forward(%x: tensor<12xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<3x4xf32> {
  %y = plan.call "aten.view.default"(%x) {self = #base.operand<0>, size = [3, 4]} : (tensor<12xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
)");
  FeatureGraph own = buildFeatureGraph(reshape.function(), {});
  ASSERT_EQ(own.links.size(), 2u);
  EXPECT_EQ(own.links[0].kind, DimLink::Kind::together);
  EXPECT_EQ(own.links[1].kind, DimLink::Kind::made); // columns of a matrix whose rows are sharded
  EXPECT_FALSE(DimClasses(own)[own.outputDims[1]].wholeAt);
}

//===----------------------------------------------------------------------===//
// Dims that a call shards together
//===----------------------------------------------------------------------===//

namespace {

/// The graph of one call from x to the result, and the classes of its dims.
struct OneCall {
  OneCall(const std::string &type, const std::string &call, const std::string &resultType)
      : module("func.func @forward(%x: " + type + " {plan.kind = #plan.kind<input>, plan.names = [\"x\"]}) -> " +
               resultType + " {\n  %y = plan.call " + call + " : (" + type + ") -> " + resultType +
               "\n  return %y : " + resultType + "\n}\n"),
        graph(buildFeatureGraph(module.function(), {})), classes(graph) {}

  const DimClass &operator[](size_t dim) const { return classes[classes.find(dim)]; }
  bool areTogether(size_t left, size_t right) const { return classes.find(left) == classes.find(right); }

  PlanModule module;
  FeatureGraph graph;
  DimClasses classes;
};

} // namespace

TEST(BuildGraph, OfMergedDimsTheMajorOneIsDivided) {
  // Dims 0, 1, 2 of x are 6, 2, 4; of the result, 3 and 4 are 6 and 8.
  OneCall merge("tensor<6x2x4xf32>", R"("aten.view.default"(%x) {self = #base.operand<0>, size = [6, 8]})",
                "tensor<6x8xf32>");
  EXPECT_TRUE(merge.areTogether(0, 3));
  EXPECT_TRUE(merge.areTogether(1, 4));
  EXPECT_FALSE(merge[1].wholeAt);
  EXPECT_FALSE(merge.areTogether(2, 4));
  EXPECT_EQ(merge[2].wholeAt, 0u) << "the columns of a head cannot be told from the heads after it";
}

TEST(BuildGraph, DimsOfOneElementAreNoMajorOnes) {
  OneCall merge("tensor<6x1x8xf32>", R"("aten.view.default"(%x) {self = #base.operand<0>, size = [6, 8]})",
                "tensor<6x8xf32>");
  EXPECT_TRUE(merge.areTogether(2, 4));
  EXPECT_FALSE(merge[2].wholeAt);
}

TEST(BuildGraph, SumsAndWhatNeedsAll) {
  OneCall sum("tensor<6x8xf32>", R"("aten.sum.dim_IntList"(%x) {self = #base.operand<0>, dim = [1], keepdim = false})",
              "tensor<6xf32>");
  EXPECT_TRUE(sum[1].isReduced);
  EXPECT_FALSE(sum[1].wholeAt);
  EXPECT_FALSE(sum[0].isReduced);
  EXPECT_TRUE(sum.areTogether(0, 2));
  EXPECT_TRUE(sum[2].isOutput);
  EXPECT_FALSE(sum[1].isOutput);
  OneCall softmax("tensor<6x8xf32>", R"("aten.softmax.int"(%x) {self = #base.operand<0>, dim = 1 : i64})",
                  "tensor<6x8xf32>");
  EXPECT_EQ(softmax[1].wholeAt, 0u);
  EXPECT_FALSE(softmax[1].isReduced);
  EXPECT_FALSE(softmax[0].wholeAt);
}

// Two query heads, a key head and a value head of 4 in one weight: the single heads are replicated.
TEST(BuildGraph, TheOnlyKeyHeadLeavesTheQueriesBesideItDivided) {
  PlanModule module(R"(
func.func @forward(%x: tensor<2x6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
                   %w: tensor<16x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["qkv.weight"]})
    -> tensor<2x2x6x4xf32> {
  %qkv = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "qkv"
      : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
  %0:3 = plan.call "aten.split_with_sizes.default"(%qkv)
      {self = #base.operand<0>, split_sizes = array<i64: 8, 4, 4>, dim = 2 : i64}
      : (tensor<2x6x16xf32>) -> (tensor<2x6x8xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>)
  %1 = plan.call "aten.view.default"(%0#0) {self = #base.operand<0>, size = array<i64: 2, 6, 2, 4>}
      : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
  %q = plan.call "aten.transpose.int"(%1) {self = #base.operand<0>, dim0 = 1 : i64, dim1 = 2 : i64}
      : (tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
  %k = plan.call "aten.unsqueeze.default"(%0#1) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %v = plan.call "aten.unsqueeze.default"(%0#2) {self = #base.operand<0>, dim = 1 : i64}
      : (tensor<2x6x4xf32>) -> tensor<2x1x6x4xf32>
  %out:2 = plan.call "meshplan.attention"(%q, %k, %v)
      {query = #base.operand<0>, key = #base.operand<1>, value = #base.operand<2>, scale = 0.5 : f64}
      : (tensor<2x2x6x4xf32>, tensor<2x1x6x4xf32>, tensor<2x1x6x4xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x2x6xf32>)
  return %out#0 : tensor<2x2x6x4xf32>
}
)");
  FeatureGraph graph = buildFeatureGraph(module.function(), {});
  DimClasses classes(graph);
  // Dims 0 to 4 are those of x and w; then come the features of `qkv` and of its three parts.
  const size_t rows = 3, features = 7, queries = 10, key = 13;
  EXPECT_EQ(classes.find(rows), classes.find(features));
  EXPECT_EQ(classes.find(features), classes.find(queries));
  EXPECT_NE(classes.find(features), classes.find(key));
  EXPECT_FALSE(classes[classes.find(features)].wholeAt);
  EXPECT_TRUE(classes[classes.find(key)].wholeAt);
  ASSERT_EQ(graph.parts.size(), 1u);
  EXPECT_EQ(graph.parts[0].dim, features);
  EXPECT_EQ(graph.parts[0].sizes, (std::vector<int64_t>{8, 4, 4}));
}
