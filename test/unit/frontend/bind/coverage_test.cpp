//===- coverage_test.cpp - modules that no entry covers -------------------===//

#include "test/unit/frontend/bind/bind_context.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Modules are given by their paths; each holds the parameters listed after it.
class Coverage : public test::BindContext {
protected:
  void hold(const std::string &path, std::initializer_list<const char *> leaves) {
    size_t module = model.modules.size();
    model.modules.push_back({path, "Module"});
    for (const char *leaf : leaves)
      model.parameters.push_back({{{module, leaf}}, {module}, {4, 4}});
  }
  void bind(const std::string &entries) {
    diagnostics = Diagnostics(sources);
    readPlan("mesh dp = 2, tp = 3\n" + entries);
    plan = BoundPlan();
    bindEntries(*context, plan);
  }
  /// The diagnostics about the entries, with line, notes and helps.
  std::vector<std::string> said(const std::string &entries) {
    bind(entries);
    std::vector<std::string> result;
    for (const Diagnostic &diagnostic : diagnostics.all()) {
      result.push_back(std::to_string(diagnostic.range.line) + ": " + diagnostic.message);
      for (const auto &note : diagnostic.notes)
        result.push_back(std::to_string(note.range.line) + ": " + note.message);
      result.insert(result.end(), diagnostic.helps.begin(), diagnostic.helps.end());
    }
    return result;
  }
  /// `a = colwise tp` for each module that has a style.
  std::vector<std::string> styles() const {
    std::vector<std::string> result;
    for (const BoundModule &module : plan.modules)
      for (const BoundStyle &style : module.styles)
        result.push_back(model.modules[module.module].path + " = " + style.text);
    return result;
  }
  std::vector<std::string> taken(size_t entry) const {
    std::vector<std::string> result;
    for (size_t module : plan.entries.at(entry).modules)
      result.push_back(model.modules[module].path);
    return result;
  }

  BoundPlan plan;
};

const std::string allThatIsLeft = "'rest: replicate' for all that is left";

TEST_F(Coverage, AModelWithoutParametersNeedsNoEntry) {
  hold("", {});
  hold("act", {});
  EXPECT_THAT(said(""), IsEmpty());
  EXPECT_EQ(plan.coverage.parameterModules, 0u);
}

TEST_F(Coverage, ModulesThatNoEntryPlaces) {
  hold("", {"scale"});
  hold("a", {"weight", "bias"});
  EXPECT_THAT(said("a: replicate"), ElementsAre("1: no entry places the parameters of the root module",
                                                "add '\"\": replicate', or " + allThatIsLeft));
  EXPECT_THAT(said("\"\": replicate"),
              ElementsAre("1: no entry places the parameters of 'a'", "add 'a: replicate', or " + allThatIsLeft))
      << "one message for its two parameters";
}

TEST_F(Coverage, LayersAreOneMessage) {
  hold("h.0.up", {"w"});
  hold("h.0.down", {"w"});
  hold("h.1.up", {"w"});
  hold("h.2.up", {"w"});
  hold("head", {"w"});
  EXPECT_THAT(said(""),
              ElementsAre("1: no entry places the parameters of 'h.*.up' (3 modules)",
                          "add 'h.*.up: replicate', or " + allThatIsLeft,
                          "1: no entry places the parameters of 'h.0.down'",
                          "add 'h.0.down: replicate', or " + allThatIsLeft,
                          "1: no entry places the parameters of 'head'", "add 'head: replicate', or " + allThatIsLeft));
}

TEST_F(Coverage, AModuleOfWhichAPartIsPlacedIsNamedByTheOther) {
  hold("h.0", {"w", "b"});
  hold("h.1", {"w", "b"});
  hold("head", {"w", "b", "scale"});
  EXPECT_THAT(said("h.*: parameter { w: replicate }\nhead: parameter { b: replicate }"),
              ElementsAre("1: no entry places 'h.*.b' (2 parameters)", "add " + allThatIsLeft,
                          "1: no entry places 'head.w'", "add " + allThatIsLeft, "1: no entry places 'head.scale'",
                          "add " + allThatIsLeft));
}

TEST_F(Coverage, ABorderPlacesNothing) {
  hold("a", {"w"});
  hold("b", {"w", "v"});
  EXPECT_THAT(said("a: output replicate\nb: parameter { w: replicate }, output replicate"),
              ElementsAre("1: no entry places the parameters of 'a'",
                          "3: this entry states a layout at the border only",
                          "add a style to it, such as 'replicate', or " + allThatIsLeft, "1: no entry places 'b.v'",
                          "add " + allThatIsLeft))
      << "of b the note would be wrong";
}

TEST_F(Coverage, ATiedParameterIsPlacedByAnyOfItsModules) {
  hold("a", {"w"});
  hold("b", {});
  hold("c", {});
  model.parameters[0].names.push_back({1, "w"});
  model.parameters[0].readers.push_back(2);
  for (const char *entry : {"a: replicate", "b: replicate", "c: replicate", "b: parameter { w: replicate }"})
    EXPECT_THAT(said(entry), IsEmpty()) << entry;
  EXPECT_THAT(said(""),
              ElementsAre("1: no entry places the parameters of 'a'", "add 'a: replicate', or " + allThatIsLeft));
  EXPECT_THAT(said("rest: replicate"), IsEmpty());
  EXPECT_THAT(taken(0), ElementsAre("a", "b")) << "both that hold it";
}

