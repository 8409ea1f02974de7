//===- entries_test.cpp - which entry applies to a module or parameter ----===//

#include "test/unit/frontend/bind/bind_context.h"
#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The root, a block `net` with the linears a, b and the list `c` of c.0 and c.1, and `act` without parameters. Each
/// linear holds a weight [4, 6], a also a bias [4].
class Entries : public test::BindContext {
protected:
  Entries() {
    model.modules = {{"", "Net"},           {"net", "Block"},        {"net.a", "Linear"},
                     {"net.b", "Linear"},   {"net.c", "ModuleList"}, {"net.c.0", "Linear"},
                     {"net.c.1", "Linear"}, {"act", "ReLU"}};
    for (size_t module : {2, 3, 5, 6})
      model.parameters.push_back({{{module, "weight"}}, {module}, {4, 6}});
    model.parameters.push_back({{{2, "bias"}}, {2}, {4}});
  }

  void bind(const std::string &entries) {
    diagnostics = Diagnostics(sources);
    readPlan("mesh dp = 2, tp = 3\n" + entries);
    plan = BoundPlan();
    plan.inputs = inputs;
    bindEntries(*context, plan);
  }
  void bindRight(const std::string &entries) {
    bind(entries);
    EXPECT_EQ(diagnostics.text(), "") << entries;
  }
  /// The errors in the entries, without locations, and their helps.
  std::vector<std::string> faults(const std::string &entries) {
    bind(entries);
    return test::messagesAndHelps(diagnostics.all());
  }
  /// `net.a = colwise tp, output split 0` for each module of the plan.
  std::vector<std::string> modules() const {
    std::vector<std::string> result;
    for (const BoundModule &module : plan.modules) {
      std::string text = model.modules[module.module].path + " =";
      for (const BoundStyle &style : module.styles)
        text += " " + style.text + ";";
      for (const BoundBorder &border : module.borders)
        text += " " + border.layout.text + ";";
      result.push_back(text + " of " + std::to_string(module.entry));
    }
    return result;
  }
  std::vector<std::string> parameters() const {
    std::vector<std::string> result;
    for (const BoundParameter &bound : plan.parameters)
      result.push_back(parameterPath(model, model.parameters[bound.parameter]) + " = " + bound.layout.text + " of " +
                       std::to_string(bound.entry));
    return result;
  }

  std::vector<BoundInput> inputs;
  BoundPlan plan;
};

TEST_F(Entries, AnEntryIsKnownByItsWholePath) {
  bindRight("net { c { 1: replicate; rest: replicate }\n *: output replicate\n override b: output split 0 over tp }\n"
            "\"net.a\": replicate\nrest: replicate");
  std::vector<std::string> paths;
  for (const EntryMatch &entry : plan.entries)
    paths.push_back((entry.isOverride ? "override " : "") + entry.path + (entry.isRest ? " (rest)" : ""));
  EXPECT_THAT(paths, ElementsAre("net.c.1", "net.c.rest (rest)", "net.*", "override net.b", "net.a", "rest (rest)"));
  EXPECT_EQ(plan.entries[0].range, (SourceRange{plan.entries[0].range.file, 3, 11, 12}));
  EXPECT_EQ(plan.entries[1].range.column, 25) << "the word 'rest'";
  EXPECT_THAT(plan.entries[0].modules, ElementsAre(6));
  EXPECT_THAT(plan.entries[1].modules, ElementsAre(5)) << "what it took";
  EXPECT_THAT(plan.entries[2].modules, ElementsAre(2, 3, 4));
  EXPECT_THAT(plan.entries[3].modules, ElementsAre(3));
}

TEST_F(Entries, ModulesComeInTheOrderOfTheModel) {
  bindRight("net.c.1: rowwise tp\nnet.a: colwise tp\nact: replicate\nrest: replicate");
  EXPECT_THAT(modules(), ElementsAre("net.a = colwise tp; of 1", "net.b = replicate; of 3", "net.c.0 = replicate; of 3",
                                     "net.c.1 = rowwise tp; of 0", "act = replicate; of 2"));
}

