//===- explain_test.cpp - why a tensor has its layout ---------------------===//

#include "compiler/report/explain/explain.h"
#include "test/unit/report/explain/plan_module.h"
#include "gtest/gtest.h"

using namespace meshplan;
using Border = ExplainTarget::Border;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Two layers: `norm` and `up` are in layer 0 only, `down` is in both.
class ExplainTest : public testing::Test {
protected:
  ExplainTest() { sources.add("a.plan", "norm: sequence tp\nlay:  colwise tp\nlay:  rowwise tp\n\n\n\n\n\nx\n"); }

  std::optional<Explanation> tryExplain(llvm::StringRef text) {
    diagnostics = Diagnostics(sources);
    std::optional<ExplainTarget> target = parseTarget(text);
    EXPECT_TRUE(target) << text.str();
    return meshplan::explain(module.get(), *target, paths, diagnostics);
  }

  Explanation explain(llvm::StringRef text) {
    std::optional<Explanation> explanation = tryExplain(text);
    EXPECT_TRUE(explanation) << diagnostics.text();
    return explanation.value_or(Explanation());
  }

  /// The message of the only error and its help.
  std::string refusal(llvm::StringRef text) {
    EXPECT_FALSE(tryExplain(text)) << text.str();
    if (diagnostics.all().size() != 1)
      return diagnostics.text();
    const Diagnostic &error = diagnostics.all()[0];
    return error.message + (error.helps.empty() ? "" : "; help: " + error.helps.front());
  }

  static std::string textOf(const End &end) { return end.what + " in '" + end.name + "' " + end.layout; }

  static std::vector<std::string> textsOf(const std::vector<End> &ends) {
    std::vector<std::string> texts;
    for (const End &end : ends)
      texts.push_back(textOf(end));
    return texts;
  }

  /// "reduce_scatter layers.0.down x2", with the module that computed the moved value.
  static std::vector<std::string> reshardsOf(const Explanation &explanation) {
    std::vector<std::string> texts;
    for (const ReshardExplanation &reshard : explanation.reshards)
      texts.push_back(reshard.steps.front().kind + " " + reshard.producer.name + " x" + std::to_string(reshard.count));
    return texts;
  }

  static std::vector<std::string> membersOf(const std::vector<MemberExplanation> &members) {
    std::vector<std::string> texts;
    for (const MemberExplanation &member : members)
      texts.push_back((member.name.empty() ? textOf(member.ends.front()) : member.name) + " x" +
                      std::to_string(member.count));
    return texts;
  }

  PlanModule module{twoLayers};
  std::vector<std::string> paths{
      "", "layers.0", "layers.0.norm", "layers.0.up", "layers.0.down", "layers.1", "layers.1.down", "x", "y"};
  Sources sources;
  Diagnostics diagnostics{sources};
};

} // namespace

TEST_F(ExplainTest, AParameter) {
  Explanation parameter = explain("layers.0.down.weight");
  EXPECT_EQ(parameter.kind, "parameter");
  EXPECT_EQ(parameter.path, "layers.0.down.weight");
  EXPECT_THAT(parameter.names, ElementsAre("layers.0.down.weight"));
  ASSERT_TRUE(parameter.tensor);
  EXPECT_EQ(parameter.tensor->layout, "[8, 12 over tp]");
  EXPECT_EQ(parameter.statement.text, "rowwise tp");
  EXPECT_EQ(parameter.statement.range.line, 3);
  EXPECT_THAT(reshardsOf(parameter), ElementsAre("reduce_scatter layers.0.down x1")) << "not that of the other layer";
  EXPECT_THAT(parameter.ends, IsEmpty());
}

TEST_F(ExplainTest, AParameterThatCausesNothing) {
  Explanation norm = explain("layers.0.norm.weight");
  EXPECT_EQ(norm.tensor->layout, "[8]");
  EXPECT_EQ(norm.statement.text, "sequence tp");
  EXPECT_THAT(norm.reshards, IsEmpty());
}

TEST_F(ExplainTest, AnInputIsMeantBeforeAModuleOfItsName) {
  Explanation input = explain("x");
  EXPECT_EQ(input.kind, "input");
  EXPECT_THAT(input.names, ElementsAre("x"));
  EXPECT_EQ(input.tensor->layout, "[2, 6 over tp, 8]");
  EXPECT_EQ(input.statement.range.line, 9);
}

TEST_F(ExplainTest, AnOutputGivesWayToAModuleOfItsName) {
  EXPECT_EQ(explain("y").kind, "module");
  paths.pop_back();
  Explanation output = explain("y");
  EXPECT_EQ(output.kind, "output");
  EXPECT_EQ(output.tensor->layout, "[2, 6 over tp, 8]");
  EXPECT_THAT(textsOf(output.ends), ElementsAre("aten.add.Tensor in 'layers.1' [2, 6 over tp, 8]"));
  EXPECT_THAT(output.reshards, IsEmpty()) << "nothing moves between the last addition and the output";
}

