//===- listed_modules_test.cpp - paths to modules of a divided list -------===//

#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshplan;
using namespace meshplan::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace {

/// Two layers with a list of four experts each, whose parameters w1.weight, w1.bias and w2.weight are stacked, and a
/// dense module `dense.w1`.
ModelOutline mixture() {
  ModelOutline model;
  model.modules.push_back({"", ""});
  for (std::string layer : {"0", "1"}) {
    std::string path = "h." + layer + ".e";
    for (const char *number : {"0", "1", "2", "3"})
      for (const char *inside : {"", ".w1", ".w2"})
        model.modules.push_back({path + "." + number + inside, ""});
    size_t list = model.modules.size();
    model.modules.push_back({path, "torch.nn.modules.container.ModuleList"});
    model.parameters.push_back({{{list, "w1.weight"}}, {list}, {4, 24, 16}, true, "f32", true});
    model.parameters.push_back({{{list, "w1.bias"}}, {list}, {4, 24}, true, "f32", true});
    model.parameters.push_back({{{list, "w2.weight"}}, {list}, {4, 16, 24}, true, "f32", true});
  }
  model.parameters.push_back({{{model.modules.size(), "weight"}}, {model.modules.size()}, {24, 16}});
  model.modules.push_back({"dense.w1", ""});
  return model;
}

Outcome bindWith(const std::string &statements) {
  return bindTo(mixture(), "plan p {\nmesh ep = 2, tp = 2\nh.*.e: expert ep\nrest: replicate\n" + statements + "\n}\n");
}

std::vector<std::string> pathsOf(llvm::ArrayRef<size_t> parameters) {
  ModelOutline model = mixture();
  std::vector<std::string> paths;
  for (size_t parameter : parameters)
    paths.push_back(parameterPath(model, model.parameters[parameter]));
  return paths;
}

std::vector<std::string> frozen(const std::string &path) {
  Outcome outcome = bindWith("freeze " + path);
  EXPECT_EQ(outcome.text, "");
  return outcome.plan ? pathsOf(outcome.plan->trainable.at(0).paths.at(0).parameters) : std::vector<std::string>();
}

/// The parameters that the entry on top of `expert` places.
std::vector<std::string> placed(const std::string &entry) {
  Outcome outcome = bindWith(entry);
  EXPECT_EQ(outcome.text, "");
  std::vector<size_t> parameters;
  if (outcome.plan)
    for (const BoundParameterStyle &style : outcome.plan->parameterStyles)
      parameters.push_back(style.name.parameter);
  return pathsOf(parameters);
}

TEST(BindListedModules, TheParametersOfAllModulesAreTheStackedOne) {
  for (const char *path : {"h.0.e.*.w1", "h.0.e.{0..3}.w1", "h.0.e.{0, 1, 2, 3}.w1", "h.0.e.*.w1.*", "h.0.**.w1"})
    EXPECT_THAT(frozen(path), ElementsAre("h.0.e.w1.weight", "h.0.e.w1.bias")) << path;
  EXPECT_THAT(frozen("h.*.e.*.w2.weight"), ElementsAre("h.0.e.w2.weight", "h.1.e.w2.weight"));
  for (const char *path : {"h.1.e.*", "h.1.e", "h.1", "h.1.**"})
    EXPECT_THAT(frozen(path), ElementsAre("h.1.e.w1.weight", "h.1.e.w1.bias", "h.1.e.w2.weight")) << path;
  EXPECT_THAT(frozen("**.w1.weight"), ElementsAre("h.0.e.w1.weight", "h.1.e.w1.weight", "dense.w1.weight"));
}

TEST(BindListedModules, TheModulesAreTheList) {
  Outcome outcome = bindWith("recompute h.*.e.*");
  ASSERT_TRUE(outcome.plan) << outcome.text;
  std::vector<std::string> modules;
  for (size_t module : outcome.plan->recomputes.at(0).paths.at(0).modules)
    modules.push_back(mixture().modules[module].path);
  EXPECT_THAT(modules, ElementsAre("h.0.e", "h.1.e"));
}

TEST(BindListedModules, SomeModulesCannotBeMeant) {
  Outcome outcome = bindWith("freeze h.*.e.1.w1");
  EXPECT_FALSE(outcome.plan);
  EXPECT_EQ(outcome.text,
            "p.plan:5:8: error: 'h.*.e.1.w1' names 1 of the 4 modules of 'h.0.e', whose parameters are one: "
            "'h.0.e.1.w1.weight' is a part of 'h.0.e.w1.weight'\n"
            "  freeze h.*.e.1.w1\n"
            "         ^~~~~~~~~~\n"
            "p.plan:3:1: note: 'expert' divides the list here\n"
            "  h.*.e: expert ep\n"
            "  ^~~~~\n"
            "help: name those of all modules, as 'h.*.e.*.w1', or divide the list by other styles than 'expert' and "
            "'within'\n");
  for (const char *statement :
       {"freeze h.*.e.1", "freeze h.*.e.1.w1.bias", "freeze h.0.e.{0, 2}", "freeze **.e.3", "recompute h.0.e.0",
        "recompute h.*.e.2.w1", "data tp on h.0.e.0 { shard optimizer }", "reserve 1.5 on h.0.e.0",
        "h.0.e.0.w1: replicate", "h.0.e.0: replicate", "h.*.e.0.w1.weight: replicate", "h.0.e.1.w1: colwise tp",
        "h.0.e.0.w1: parameter { weight: split 0 over tp }", "h.0.e.1: output replicate", "h.0.e { 1.w1: replicate }",
        "override h.0.e.{0, 1}.w1: replicate", "{dense, h.0.e.0}.w1: replicate"})
    EXPECT_THAT(bindWith(statement).text, HasSubstr(" of the 4 modules of 'h.0.e', whose parameters are one"))
        << statement;
}

TEST(BindListedModules, HelpNamesAllModules) {
  EXPECT_THAT(bindWith("freeze h.1.e.3").text, HasSubstr("as 'h.1.e.*', or"));
  EXPECT_THAT(bindWith("freeze h.1.e.3.w1.bias").text, HasSubstr("as 'h.1.e.*.w1.bias', or"));
  EXPECT_THAT(bindWith("freeze **.e.3.w2").text, HasSubstr("as 'h.*.e.*.w2.weight', or"));
}

TEST(BindListedModules, AStyleOfAllModulesIsOneOfTheStackedParameters) {
  EXPECT_THAT(placed("override h.0.e.*.w1: replicate"), UnorderedElementsAre("h.0.e.w1.weight", "h.0.e.w1.bias"));
  EXPECT_THAT(placed("override h.*.e.*.w1.bias: replicate"), UnorderedElementsAre("h.0.e.w1.bias", "h.1.e.w1.bias"));
  EXPECT_THAT(bindWith("h.0.e.*.w1: replicate").text, HasSubstr("two entries match 'h.0.e.w1.weight' and 1 more"));
}

/// What else the path names takes the style, and `expert` is that of the list.
TEST(BindListedModules, AStyleOfOtherModulesLeavesTheListAlone) {
  Outcome outcome = bindWith("**.w1: colwise tp");
  ASSERT_TRUE(outcome.plan) << outcome.text;
  EXPECT_THAT(outcome.plan->parameterStyles, IsEmpty());
  EXPECT_EQ(outcome.plan->modules.size(), 3u);
}

/// What files have of the parameters, of those that an entry names.
std::vector<std::string> fileNames(const std::string &entries) {
  Outcome outcome = bindWith("weight_names {\n" + entries + "\n}");
  EXPECT_EQ(outcome.text, "");
  std::vector<std::string> texts;
  if (outcome.plan)
    for (const BoundWeightName &each : outcome.plan->weightNames)
      if (each.range.hasLine())
        texts.push_back(each.tensor + ": " + each.text);
  return texts;
}

TEST(BindListedModules, FilesMayHaveOtherNamesForTheModules) {
  EXPECT_THAT(fileNames("h.*.e.*.w1.weight: l.*.x_*.up"),
              ElementsAre("h.0.e.w1.weight: stack l.0.x_*.up", "h.1.e.w1.weight: stack l.1.x_*.up"));
  EXPECT_THAT(fileNames("h.1.**: l.**"), ElementsAre("h.1.e.w1.weight: stack l.e.*.w1.weight",
                                                     "h.1.e.w1.bias: stack "
                                                     "l.e.*.w1.bias",
                                                     "h.1.e.w2.weight: stack l.e.*.w2.weight"));
  EXPECT_THAT(fileNames("h.0.e.w2.weight: stack l.*.down"), ElementsAre("h.0.e.w2.weight: stack l.*.down"));
  Outcome outcome = bindWith("weight_names { h.0.e.*.w1.weight: l.*.{a, b} }");
  ASSERT_TRUE(outcome.plan) << outcome.text;
  EXPECT_EQ(outcome.plan->weightNames.front().pieces, (WeightPieces{{"l.", "l."}, {".a", ".b"}, {12, 12}, 1, 4}));
  outcome = bindWith("weight_names { h.0.e.*.w1.weight: l.*.{a, b} dim 1 }");
  ASSERT_TRUE(outcome.plan) << outcome.text;
  EXPECT_EQ(outcome.plan->weightNames.front().pieces, (WeightPieces{{"l.", "l."}, {".a", ".b"}, {8, 8}, 2, 4}));
}

TEST(BindListedModules, FileNamesOfSomeModulesAreRefused) {
  EXPECT_THAT(bindWith("weight_names { h.0.e.1.w1.weight: up }").text,
              HasSubstr("'h.0.e.1.w1.weight' names 1 of the 4 modules of 'h.0.e', whose parameters are one"));
  EXPECT_THAT(
      bindWith("weight_names { h.0.e.*.w1.weight: stack l.*.* }").text,
      HasSubstr("'h.0.e.*.w1.weight' names parameters of the modules of a list, which are not stacked in a file"));
}

TEST(BindListedModules, ModulesInAListAreThoseOfTheFirst) {
  Outcome outcome = bindWith("recompute h.1.e.*.w1");
  ASSERT_TRUE(outcome.plan) << outcome.text;
  std::vector<size_t> modules = outcome.plan->recomputes.at(0).paths.at(0).modules;
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(mixture().modules[modules.front()].path, "h.1.e.0.w1");
}

TEST(BindListedModules, InitialValuesAreThoseOfTheModules) {
  Outcome outcome = bindWith("optimizer sgd { lr 1 }\ninit { **.weight normal 1 }");
  EXPECT_THAT(outcome.text, HasSubstr("add 'h.*.e.w1.bias zeros'"));
}

/// The help for `expert` at a module without parameters of its own; empty if its placement is to say what is wrong.
std::string helpFor(const std::string &path, const std::vector<std::string> &holders) {
  ModelOutline model;
  model.modules.push_back({"", ""});
  for (const std::string &holder : holders) {
    model.parameters.push_back({{{model.modules.size(), "weight"}}, {model.modules.size()}, {24, 16}});
    model.modules.push_back({holder, ""});
  }
  model.modules.push_back({path, ""});
  std::string text = bindTo(model, "plan p {\nmesh ep = 2\n" + path + ": expert ep\nrest: replicate\n}\n").text;
  size_t help = text.find("help: ");
  return help == std::string::npos ? text : text.substr(help, text.find('\n', help) - help);
}

TEST(BindListedModules, ExpertNamesTheList) {
  EXPECT_EQ(helpFor("h.e.1", {"h.e.0.w", "h.e.1.w"}),
            "help: if 'h.e.1' is one of several experts, name their list: 'h.e'");
  EXPECT_EQ(helpFor("h", {"h.gate", "h.e.0.w", "h.e.1.w"}), "");
  EXPECT_EQ(helpFor("h", {"h.gate", "h.e.0", "h.e.1"}),
            "help: if 'h.e.0' is one of several experts, name their list: 'h.e'");
}

TEST(BindListedModules, ExpertsWithOtherNamesAreNoList) {
  EXPECT_EQ(helpFor("h.e", {"h.e.a.w", "h.e.b.w"}),
            "help: 'expert' takes experts of a list, whose names are numbers from 0, and these are 'a', 'b' and so on: "
            "make them an 'nn.ModuleList'");
  EXPECT_EQ(helpFor("h.e", {"h.e.a.w", "h.e.b.v"}), "");
}

} // namespace