TEST_F(Entries, StylesAndBordersOfOneModuleMayStandApart) {
  bindRight("net.a: output 1 replicate, input split 1 over tp\nnet.a: output split 0 over tp\nnet.a: colwise tp\n"
            "rest: replicate");
  EXPECT_THAT(modules(), testing::Contains("net.a = colwise tp; input split 1 over tp; output split 0 over tp; "
                                           "output 1 replicate; of 2"));
  EXPECT_EQ(plan.modules.front().range.line, 5) << "where the style stands";
}

TEST_F(Entries, EachBorderOfAnEntryHasItsLayout) {
  bindRight("net.a: output 1 replicate, input 2 split 2 over dp, output split 0 over tp\nrest: replicate");
  EXPECT_EQ(modules().front(),
            "net.a = replicate; input 2 split 2 over dp; output split 0 over tp; output 1 replicate; of 1");
}

TEST_F(Entries, BordersAloneAreForAnyModule) {
  bindRight("net: input replicate\nact: output replicate, input split 0 over dp\nrest: replicate");
  EXPECT_EQ(modules().front(), "net = input replicate; of 0");
  EXPECT_EQ(modules().back(), "act = input split 0 over dp; output replicate; of 1");
}

TEST_F(Entries, OneModuleMayTakeBordersOfSeveralEntries) {
  bindRight("**: output replicate\noverride net.c.*: output split 0 over tp\nrest: replicate");
  std::vector<std::string> all = modules();
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[0], " = output replicate; of 0");
  EXPECT_EQ(all[5], "net.c.0 = replicate; output split 0 over tp; of 2");
}

TEST_F(Entries, AnOverrideIsComparedAsWritten) {
  // net.c has no parameters of its own, so colwise alone would not match it.
  EXPECT_THAT(faults("net.*: replicate\noverride net.*: colwise tp\nrest: replicate"),
              ElementsAre("an override must match a strict subset of what it overrides; 'net.*' matches 3 modules, "
                          "'net.*' matches 3 modules, and 3 are in both",
                          "narrow the override to modules of the other entry, and to fewer than all of them"));
  bindRight("net.*: replicate\noverride net.{a, b}: colwise tp\nrest: replicate");
  bindRight("net.*: colwise tp\noverride net.{a, b}: rowwise tp\nrest: replicate");
}

TEST_F(Entries, ABadBlockIsOneError) {
  EXPECT_THAT(faults("nat { a: colwise tp\n x { y: replicate }\n rest: replicate }"),
              ElementsAre("'nat' matches no module", "did you mean 'net'?"))
      << "nothing inside, and not what is left over";
  EXPECT_THAT(plan.entries.at(0).modules, IsEmpty());
  EXPECT_EQ(plan.entries.size(), 3u) << "entries keep their numbers";
  EXPECT_THAT(faults("net { x { y { a: replicate } }\n d: replicate }"),
              ElementsAre("'net.x' matches no module", "below 'net': 'a', 'b', 'c'", "'net.d' matches no module",
                          "below 'net': 'a', 'b', 'c'"));
}

TEST_F(Entries, DividingStylesSkipModulesWithoutParameters) {
  bindRight("**: colwise tp");
  EXPECT_THAT(plan.entries.at(0).modules, ElementsAre(2, 3, 5, 6));
  bindRight("**: sequence tp");
  EXPECT_EQ(plan.entries.at(0).modules.size(), 8u) << "a sequence divides no parameter";
  bindRight("**: output replicate\nrest: replicate");
  EXPECT_EQ(plan.entries.at(0).modules.size(), 8u);
}

TEST_F(Entries, AModuleThatReadsAParameterCanBeDivided) {
  model.parameters[0].readers.push_back(7); // act
  bindRight("{net.a, act}: colwise tp\nrest: replicate");
  EXPECT_THAT(plan.entries.at(0).modules, ElementsAre(2, 7));
}

TEST_F(Entries, ADividingStyleNeedsParameters) {
  EXPECT_THAT(faults("act: rowwise tp\nrest: replicate"),
              ElementsAre("'act' has no parameters of its own, and 'rowwise' splits parameters",
                          "activations follow their producer: remove the entry"));
  EXPECT_THAT(faults("net: sequence dp, expert tp\nrest: replicate"),
              ElementsAre("'net' has no parameters of its own, and 'expert' splits parameters",
                          "if 'net.c.0' is one of several experts, name their list: 'net.c'",
                          "modules with parameters: 'net.a', 'net.b', 'net.c.0', 'net.c.1'"));
  model.modules.push_back({"net.3", "Block"});
  EXPECT_THAT(faults("net.3: expert tp\nrest: replicate"),
              ElementsAre("'net.3' has no parameters of its own, and 'expert' splits parameters",
                          "if 'net.3' is one of several experts, name their list: 'net'",
                          "activations follow their producer: remove the entry"));
  EXPECT_THAT(faults("\"\": colwise tp\nrest: replicate"),
              ElementsAre("the root module has no parameters of its own, and 'colwise' splits parameters",
                          "modules with parameters: 'net.a', 'net.b', 'net.c.0', 'net.c.1'"));
}

