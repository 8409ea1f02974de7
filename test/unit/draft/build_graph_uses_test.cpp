//===- build_graph_uses_test.cpp - uses of weights ------------------------===//

#include "compiler/draft/build_graph.h"
#include "test/unit/report/explain/plan_module.h"

using namespace meshplan;
using testing::ElementsAre;

namespace {

/// "head linear 0 1": module, role, and the numbers of the output and of the input dim of the parameter.
std::vector<std::string> usesOf(const FeatureGraph &graph) {
  static constexpr const char *roles[] = {" linear", " embedding", " other"};
  auto numberOf = [](const WeightUse &use, std::optional<size_t> dim) {
    return dim ? " " + std::to_string(*dim - use.dims.front()) : std::string(" -");
  };
  std::vector<std::string> texts;
  for (const WeightUse &use : graph.weights)
    texts.push_back(use.module + roles[static_cast<size_t>(use.role)] + numberOf(use, use.outputDim) +
                    numberOf(use, use.inputDim));
  return texts;
}

/// A product of x [6, 8] and a weight [12, 8], in `attn.q`.
constexpr const char *oneLinear = R"(
func.func @forward(%w: tensor<12x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                   %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<6x12xf32> {
  %y = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "attn.q"
      : (tensor<6x8xf32>, tensor<12x8xf32>) -> tensor<6x12xf32>
  return %y : tensor<6x12xf32>
}
)";

/// Its graph if the weight has these names and readers.
FeatureGraph graphOfLinear(const std::vector<std::string> &modules, const std::vector<size_t> &names,
                           std::vector<size_t> readers) {
  PlanModule module(oneLinear);
  ModelOutline model;
  for (const std::string &path : modules)
    model.modules.push_back({path, ""});
  OutlineParameter &parameter = model.parameters.emplace_back();
  for (size_t name : names)
    parameter.names.push_back({name, "weight"});
  parameter.readers = std::move(readers);
  parameter.shape = {12, 8};
  return buildFeatureGraph(module.function(), model);
}

} // namespace

TEST(BuildGraph, AWeightOfAModuleWithoutOperatorsIsReadAroundIt) {
  EXPECT_THAT(usesOf(graphOfLinear({"attn.q", "attn.q.out"}, {1}, {0})), ElementsAre("attn.q.out linear 0 1"));
}

