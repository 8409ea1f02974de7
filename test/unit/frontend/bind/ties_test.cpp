//===- ties_test.cpp - one placement for a parameter with several users ---===//

#include "test/unit/frontend/bind/bind_context.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// The modules a, b, c, d: a and b each hold the first parameter, c reads it; d holds another one.
class Ties : public test::BindContext {
protected:
  Ties() {
    model.modules = {{"a", "Embedding"}, {"b", "Linear"}, {"c", "Linear"}, {"d", "Linear"}};
    model.parameters = {{{{0, "w"}, {1, "v"}}, {0, 2}, {4, 4}}, {{{3, "w"}}, {3}, {4, 4}}};
  }

  /// The diagnostics about ties with these entries, without `help`.
  std::vector<std::string> check(const std::string &entries) {
    diagnostics = Diagnostics(sources);
    readPlan("mesh dp = 2, tp = 3\n" + entries);
    BoundPlan plan;
    bindEntries(*context, plan);
    std::vector<std::string> result;
    for (const Diagnostic &diagnostic : diagnostics.all()) {
      result.push_back(std::to_string(diagnostic.range.line) + ": " + diagnostic.message);
      for (const auto &note : diagnostic.notes)
        result.push_back(std::to_string(note.range.line) + ": " + note.message);
      EXPECT_THAT(diagnostic.helps, ElementsAre(help));
    }
    return result;
  }

  std::string help = "a tied parameter has one placement; give one that both modules can take";
};

const std::string tied = "tied parameter 'a.w' has two placements: ";

TEST_F(Ties, PlacementsThatAgree) {
  const char *cases[] = {
      "rest: replicate",
      "a: rowwise tp\nrest: replicate",
      // The operator decides which dim a style shards; only the axes can be compared.
      "a: rowwise tp\nb: colwise tp\nrest: replicate",
      "a: rowwise (dp, tp)\nb: colwise (tp, dp)\nrest: replicate",
      "a: rowwise tp, colwise dp\nc: colwise (tp, dp)\nrest: replicate",
      // A sequence replicates its weight.
      "a: sequence tp\nb: replicate\nrest: replicate",
      "a: sequence tp\nb: sequence dp\nrest: replicate",
      "a: rowwise tp, sequence dp\nb: colwise tp\nrest: replicate",
      // A parameter with a style of its own ignores those of the modules that hold it.
      "a.w: rowwise tp\nrest: replicate",
      "a.w: rowwise tp\nb.v: colwise tp\nrest: replicate",
      "a.w: rowwise tp\nb: colwise tp\nrest: replicate",
      // A border does not place parameters.
      "a: rowwise tp\nb: output replicate\nc: input replicate\nrest: replicate",
  };
  for (const char *entries : cases)
    EXPECT_THAT(check(entries), IsEmpty()) << entries;
}

TEST_F(Ties, AStyleAgainstAWholeWeight) {
  EXPECT_THAT(
      check("a: replicate\nb: colwise tp\nrest: replicate"),
      ElementsAre("4: " + tied + "'colwise tp' of 'b' splits it over tp", "3: 'replicate' of 'a' keeps it whole"));
  EXPECT_THAT(
      check("a: sequence tp\nb: colwise tp\nrest: replicate"),
      ElementsAre("4: " + tied + "'colwise tp' of 'b' splits it over tp", "3: 'sequence tp' of 'a' keeps it whole"));
}

TEST_F(Ties, AModuleThatOnlyReadsCounts) {
  EXPECT_THAT(check("a: rowwise tp\nc: colwise (dp, tp)\nrest: replicate"),
              ElementsAre("4: " + tied + "'colwise (dp, tp)' of 'c' splits it over (dp, tp)",
                          "3: 'rowwise tp' of 'a' splits it over tp"));
}

TEST_F(Ties, AModuleLeavesWhatIsBelowItToTheStyleThere) {
  model.modules = {{"a", "MultiheadAttention"}, {"a.out", "Linear"}, {"c", "Linear"}, {"d", "Linear"}};
  model.parameters = {{{{0, "w"}}, {0}, {12, 4}}, {{{1, "w"}}, {0}, {4, 4}}, {{{2, "w"}, {3, "w"}}, {2, 3}, {4, 4}}};
  EXPECT_THAT(check("a: colwise tp\na.out: rowwise dp\nrest: replicate"), IsEmpty());
  EXPECT_THAT(check("a.out: rowwise tp\nrest: replicate"), IsEmpty());
  EXPECT_THAT(check("a: colwise tp\na.out: output replicate\nrest: replicate"), IsEmpty());
}