TEST_F(Entries, PlacementSaysWhichModuleHasExperts) {
  model.modules[5].path = "net.c.gate";
  model.modules[6].path = "net.d";
  bindRight("net.c: expert tp\nrest: replicate");
  EXPECT_THAT(plan.entries.at(0).modules, ElementsAre(4));
}

TEST_F(Entries, TwelveModulesWithParametersAreListed) {
  for (size_t i = 0; i < 10; ++i) {
    model.modules.push_back({"net.d" + std::to_string(i), "Linear"});
    model.parameters.push_back({{{8 + i, "weight"}}, {}, {4, 6}});
  }
  bind("net: colwise tp\nrest: replicate");
  EXPECT_EQ(diagnostics.all().front().helps.front(),
            "modules with parameters: 'net.a', 'net.b', 'net.c.0', 'net.c.1', 'net.d0', 'net.d1', 'net.d2', 'net.d3', "
            "'net.d4', 'net.d5', 'net.d6', 'net.d7'");
}

TEST_F(Entries, AParameterIsPlacedInEachModuleThatHasIt) {
  bindRight("net.*: parameter { bias: split 0 over dp }\nnet.**: parameter { weight: split 1 over tp }");
  EXPECT_THAT(parameters(),
              ElementsAre("net.a.weight = weight: split 1 over tp of 1", "net.b.weight = weight: split 1 over tp of 1",
                          "net.c.0.weight = weight: split 1 over tp of 1",
                          "net.c.1.weight = weight: split 1 over tp of 1", "net.a.bias = bias: split 0 over dp of 0"));
  EXPECT_THAT(modules(), IsEmpty()) << "placing parameters gives a module no style";
}

TEST_F(Entries, AStyleAndAParameterMayStandInOneEntry) {
  bindRight("net.a: colwise tp, parameter { bias: replicate }\nrest: replicate");
  EXPECT_THAT(parameters(), ElementsAre("net.a.bias = bias: replicate of 0"));
  EXPECT_EQ(modules().front(), "net.a = colwise tp; of 0");
}

TEST_F(Entries, AParameterMayHaveAStyleOfItsOwn) {
  model.modules.push_back({"lists", "ParameterList"});
  for (const char *leaf : {"0", "1", "user-id", "1s"})
    model.parameters.push_back({{{8, leaf}}, {0}, {4, 6}});
  auto styles = [&] {
    std::vector<std::string> result;
    for (const BoundParameterStyle &own : plan.parameterStyles) {
      result.push_back(parameterPath(model, own.name) + " =");
      for (const BoundStyle &style : own.styles)
        result.back() += " " + style.text + ";";
    }
    return result;
  };
  bindRight("lists.1: rowwise tp\nlists.user-id: colwise tp\n\"lists.0\": colwise tp\nlists { 1s: colwise dp }\n"
            "rest: replicate");
  EXPECT_THAT(styles(), ElementsAre("lists.0 = colwise tp;", "lists.1 = rowwise tp;", "lists.user-id = colwise tp;",
                                    "lists.1s = colwise dp;"));
  EXPECT_EQ(plan.entries[0].parameters.size(), 1u);
  EXPECT_THAT(plan.entries[0].modules, IsEmpty());
  EXPECT_THAT(modules(), testing::Not(testing::Contains(testing::HasSubstr("lists")))) << "nothing is left to the rest";
  bindRight("lists: rowwise tp\noverride lists.{0..1}: colwise tp\nrest: replicate");
  EXPECT_THAT(styles(), ElementsAre("lists.0 = colwise tp;", "lists.1 = colwise tp;"));
  bindRight("lists.*: rowwise tp\noverride lists.0: colwise tp\nrest: replicate");
  EXPECT_THAT(styles(), testing::Contains("lists.0 = colwise tp;"));
  bindRight("lists: parameter { 1: split 0 over tp; \"user-id\": split 1 over tp; 1s: split 1 over dp }\n"
            "rest: replicate");
  EXPECT_THAT(parameters(),
              ElementsAre("lists.1 = 1: split 0 over tp of 0", "lists.user-id = \"user-id\": split 1 over tp of 0",
                          "lists.1s = 1s: split 1 over dp of 0"));
  EXPECT_THAT(faults("lists.2: rowwise tp\nrest: replicate"),
              ElementsAre("'lists.2' matches no module", "below 'lists': '0', '1', 'user-id', '1s'"));
  EXPECT_THAT(faults("{lists.2, lists.1}: rowwise tp\nrest: replicate"),
              ElementsAre("'lists.2' matches no module", "below 'lists': '0', '1', 'user-id', '1s'"));
}

