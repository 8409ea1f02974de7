//===- draft_plan_test.cpp - a first plan for a model ---------------------===//

#include "compiler/draft/draft_plan.h"
#include "test/unit/archive/test_model.h"
#include "test/unit/temporary_directory.h"
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using archive::testing::tensor;
using archive::testing::TestModel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

/// x [rows, 6], `up` to 12 features, relu, `down` to 6.
TestModel mlp(const std::string &inner = "aten.relu.default", int64_t rows = 4) {
  TestModel model;
  model.parameter("up.weight", {12, 6});
  model.parameter("down.weight", {6, 12});
  model.input("x", {rows, 6});
  auto node = [&](const std::string &target, const std::vector<archive::testing::Json> &arguments,
                  const std::string &result, int64_t features, const std::string &module) {
    model.graph.node("torch.ops." + target, arguments, result, {rows, features})["metadata"] = {
        {"nn_module_stack",
         "L__self__,,Net" + (module.empty() ? "" : ";L__self__" + module + "," + module + ",Linear")}};
  };
  node("aten.linear.default", {tensor("input", "x"), tensor("weight", "p_up_weight")}, "h", 12, "up");
  node(inner, {tensor("self", "h")}, "a", 12, "");
  node("aten.linear.default", {tensor("input", "a"), tensor("weight", "p_down_weight")}, "y", 6, "down");
  model.output("y");
  return model;
}

class DraftPlan : public testing::Test {
protected:
  void save(const std::string &name, const TestModel &model) { archive::testing::saveModel(directory / name, model); }
  /// The draft for m.pt2 on a mesh such as "dp=2,tp=3", for a plan in the same folder.
  std::optional<DraftedPlan> draft(llvm::StringRef mesh, const std::string &modelFile = "m.pt2",
                                   const std::string &planFile = "m.plan") {
    diagnostics = Diagnostics(sources);
    DraftOptions options;
    options.modelFile = directory / modelFile;
    options.planFile = directory / planFile;
    options.mesh = llvm::cantFail(parseDraftMesh(mesh));
    sources.add(options.modelFile);
    return draftPlan(options, diagnostics);
  }
  TemporaryDirectory directory;
  Sources sources;
  Diagnostics diagnostics{sources};
};

TEST_F(DraftPlan, AnMlpIsDividedInPairs) {
  save("m.pt2", mlp());
  std::optional<DraftedPlan> drafted = draft("dp=2,tp=3");
  ASSERT_TRUE(drafted) << diagnostics.text();
  EXPECT_EQ(drafted->text, R"(// Drafted by 'meshplan init': a plan that compiles, to be changed where you know better.
plan m {
  model "m.pt2"
  mesh dp = 2, tp = 3

  input x: [batch over dp, _]

  up:   colwise tp
  down: rowwise tp
}
)");
  EXPECT_EQ(drafted->modules, 2u);
  EXPECT_EQ(drafted->divided, 2u);
  EXPECT_TRUE(drafted->splitsBatch);
}

TEST_F(DraftPlan, OneKindOfAxisIsEnough) {
  save("m.pt2", mlp());
  std::optional<DraftedPlan> data = draft("dp=2");
  ASSERT_TRUE(data) << diagnostics.text();
  EXPECT_EQ(data->divided, 0u);
  EXPECT_TRUE(data->splitsBatch);
  EXPECT_THAT(data->text, HasSubstr("  input x: [batch over dp, _]\n"));
  EXPECT_THAT(data->text, HasSubstr("  rest: replicate"));
  std::optional<DraftedPlan> tensorAxis = draft("tp=3");
  ASSERT_TRUE(tensorAxis) << diagnostics.text();
  EXPECT_EQ(tensorAxis->divided, 2u);
  EXPECT_FALSE(tensorAxis->splitsBatch);
  EXPECT_THAT(tensorAxis->text, Not(HasSubstr("over dp")));
}

TEST_F(DraftPlan, ABatchThatIsTooSmallStaysWhole) {
  save("m.pt2", mlp("aten.relu.default", /*rows=*/2));
  std::optional<DraftedPlan> drafted = draft("dp=3,tp=3");
  ASSERT_TRUE(drafted) << diagnostics.text();
  EXPECT_FALSE(drafted->splitsBatch);
  EXPECT_EQ(drafted->divided, 2u) << "what the batch is blamed for costs no style";
  EXPECT_THAT(drafted->text,
              HasSubstr("// the batch stays whole: dim 'batch' of input 'x' has size 2, fewer than dp = 3\n"
                        "  input x: [batch, _]\n"));
}