TEST_F(Ties, TheFirstOfThePlanIsComparedWithTheOthers) {
  EXPECT_THAT(
      check("c: colwise tp\na: rowwise dp\nb: colwise dp\nrest: replicate"),
      ElementsAre("4: " + tied + "'rowwise dp' of 'a' splits it over dp", "3: 'colwise tp' of 'c' splits it over tp",
                  "5: " + tied + "'colwise dp' of 'b' splits it over dp", "3: 'colwise tp' of 'c' splits it over tp"));
  EXPECT_THAT(
      check("b: colwise dp; a: rowwise tp\nrest: replicate"),
      ElementsAre("3: " + tied + "'rowwise tp' of 'a' splits it over tp", "3: 'colwise dp' of 'b' splits it over dp"))
      << "on one line, the column tells";
}

TEST_F(Ties, AllStylesOfAModuleAreShown) {
  EXPECT_THAT(check("a: rowwise tp, colwise dp\nb: colwise tp\nrest: replicate"),
              ElementsAre("4: " + tied + "'colwise tp' of 'b' splits it over tp",
                          "3: 'rowwise tp, colwise dp' of 'a' splits it over (dp, tp)"));
}

TEST_F(Ties, ALayoutOfTheParameterStandsAboveStyles) {
  EXPECT_THAT(check("a: rowwise tp, parameter { w: split 0 over dp }\nb: colwise tp\nrest: replicate"), IsEmpty());
}

TEST_F(Ties, LayoutsOfTheParameterAgreeDimByDim) {
  struct {
    const char *a, *b;
    std::string second, first;
  } cases[] = {
      {"split 1 over tp", "[_, _ over tp]", "", ""},
      {"replicate", "[_, _]", "", ""},
      {"[_ over dp, _ over tp]", "[_ over dp, _ over tp]", "", ""},
      {"split 0 over tp", "split 1 over tp", "splits dim 1 over tp", "splits dim 0 over tp"},
      {"split 0 over (dp, tp)", "split 0 over (tp, dp)", "splits dim 0 over (tp, dp)", "splits dim 0 over (dp, tp)"},
      {"split 0 over tp parts 2", "[_ over tp, _] parts (a 1, b 1)", "", ""},
      {"split 0 over tp parts 2", "split 0 over tp", "splits dim 0 over tp", "splits dim 0 over tp"},
      {"split 0 over tp", "replicate", "keeps it whole", "splits dim 0 over tp"},
      {"[_ over tp, _ over dp]", "[_ over dp, _ over tp]", "splits dim 0 over dp, dim 1 over tp",
       "splits dim 0 over tp, dim 1 over dp"},
  };
  for (const auto &[a, b, second, first] : cases) {
    std::vector<std::string> said = check("a: replicate, parameter { w: " + std::string(a) +
                                          " }\nb: replicate, parameter { v: " + b + " }\nrest: replicate");
    if (second.empty())
      EXPECT_THAT(said, IsEmpty()) << a << " " << b;
    else
      EXPECT_THAT(said, ElementsAre("4: " + tied + "'v: " + b + "' of 'b' " + second,
                                    "3: 'w: " + std::string(a) + "' of 'a' " + first));
  }
}

TEST_F(Ties, TheStyleIsShownWhereItStands) {
  // The layout at the border is a separate entry and places no parameter.
  EXPECT_THAT(
      check("a: rowwise tp\nb: colwise dp\nb: output replicate\nrest: replicate"),
      ElementsAre("4: " + tied + "'colwise dp' of 'b' splits it over dp", "3: 'rowwise tp' of 'a' splits it over tp"));
  // `rest` applies to b because no entry places one of its parameters.
  model.parameters.push_back({{{1, "bias"}}, {1}, {4}});
  EXPECT_THAT(
      check("a: rowwise tp\nb: output replicate\nrest: replicate"),
      ElementsAre("5: " + tied + "'replicate' of 'b' keeps it whole", "3: 'rowwise tp' of 'a' splits it over tp"));
}

/// As with a parametrization, which reads a parameter that the module above it owns.
TEST_F(Ties, AnotherModuleReadsTheParameter) {
  model.parameters[1].readers = {2, 3};
  help = "the owner of a parameter and its readers must give it the same placement; write 'c: rowwise tp', too";
  EXPECT_THAT(check("d: rowwise tp\nc: replicate\n{a, b}: replicate"),
              ElementsAre("4: parameter 'd.w' has two placements: 'replicate' of 'c' keeps it whole",
                          "3: 'rowwise tp' of 'd' splits it over tp"));
}

} // namespace