TEST_F(ExplainTest, AModule) {
  Explanation layer = explain("layers.0");
  EXPECT_EQ(layer.kind, "module");
  EXPECT_FALSE(layer.tensor);
  EXPECT_THAT(membersOf(layer.parameters),
              ElementsAre("layers.0.norm.weight x1", "layers.0.up.weight x1", "layers.0.down.weight x1"));
  EXPECT_EQ(layer.parameters[1].statement.text, "colwise tp");
  EXPECT_THAT(membersOf(layer.inputs), ElementsAre("input in 'x' [2, 6 over tp, 8] x1"));
  ASSERT_EQ(layer.outputs.size(), 2u);
  EXPECT_THAT(textsOf(layer.outputs[0].ends), ElementsAre("aten.linear.default in 'layers.1.down' [2, 6, 12 over tp]"));
  EXPECT_THAT(textsOf(layer.outputs[1].ends), ElementsAre("aten.add.Tensor in 'layers.1' [2, 6 over tp, 8]"));
  EXPECT_THAT(reshardsOf(layer), ElementsAre("all_gather layers.0.norm x1", "reduce_scatter layers.0.down x1"));
}

TEST_F(ExplainTest, EqualLayersAreSaidOnce) {
  Explanation root = explain(":input[0]");
  EXPECT_EQ(root.kind, "module input");
  ExplainTarget whole;
  std::optional<Explanation> all = meshplan::explain(module.get(), whole, paths, diagnostics);
  ASSERT_TRUE(all);
  EXPECT_THAT(membersOf(all->parameters),
              ElementsAre("layers.0.norm.weight x1", "layers.0.up.weight x1", "layers.*.down.weight x2"));
  EXPECT_THAT(reshardsOf(*all), ElementsAre("all_gather layers.0.norm x1", "reduce_scatter layers.0.down x2"))
      << "two layers scatter the same bytes for the same reason, described as the first";
}

TEST_F(ExplainTest, LayersOfTwoStatementsStayApart) {
  // Layer 1 has its own line with the same words.
  std::string text = twoLayers;
  size_t at = text.rfind("\"a.plan\":3:7", text.find("%n = "));
  text.replace(at, std::string("\"a.plan\":3:7").size(), "\"a.plan\":4:7");
  PlanModule other(text);
  ExplainTarget whole;
  std::optional<Explanation> all = meshplan::explain(other.get(), whole, paths, diagnostics);
  ASSERT_TRUE(all);
  EXPECT_THAT(membersOf(all->parameters), ElementsAre("layers.0.norm.weight x1", "layers.0.up.weight x1",
                                                      "layers.0.down.weight x1", "layers.1.down.weight x1"));
}

TEST_F(ExplainTest, AnInputOfAModuleAsItArrivesAndAsItIsTaken) {
  Explanation up = explain("layers.0.up:input[0]");
  EXPECT_EQ(up.kind, "module input");
  EXPECT_EQ(up.path, "layers.0.up:input[0]");
  EXPECT_EQ(up.tensor->layout, "[2, 6, 8]");
  ASSERT_TRUE(up.arrives);
  EXPECT_EQ(up.arrives->layout, "[2, 6 over tp, 8]");
  EXPECT_THAT(textsOf(up.ends), ElementsAre("aten.mul.Tensor in 'layers.0.norm' [2, 6 over tp, 8]"));
  EXPECT_THAT(reshardsOf(up), ElementsAre("all_gather layers.0.norm x1"));
  Explanation norm = explain("layers.0.norm:input[0]");
  EXPECT_FALSE(norm.arrives) << "it is taken as it comes";
  EXPECT_THAT(norm.reshards, IsEmpty());
}

TEST_F(ExplainTest, AnOutputOfAModule) {
  Explanation down = explain("layers.0.down:output[0]");
  EXPECT_EQ(down.kind, "module output");
  EXPECT_EQ(down.path, "layers.0.down:output[0]");
  ASSERT_TRUE(down.tensor->partial);
  EXPECT_THAT(textsOf(down.ends), ElementsAre("aten.add.Tensor in 'layers.0' [2, 6 over tp, 8]"));
  EXPECT_THAT(reshardsOf(down), ElementsAre("reduce_scatter layers.0.down x1"));
  EXPECT_EQ(explain("layers.0:output[1]").tensor->layout, "[2, 6 over tp, 8]");
}

TEST_F(ExplainTest, BordersThatAreNotThere) {
  EXPECT_EQ(refusal("layers.0.up:input[1]"),
            "'layers.0.up' has 1 input; help: 'meshplan explain PLAN layers.0.up' lists them");
  EXPECT_EQ(refusal("layers.0:output[2]"),
            "'layers.0' has 2 outputs; help: 'meshplan explain PLAN layers.0' lists them");
  paths.push_back("unused");
  EXPECT_EQ(refusal(":output[1]"), "the root module has 1 output; help: 'meshplan explain PLAN \"\"' lists them");
  EXPECT_EQ(refusal("unused:input[0]"), "'unused' has no inputs; help: 'meshplan explain PLAN unused' lists them");
}