TEST_F(Coverage, RestTakesTheModulesOfWhatIsLeft) {
  hold("a", {"w"});
  hold("act", {});
  hold("b", {"w", "b"});
  hold("c", {"w"});
  EXPECT_THAT(said("b: parameter { w: split 0 over tp }\nc: rowwise tp\nrest: sequence dp"), IsEmpty());
  EXPECT_THAT(taken(2), ElementsAre("a", "b"));
  EXPECT_THAT(styles(), ElementsAre("a = sequence dp", "b = sequence dp", "c = rowwise tp"));
  EXPECT_EQ(plan.modules.front().entry, 2u);
  EXPECT_EQ(plan.modules.front().range.line, 5);
}

TEST_F(Coverage, RestKeepsABorderOfItsModule) {
  hold("a", {"w"});
  EXPECT_THAT(said("a: output split 1 over tp\nrest: sequence dp"), IsEmpty());
  ASSERT_EQ(plan.modules.size(), 1u);
  EXPECT_EQ(plan.modules[0].borders.size(), 1u);
  EXPECT_THAT(styles(), ElementsAre("a = sequence dp"));
}

TEST_F(Coverage, TheInnermostRestTakes) {
  for (const char *path : {"h", "h.0", "h.0.a", "h.0.b", "h.1.a", "g"})
    hold(path, {"w"});
  // The order of the entries does not matter.
  for (const char *entries : {"h { rest: sequence tp\n 0 { rest: replicate } }\nrest: sequence dp", // outer ones first
                              "rest: sequence dp\nh { 0 { rest: replicate }\n rest: sequence tp }"}) {
    EXPECT_THAT(said(entries), IsEmpty()) << entries;
    EXPECT_THAT(styles(), ElementsAre("h = sequence tp", "h.0 = replicate", "h.0.a = replicate", "h.0.b = replicate",
                                      "h.1.a = sequence tp", "g = sequence dp"));
  }
}

TEST_F(Coverage, TwoRestsOfOneScope) {
  hold("a", {"w", "b"});
  hold("a.b", {"w"});
  const std::string two = "two 'rest' take 'a.w'";
  EXPECT_THAT(said("rest: replicate\na: replicate\nrest: sequence tp"),
              ElementsAre("5: two 'rest' take 'a.b.w'", "3: the other one is here"));
  EXPECT_THAT(said("a { rest: replicate }\na { rest: replicate }"),
              ElementsAre("4: " + two, "3: the other one is here"))
      << "once for all parameters, and two blocks of one path are two";
  EXPECT_THAT(said("a { rest: replicate }\na { b { rest: sequence tp } }"),
              ElementsAre("4: two 'rest' take 'a.b.w'", "3: the other one is here"))
      << "the second is not written inside the first";
  EXPECT_THAT(said("a { rest: replicate\n b { rest: replicate }\n rest: sequence tp }"),
              ElementsAre("5: " + two, "3: the other one is here"));
  EXPECT_THAT(said("rest: replicate\nrest: replicate\nrest: replicate").size(), 4u) << "the first with each other";
}

TEST_F(Coverage, ATiedParameterOfTwoBlocks) {
  hold("a", {"w"});
  hold("b", {"v"});
  model.parameters[0].names.push_back({1, "w"});
  EXPECT_THAT(said("a { rest: replicate }\nb { rest: replicate }"),
              ElementsAre("4: two 'rest' take 'a.w'", "3: the other one is here"));
  hold("c", {"w"});
  EXPECT_THAT(said("rest: replicate\nb { rest: sequence tp }"), IsEmpty());
  EXPECT_THAT(styles(), ElementsAre("a = sequence tp", "b = sequence tp", "c = replicate"))
      << "the inner one takes it, with both modules";
}

TEST_F(Coverage, OutsideOfItsBlockARestTakesNothing) {
  hold("a", {"w"});
  hold("ab", {"w"});
  EXPECT_THAT(said("a { rest: replicate }"),
              ElementsAre("1: no entry places the parameters of 'ab'", "add 'ab: replicate', or " + allThatIsLeft));
  EXPECT_THAT(taken(0), ElementsAre("a"));
}

TEST_F(Coverage, AnIdleRestIsAWarning) {
  hold("a", {"w"});
  hold("b", {"w"});
  EXPECT_THAT(said("a: replicate\na { rest: replicate }\nrest: replicate"),
              ElementsAre("4: 'rest' covers nothing: every parameter of its block has an entry"));
  EXPECT_EQ(diagnostics.errorCount(), 0u);
  EXPECT_THAT(said("a: replicate\na { rest: replicate }"),
              ElementsAre("1: no entry places the parameters of 'b'", "add 'b: replicate', or " + allThatIsLeft))
      << "an error may be the cause";
  EXPECT_THAT(said("a: colwize tp\nb: replicate\nrest: replicate"),
              ElementsAre("3: unknown style 'colwize'", "did you mean 'colwise'?"));
}

TEST_F(Coverage, RestHasNoParametersOfItsOwn) {
  hold("a", {"w"});
  EXPECT_THAT(said("rest: replicate, parameter { w: replicate }"),
              ElementsAre("3: 'rest' takes a style, not a 'parameter' clause"));
}

TEST_F(Coverage, ModulesAreCounted) {
  hold("", {});
  hold("a", {"w", "b"});
  hold("b", {"w", "b"});
  hold("c", {"w"});
  hold("d", {"w"});
  model.parameters[0].names.push_back({4, "v"}); // a.w is d.v
  EXPECT_THAT(said("a: replicate\nb: parameter { w: replicate }\nrest: replicate"), IsEmpty());
  EXPECT_EQ(plan.coverage.parameterModules, 4u);
  EXPECT_EQ(plan.coverage.byEntries, 1u) << "a; of b one parameter is left, as of d";
  EXPECT_EQ(plan.coverage.byRest, 3u);
}

} // namespace