TEST_F(DraftPlan, StylesThatTheCompilerRefusesAreTakenBackInPairs) {
  // 6 features of `down` are enough for at most 6 ranks; its 12 inputs, and the features of `up`, for 12.
  save("m.pt2", mlp());
  EXPECT_EQ(draft("tp=12").value_or(DraftedPlan()).divided, 2u) << diagnostics.text();
  std::optional<DraftedPlan> none = draft("tp=13");
  ASSERT_TRUE(none) << diagnostics.text();
  EXPECT_EQ(none->divided, 0u);
  EXPECT_EQ(none->modules, 2u);
  EXPECT_THAT(
      none->text,
      HasSubstr("  // whole: {up, down}: dim 0 of 'up.weight' has size 12, fewer than tp = 13\n  rest: replicate"))
      << "the other half of the pair has the same reason";
}

TEST_F(DraftPlan, APlanIsCalledAfterItsModel) {
  const std::pair<const char *, const char *> cases[] = {
      {"m.pt2", "m"}, {"smol-lm 2.v1.pt2", "smol_lm_2_v1"}, {"7b.pt2", "model_7b"}, {"_x", "_x"}};
  for (auto [file, name] : cases) {
    save(file, mlp());
    std::optional<DraftedPlan> drafted = draft("dp=2", file);
    ASSERT_TRUE(drafted) << diagnostics.text();
    EXPECT_THAT(drafted->text, HasSubstr("\nplan " + std::string(name) + " {\n"));
    EXPECT_THAT(drafted->text, HasSubstr("\n  model \"" + std::string(file) + "\"\n"));
  }
}

TEST_F(DraftPlan, TheModelIsNamedAsThePlanSeesIt) {
  save("m.pt2", mlp());
  save("models/m.pt2", mlp());
  std::filesystem::create_directories(directory / "plans");
  struct {
    const char *model, *plan, *name;
  } cases[] = {{"models/m.pt2", "m.plan", "models/m.pt2"},
               {"models/m.pt2", "plans/m.plan", "../models/m.pt2"},
               {"m.pt2", "plans/m.plan", "../m.pt2"},
               {"models/../m.pt2", "m.plan", "m.pt2"}};
  for (auto [model, plan, name] : cases) {
    std::optional<DraftedPlan> drafted = draft("dp=2", model, plan);
    ASSERT_TRUE(drafted) << diagnostics.text();
    EXPECT_THAT(drafted->text, HasSubstr("\n  model \"" + std::string(name) + "\"\n")) << model << " " << plan;
  }
}

TEST_F(DraftPlan, SymbolsGetTheExtentsOfTheExample) {
  TestModel model = mlp();
  using archive::testing::symbol;
  for (const auto &[name, features] : {std::pair<const char *, int>{"x", 6}, {"h", 12}, {"a", 12}, {"y", 6}})
    model.graph.json["tensor_values"][name] = archive::testing::tensorMeta({symbol("s0"), features});
  model.input("mask", {"Mul(Integer(2), " + symbol("s0") + ")"});
  model.graph.json["tensor_values"]["x"]["sizes"][0]["as_expr"]["hint"] = {{"as_int", 6}};
  model.ranges = {{"s0", {{"min_val", 2}, {"max_val", nullptr}}}};
  save("m.pt2", model);
  std::optional<DraftedPlan> drafted = draft("dp=3");
  ASSERT_TRUE(drafted) << diagnostics.text();
  EXPECT_THAT(drafted->text, HasSubstr("\n  input x: [batch = 6 over dp, _]\n  input mask: [_ = 12]\n"))
      << "also those of expressions";
}

TEST_F(DraftPlan, AnArchiveThatCannotBeRead) {
  EXPECT_FALSE(draft("dp=2", "none.pt2"));
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].message, "cannot be opened: no such file or directory") << "its name is the location";
  EXPECT_EQ(sources.buffer(diagnostics.all()[0].range.file).name(), directory / "none.pt2");
  std::ofstream(directory / "text.pt2") << "text";
  EXPECT_FALSE(draft("dp=2", "text.pt2"));
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].message, "is not a zip archive, or is truncated");
  EXPECT_THAT(diagnostics.all()[0].helps, ElementsAre("a model is written by torch.export.save(program, 'model.pt2')"));
}

TEST_F(DraftPlan, AModelThatCannotBeCompiledWhole) {
  save("m.pt2", mlp("custom.scan.default"));
  EXPECT_FALSE(draft("dp=2,tp=3"));
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].message, "operator 'custom.scan.default' in module '' belongs to a Python library: "
                                          "the runtime has no kernel for it");
  EXPECT_THAT(diagnostics.all()[0].helps, ElementsAre("export the model with operators of PyTorch (aten)"));
  EXPECT_EQ(diagnostics.all()[0].range.line, 0) << "the draft is not there to be looked at";
}

} // namespace
