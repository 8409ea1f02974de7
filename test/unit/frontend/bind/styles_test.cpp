//===- styles_test.cpp - the clauses of an entry --------------------------===//

#include "test/unit/frontend/bind/bind_context.h"
#include "test/unit/frontend/models.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

namespace {

/// Entries of a plan on dp = 2, cp = 2, tp = 3; `let n = 4` is defined.
class BindStyles : public test::BindContext {
protected:
  EntryStyles bind(const std::string &clauses) {
    readPlan("mesh dp = 2, cp = 2, tp = 3\nlet n = 4\nm: " + clauses);
    return bindClauses(*context, syntax->entries.at(0));
  }
  EntryStyles right(const std::string &clauses) {
    EntryStyles result = bind(clauses);
    EXPECT_EQ(diagnostics.text(), "") << clauses;
    return result;
  }
  BoundStyle style(const std::string &clause) {
    EntryStyles result = right(clause);
    EXPECT_EQ(result.styles.size(), 1u) << clause;
    return result.styles.at(0);
  }
  /// The errors in the clauses, without locations, and their helps.
  std::vector<std::string> faults(const std::string &clauses) {
    size_t before = diagnostics.all().size();
    bind(clauses);
    return test::messagesAndHelps(diagnostics.all().drop_front(before));
  }
};

const std::pair<const char *, StyleKind> kinds[] = {
    {"colwise", StyleKind::Colwise}, {"rowwise", StyleKind::Rowwise}, {"sequence", StyleKind::Sequence},
    {"expert", StyleKind::Expert},   {"within", StyleKind::Within},   {"replicate", StyleKind::Replicate}};

TEST_F(BindStyles, EveryStyleHasItsName) {
  for (auto [name, kind] : kinds) {
    EXPECT_EQ(styleName(kind), name);
    std::string text = kind == StyleKind::Replicate ? name : std::string(name) + " tp";
    BoundStyle bound = style(text);
    EXPECT_EQ(bound.kind, kind);
    EXPECT_EQ(bound.text, text);
    EXPECT_EQ(bound.range, (SourceRange{bound.range.file, 4, 4, 4 + static_cast<int32_t>(text.size())}));
    EXPECT_EQ(bound.dim, 1);
    EXPECT_THAT(bound.parts, IsEmpty());
  }
}

TEST_F(BindStyles, AxesKeepTheirOrder) {
  EXPECT_THAT(style("colwise tp").axes, ElementsAre(2));
  EXPECT_THAT(style("rowwise (tp, dp)").axes, ElementsAre(2, 0));
  EXPECT_THAT(style("expert (dp, cp, tp)").axes, ElementsAre(0, 1, 2));
  EXPECT_THAT(style("replicate").axes, IsEmpty());
}

TEST_F(BindStyles, OnlySomeStylesDivideParameters) {
  for (const char *text : {"colwise tp", "rowwise tp", "expert tp", "within tp", "sequence dp, rowwise tp"})
    EXPECT_TRUE(right(text).dividing()) << text;
  for (const char *text : {"sequence tp", "replicate", "output replicate"})
    EXPECT_FALSE(right(text).dividing()) << text;
}

TEST_F(BindStyles, PartsAreEqualOrListed) {
  for (const char *name : {"colwise", "rowwise"}) {
    EXPECT_EQ(style(name + std::string(" tp parts 2")).parts.size(), 2u);
    BoundStyle equal = style(name + std::string(" tp parts n - 1"));
    ASSERT_EQ(equal.parts.size(), 3u);
    EXPECT_EQ(equal.parts[2].name, "");
    EXPECT_EQ(equal.parts[2].count, 1);
    BoundStyle listed = style(name + std::string(" tp parts (heads 2 * n, 1, kv 3)"));
    ASSERT_EQ(listed.parts.size(), 3u);
    EXPECT_EQ(listed.parts[0].name + listed.parts[1].name + listed.parts[2].name, "headskv");
    EXPECT_EQ(listed.parts[0].count, 8);
    EXPECT_EQ(listed.parts[1].count, 1);
    EXPECT_EQ(listed.parts[2].count, 3);
  }
}

TEST_F(BindStyles, ASequenceHasADim) {
  EXPECT_EQ(style("sequence tp dim 0").dim, 0);
  EXPECT_EQ(style("sequence tp dim n").dim, 4);
}

TEST_F(BindStyles, StylesOfOneEntryShareNoAxis) {
  EntryStyles both = right("colwise tp, rowwise (dp, cp)");
  ASSERT_EQ(both.styles.size(), 2u);
  EXPECT_THAT(both.styles[0].axes, ElementsAre(2));
  EXPECT_THAT(both.styles[1].axes, ElementsAre(0, 1));
  // Borders and parameters are different tensors.
  right("colwise tp, output split 0 over tp, input [_ over tp], parameter { w: split 0 over tp }");
  EXPECT_THAT(faults("colwise tp, rowwise (dp, tp)"), testing::Contains("axis 'tp' is used twice"));
}

TEST_F(BindStyles, BordersHaveASideAndANumber) {
  EntryStyles bound = right("input replicate, output 1 split 2 over (dp, tp), input 12 [_ over cp, _, _], output []");
  ASSERT_EQ(bound.borders.size(), 4u);
  EXPECT_THAT(bound.styles, IsEmpty());
  EXPECT_TRUE(bound.borders[0].isInput && bound.borders[2].isInput);
  EXPECT_FALSE(bound.borders[1].isInput || bound.borders[3].isInput);
  EXPECT_EQ(bound.borders[0].index, 0);
  EXPECT_EQ(bound.borders[1].index, 1);
  EXPECT_EQ(bound.borders[2].index, 12);
  EXPECT_THAT(bound.borders[0].layout.splits, IsEmpty());
  EXPECT_EQ(bound.borders[0].layout.rank, std::nullopt);
  ASSERT_EQ(bound.borders[1].layout.splits.size(), 1u);
  EXPECT_EQ(bound.borders[1].layout.splits[0].dim, 2);
  EXPECT_THAT(bound.borders[1].layout.splits[0].axes, ElementsAre(0, 2));
  EXPECT_THAT(bound.borders[2].layout.rank, Optional(3u));
  EXPECT_EQ(bound.borders[2].layout.splits.at(0).dim, 0);
  EXPECT_THAT(bound.borders[3].layout.rank, Optional(0u));
}

TEST_F(BindStyles, ParametersHaveLayoutsOfTheirOwn) {
  EntryStyles bound = right("parameter { weight: split n - 3 over tp; bias: replicate\nscale: [_ over dp] }");
  std::vector<std::string> names;
  for (const auto &[placement, layout] : bound.placements)
    names.push_back(placement->parameter.text + " = " + layout.text);
  EXPECT_THAT(names, ElementsAre("weight = weight: split n - 3 over tp", "bias = bias: replicate",
                                 "scale = scale: [_ over dp]"));
  EXPECT_EQ(bound.placements[0].second.splits.at(0).dim, 1);
  EXPECT_FALSE(bound.dividing()) << "they need no operator that divides them";
}

TEST_F(BindStyles, WrongOptionsAreNamed) {
  EXPECT_THAT(faults("expert tp parts 2"),
              ElementsAre("style 'expert' has no option 'parts'", "'expert' takes no options"));
  EXPECT_THAT(faults("sequence tp parts 2"),
              ElementsAre("style 'sequence' has no option 'parts'", "options of 'sequence': 'dim'"));
  EXPECT_THAT(faults("rowwise tp dim 1"),
              ElementsAre("style 'rowwise' has no option 'dim'", "options of 'rowwise': 'parts'"));
  EXPECT_THAT(faults("sequence tp dim (0, 1)"), ElementsAre("'dim' takes one number", "write 'dim 1'"));
  EXPECT_THAT(faults("colwise tp parts m"),
              ElementsAre("unknown name 'm'", "names of this plan: 'cp', 'dp', 'n', 'tp', 'world'"));
}

TEST_F(BindStyles, CountsHaveASmallestValue) {
  EXPECT_THAT(faults("colwise tp parts n - 3"), ElementsAre("the number of parts is at least 2, and this is 1",
                                                            "'parts 3' means three projections of equal size"));
  EXPECT_THAT(faults("colwise tp parts (a n - 5, b 1)"),
              ElementsAre("the size of a part is at least 1, and this is -1",
                          "sizes are in proportion: 'parts (q 4, k 1, v 1)'"));
  EXPECT_THAT(faults("sequence tp dim 3 - n"), ElementsAre("a dim is at least 0, and this is -1", "dims count from 0"));
  EXPECT_THAT(faults("output split 3 - n over tp"), ElementsAre("dims count from 0, and this is -1"));
}

TEST_F(BindStyles, EachSideAndNumberHasOneLayout) {
  EXPECT_THAT(faults("input replicate, output replicate, input 0 split 0 over tp"),
              ElementsAre("input 0 has two layouts"));
  EXPECT_THAT(faults("output 99999999999999999999 replicate"),
              ElementsAre("'99999999999999999999' is not the number of an output"));
}

TEST_F(BindStyles, AParameterHasOneLayout) {
  for (const char *other : {"replicate", "split 0 over tp"}) // repeating a style is an error, too
    EXPECT_THAT(faults(std::string("colwise cp, parameter { w: split 0 over tp; b: replicate; w: ") + other + " }"),
                ElementsAre("parameter 'w' has two layouts"));
  EXPECT_THAT(faults("parameter { w: replicate }, parameter { w: replicate }"),
              ElementsAre("parameter 'w' has two layouts"));
}

TEST_F(BindStyles, AllThatIsWrongIsReported) {
  EXPECT_THAT(faults("colwize tp, rowwise tq, output shard, replicate"),
              ElementsAre("unknown style 'colwize'", "did you mean 'colwise'?", "unknown axis 'tq'",
                          "did you mean 'tp'?", "unknown layout 'shard'",
                          "layouts: 'replicate', 'split DIM over AXIS', '[NAME over AXIS, _]'",
                          "'replicate' and 'rowwise tq' exclude each other"));
}

} // namespace