TEST_F(ExplainTest, OnlyModulesHaveBorders) {
  EXPECT_THAT(refusal("layers.0.up.weight:input[0]"),
              testing::StartsWith("the model has no module 'layers.0.up.weight'; help: "));
}

TEST_F(ExplainTest, NamesThatAreNotThere) {
  EXPECT_THAT(refusal("layers.0.up.wieght"),
              testing::StartsWith("the model has no module, parameter, input or output 'layers.0.up.wieght'; help: "));
  EXPECT_THAT(diagnostics.all()[0].helps[0], testing::HasSubstr("'layers.0.up.weight'"));
}

TEST(Explain, AnOutputThatIsGathered) {
  // Two steps of one reshard between the operator and the output; the input is also returned unchanged.
  PlanModule module(R"(
!both = tensor<4x8xf32, #plan.sharding<[{"dp"}, {"tp"}]>>
!rows = tensor<4x8xf32, #plan.sharding<[{"dp"}, {}]>>
!whole = tensor<4x8xf32, #plan.sharding<[{}, {}]>>
plan.mesh [#base.mesh_axis<"dp" = 2>, #base.mesh_axis<"tp" = 2>]
func.func @forward(%x: !both {plan.kind = #plan.kind<input>, plan.names = ["x"]})
    -> (!whole {plan.name = "gathered"}, !both {plan.name = "same"}) {
  %y = plan.call "aten.relu.default"(%x) {self = #base.operand<0>} in "act" : (!both) -> !both
  %a = plan.all_gather %y [#plan.axis<"tp">] dim 1 : !both -> !rows loc("a.plan":1:1)
  %b = plan.all_gather %a [#plan.axis<"dp">] dim 0 : !rows -> !whole loc("a.plan":1:1)
  return %b, %x : !whole, !both
}
)");
  Sources sources;
  Diagnostics diagnostics(sources);
  std::optional<Explanation> gathered = explain(module.get(), {"gathered"}, {}, diagnostics);
  ASSERT_TRUE(gathered) << diagnostics.text();
  EXPECT_EQ(gathered->tensor->layout, "[4, 8]");
  ASSERT_EQ(gathered->ends.size(), 1u);
  EXPECT_EQ(gathered->ends[0].what, "aten.relu.default");
  EXPECT_EQ(gathered->ends[0].layout, "[4 over dp, 8 over tp]") << "as the operator leaves it";
  ASSERT_EQ(gathered->reshards.size(), 1u);
  ASSERT_EQ(gathered->reshards[0].steps.size(), 2u);
  // Each rank sends and receives half of the result of a gather over two ranks: 2 x 8 and then 4 x 8 floats.
  EXPECT_EQ(gathered->reshards[0].steps[0].bytes, 2 * 8 * 4);
  EXPECT_EQ(gathered->reshards[0].steps[1].bytes, 4 * 8 * 4);
  ASSERT_EQ(gathered->reshards[0].consumers.size(), 1u);
  EXPECT_EQ(gathered->reshards[0].consumers[0].what, "output");
  EXPECT_EQ(gathered->reshards[0].consumers[0].name, "gathered");
  std::optional<Explanation> same = explain(module.get(), {"same"}, {}, diagnostics);
  ASSERT_TRUE(same) << diagnostics.text();
  EXPECT_EQ(same->ends[0].what, "input");
  EXPECT_EQ(same->ends[0].name, "x");
  EXPECT_THAT(same->reshards, IsEmpty());
}

TEST(Explain, AModuleWithoutAFunction) {
  PlanModule module("plan.mesh [#base.mesh_axis<\"tp\" = 2>]");
  Sources sources;
  Diagnostics diagnostics(sources);
  EXPECT_FALSE(explain(module.get(), {"x"}, {}, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].message, "the program has no function to explain");
}

static void expectTarget(const char *text, const char *path, Border border, int64_t index) {
  std::optional<ExplainTarget> target = parseTarget(text);
  ASSERT_TRUE(target) << text;
  EXPECT_EQ(target->path, path);
  EXPECT_EQ(target->border, border);
  EXPECT_EQ(target->index, index);
}

TEST(ParseTarget, ReadsPathsAndBorders) {
  expectTarget("model.layers.0.mlp", "model.layers.0.mlp", Border::none, 0);
  expectTarget("model.norm:input[0]", "model.norm", Border::input, 0);
  expectTarget("h:output[12]", "h", Border::output, 12);
  expectTarget(":input[0]", "", Border::input, 0); // the root module
  expectTarget("\"\":input[0]", "", Border::input, 0);
  expectTarget("\"\"", "", Border::none, 0);
  expectTarget("", "", Border::none, 0);
}

TEST(ParseTarget, RefusesOtherForms) {
  for (const char *text : {"h:", "h:input", "h:input[]", "h:input[-1]", "h:input[x]", "h:input[0]x", "h:in[0]",
                           "h:input[0]:output[0]", "h:output[99999999999999999999]"})
    EXPECT_FALSE(parseTarget(text)) << text;
}