TEST_F(Entries, AParameterThatNoModuleHas) {
  EXPECT_THAT(faults("net.**: replicate, parameter { wait: replicate }\nrest: replicate"),
              ElementsAre("no module of this entry has a parameter 'wait'", "parameters: 'bias', 'weight'"));
  EXPECT_THAT(faults("act: parameter { weight: replicate }\nrest: replicate"),
              ElementsAre("no module of this entry has a parameter 'weight'"));
  EXPECT_THAT(faults("net.x: parameter { weight: replicate }\nrest: replicate"),
              ElementsAre("'net.x' matches no module", "below 'net': 'a', 'b', 'c'"))
      << "without modules that says nothing";
}

TEST_F(Entries, ALayoutFitsTheParameter) {
  const std::string name = "net.b: parameter { weight: ";
  for (const char *layout : {"replicate", "split 0 over tp", "split 1 over tp", "[_, _ over tp]"})
    bindRight(name + layout + " }\nrest: replicate");
  EXPECT_THAT(faults(name + "split 2 over tp }\nrest: replicate"),
              ElementsAre("'net.b.weight' has 2 dims, and no dim 2", "dims count from 0"));
  for (const char *layout : {"[_]", "[_ over tp]", "[]", "[_, _, _ over tp]"}) {
    std::vector<std::string> said = faults(name + layout + " }\nrest: replicate");
    size_t listed = std::string(layout) == "[]" ? 0 : 1 + std::count(layout, layout + strlen(layout), ',');
    EXPECT_THAT(said, ElementsAre("'net.b.weight' has 2 dims, and the layout lists " + std::to_string(listed),
                                  "list each dim, with '_' for one that stays whole"));
  }
}

TEST_F(Entries, ANamedDimHasTheSizeOfItsName) {
  inputs.push_back({0, {{"four", 4}, {"", 9}, {"six", 6}, {"open", 0}}});
  const std::string declared = "input x: [four, _, six, open]\n";
  for (const char *layout : {"[four, six]", "[_, six]", "[open, six over tp]", "[four over dp, open]"})
    bindRight(declared + "net.b: parameter { weight: " + layout + " }\nrest: replicate");
  EXPECT_THAT(faults(declared + "net.b: parameter { weight: [six, six] }\nrest: replicate"),
              ElementsAre("dim 0 of 'net.b.weight' has size 4, and 'six' is 6", "'_' leaves a dim unnamed"));
  EXPECT_THAT(faults(declared + "net.b: parameter { weight: [_, four over tp] }\nrest: replicate"),
              ElementsAre("dim 1 of 'net.b.weight' has size 6, and 'four' is 4", "'_' leaves a dim unnamed"));
}

TEST_F(Entries, ALayoutThatFitsNoneIsReportedOnce) {
  EXPECT_THAT(faults("net.**: parameter { weight: [six] }\ninput x: [six]\nrest: replicate"),
              ElementsAre("'net.a.weight' has 2 dims, and the layout lists 1",
                          "list each dim, with '_' for one that stays whole"));
  EXPECT_THAT(faults("net.*: parameter { weight: split 2 over tp; bias: split 1 over tp }\nrest: replicate").size(), 4u)
      << "two layouts are two errors, with a help each";
}

TEST_F(Entries, RestCannotOverride) {
  EXPECT_THAT(faults("net { override rest: replicate }\nrest: replicate"),
              ElementsAre("'rest' applies to modules without an entry and cannot override"));
}

} // namespace