TEST(BuildGraph, ATiedWeightHasAUseInEachModule) {
  PlanModule module(R"(
func.func @forward(
    %w: tensor<32x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["embed.weight", "head.weight"]},
    %ids: tensor<6xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"]}) -> tensor<6x32xf32> {
  %x = plan.call "aten.embedding.default"(%w, %ids) {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<32x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
  %y = plan.call "aten.linear.default"(%x, %w) {input = #base.operand<0>, weight = #base.operand<1>} in "head"
      : (tensor<6x8xf32>, tensor<32x8xf32>) -> tensor<6x32xf32>
  return %y : tensor<6x32xf32>
}
)");
  ModelOutline model;
  model.modules = {{"", ""}, {"head", ""}, {"embed", ""}};
  model.parameters = {{{{2, "weight"}, {1, "weight"}}, {1, 2}, {32, 8}}};
  FeatureGraph graph = buildFeatureGraph(module.function(), model);
  // The table looks up its rows and produces columns; the head contracts columns and produces rows. In program order.
  EXPECT_THAT(usesOf(graph), ElementsAre("embed embedding 1 0", "head linear 0 1"));
  EXPECT_EQ(graph.weights[0].parameter, graph.weights[1].parameter);
  EXPECT_EQ(graph.weights[0].dims, graph.weights[1].dims);
  EXPECT_EQ(graph.weights[0].call, 0u);
  EXPECT_EQ(graph.weights[1].call, 1u);
}

TEST(BuildGraph, AModuleThatOnlyHoldsATiedWeightHasNoUse) {
  EXPECT_THAT(usesOf(graphOfLinear({"", "holder", "attn.q"}, {1, 2}, {2})), ElementsAre("attn.q linear 0 1"));
  EXPECT_THAT(usesOf(graphOfLinear({"", "holder", "attn.q"}, {1}, {2})), ElementsAre("attn.q linear 0 1"))
      << "it is enough to read it";
  EXPECT_THAT(usesOf(graphOfLinear({"", "holder", "other"}, {1, 2}, {})),
              ElementsAre("holder other - -", "other other - -"))
      << "if none uses it, all are told of";
}

TEST(BuildGraph, AModuleAroundTheHolderIsNotTheOneThatIsMeant) {
  EXPECT_THAT(usesOf(graphOfLinear({"", "attn", "attn.q"}, {2}, {0, 1, 2})), ElementsAre("attn.q linear 0 1"));
  // "att" is not a module around "attn.q", and it does not read the weight.
  EXPECT_THAT(usesOf(graphOfLinear({"", "att", "attn.q"}, {2}, {1})), ElementsAre("attn.q linear 0 1"));
  // The calls of `attn.q` are also calls of `attn`, which owns the weight here.
  EXPECT_THAT(usesOf(graphOfLinear({"", "attn", "attn.q"}, {1}, {1})), ElementsAre("attn linear 0 1"));
}

TEST(BuildGraph, AWeightThatNobodyReads) {
  PlanModule module(R"(
func.func @forward(%w: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                   %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<6x8xf32> {
  %y = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
)");
  ModelOutline model;
  model.modules = {{"", ""}};
  model.parameters = {{{{0, "w"}}, {}, {8}}};
  FeatureGraph graph = buildFeatureGraph(module.function(), model);
  EXPECT_THAT(usesOf(graph), ElementsAre(" other - -"));
  EXPECT_EQ(graph.weights[0].call, graph.calls.size());
}

TEST(BuildGraph, AWeightMeetsTheActivationBehindItsRearrangements) {
  PlanModule module(R"(
func.func @forward(%g: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["g"]},
                   %idle: tensor<8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["idle"]},
                   %x: tensor<6x8xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]}) -> tensor<6x8xf32> {
  %a = plan.call "aten.view.default"(%idle) {self = #base.operand<0>, size = [8, 1]} : (tensor<8xf32>) -> tensor<8x1xf32>
  %b = plan.call "aten.view.default"(%g) {self = #base.operand<0>, size = [1, 8]} : (tensor<8xf32>) -> tensor<1x8xf32>
  %c = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %y = plan.call "aten.mul.Tensor"(%c, %b) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<6x8xf32>, tensor<1x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
)");
  ModelOutline model;
  model.modules = {{"", ""}};
  model.parameters = {{{{0, "g"}}, {0}, {8}}, {{{0, "idle"}}, {0}, {8}}};
  FeatureGraph graph = buildFeatureGraph(module.function(), model);
  ASSERT_EQ(graph.weights.size(), 2u);
  EXPECT_EQ(graph.weights[0].parameter, 1u);
  EXPECT_EQ(graph.weights[0].call, 0u) << "what is only rearranged meets nothing: its first reader counts";
  EXPECT_EQ(graph.weights[1].parameter, 0u);
  EXPECT_EQ(graph.weights[1].call, 3u) << "the multiplication, not the view";
}

TEST(BuildGraph, IndicesThatComeFromAnInput) {
  // The input itself, a value computed from it, and a buffer.
  const std::pair<const char *, bool> cases[] = {{"%ids", true}, {"%next", true}, {"%own", false}, {"%ownNext", false}};
  for (auto [indices, looksUpInput] : cases) {
    PlanModule module(std::string(R"(
func.func @forward(%w: tensor<32x8xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["w"]},
                   %own: tensor<6xi64> {plan.kind = #plan.kind<buffer>, plan.names = ["own"]},
                   %ids: tensor<6xi64> {plan.kind = #plan.kind<input>, plan.names = ["ids"]}) -> tensor<6x8xf32> {
  %next = plan.call "aten.add.Tensor"(%own, %ids) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %ownNext = plan.call "aten.add.Tensor"(%own, %own) {self = #base.operand<0>, other = #base.operand<1>}
      : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %y = plan.call "aten.embedding.default"(%w, )") +
                      indices + R"() {weight = #base.operand<0>, indices = #base.operand<1>} in "embed"
      : (tensor<32x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
)");
    ModelOutline model;
    model.modules = {{"embed", ""}};
    model.parameters = {{{{0, "weight"}}, {0}, {32, 8}}};
    FeatureGraph graph = buildFeatureGraph(module.function(), model);
    ASSERT_EQ(graph.weights.size(), 1u);
    EXPECT_EQ(graph.weights[0].looksUpInput, looksUpInput) << indices;
  }
}

TEST(BuildGraph, AWeightOfExpertsNamesTheModuleThatComputesTheirRows) {
  PlanModule module(R"(
func.func @forward(
    %w: tensor<4x10x16xf32> {plan.kind = #plan.kind<parameter>, plan.names = ["mlp.experts.w"]},
    %x: tensor<6x16xf32> {plan.kind = #plan.kind<input>, plan.names = ["x"]},
    %i: tensor<6x2xi64> {plan.kind = #plan.kind<input>, plan.names = ["i"]}) -> tensor<6x10xf32> {
  %table, %counts = plan.call "meshplan.route"(%i) {indices = #base.operand<0>, first = 0 : i64, experts = 4 : i64}
      in "mlp" : (tensor<6x2xi64>) -> (tensor<4x6xi64>, tensor<4x6xi64>)
  %0 = plan.call "meshplan.dispatch"(%x, %table) {self = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64}
      in "mlp" : (tensor<6x16xf32>, tensor<4x6xi64>) -> tensor<4x6x16xf32>
  %1 = plan.call "meshplan.grouped_linear"(%0, %w, %counts) {rows = #base.operand<0>, weight = #base.operand<1>,
      counts = #base.operand<2>, transposed = false} in "mlp.experts"
      : (tensor<4x6x16xf32>, tensor<4x10x16xf32>, tensor<4x6xi64>) -> tensor<4x6x10xf32>
  %2 = plan.call "meshplan.combine"(%1, %table) {rows = #base.operand<0>, table = #base.operand<1>, slots = 2 : i64,
      size = [6, 10]} in "mlp" : (tensor<4x6x10xf32>, tensor<4x6xi64>) -> tensor<6x10xf32>
  return %2 : tensor<6x10xf32>
}
)");
  auto expertsOf = [&](const std::string &holder) {
    ModelOutline model;
    model.modules = {{"", ""}, {holder, ""}};
    model.parameters = {{{{1, "w"}}, {}, {4, 10, 16}}};
    return buildFeatureGraph(module.function(), model).weights.front().expertsOf;
  };
  EXPECT_EQ(expertsOf("mlp.experts"), "mlp.experts");
  EXPECT_EQ(expertsOf("mlp"), "mlp") << "a module around its operators";
  EXPECT_EQ(expertsOf("mlp.store"), "mlp.experts");
  EXPECT_EQ(graphOfLinear({"attn.q"}, {0}, {}).weights.front().expertsOf, std::nullopt);
}
