//===- axes_test.cpp - axes and layouts by name ---------------------------===//

#include "test/unit/frontend/bind/bind_context.h"

#include <gmock/gmock.h>

using namespace meshplan;
using namespace meshplan::bind;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// A mesh dp = 2, cp = 2, tp = 3 and an input [batch, seq, _]; `let n = 4` is defined.
class BindAxes : public test::BindContext {
protected:
  void SetUp() override { readPlan("mesh dp = 2, cp = 2, tp = 3\nlet n = 4\ninput x: [batch, seq, _]"); }

  /// Consecutive words in line 5 of the plan, which has no text there.
  static std::vector<Word> words(const std::vector<std::string> &texts) {
    std::vector<Word> result;
    int32_t column = 1;
    for (const std::string &text : texts) {
      auto end = column + static_cast<int32_t>(text.size());
      result.push_back({text, {0, 5, column, end}});
      column = end + 1;
    }
    return result;
  }
  /// The diagnostics since the last call: messages, notes and helps.
  std::vector<std::string> said() {
    std::vector<std::string> result;
    for (const Diagnostic &diagnostic : diagnostics.all().drop_front(seen)) {
      result.push_back(diagnostic.message);
      for (const auto &note : diagnostic.notes)
        result.push_back("note: " + note.message);
      for (const std::string &help : diagnostic.helps)
        result.push_back("help: " + help);
    }
    seen = diagnostics.all().size();
    return result;
  }
  /// The layout of a border with this text, read from a separate plan.
  BoundLayout layout(const std::string &text) {
    readPlan("mesh dp = 2, cp = 2, tp = 3\nlet n = 4\ninput x: [batch, seq, _]\nm: output " + text);
    const auto &border = std::get<BorderClause>(syntax->entries.at(0).clauses.at(0));
    return bindLayout(*context, border.layout, "as written");
  }
  static std::vector<std::string> splitsOf(const BoundLayout &layout) {
    std::vector<std::string> result;
    for (const DimSplit &split : layout.splits) {
      std::string text = std::to_string(split.dim) + ":";
      for (size_t axis : split.axes)
        text += " " + std::to_string(axis);
      result.push_back(text);
    }
    return result;
  }

  size_t seen = 0;
};

TEST_F(BindAxes, AxesAreIndicesInTheOrderWritten) {
  EXPECT_THAT(resolveAxes(*context, words({"tp"})), ElementsAre(2));
  EXPECT_THAT(resolveAxes(*context, words({"tp", "dp", "cp"})), ElementsAre(2, 0, 1));
  EXPECT_THAT(resolveAxes(*context, {}), IsEmpty());
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(BindAxes, AnUnknownAxisIsLeftOut) {
  EXPECT_THAT(resolveAxes(*context, words({"tp", "zq", "dp"})), ElementsAre(2, 0));
  EXPECT_THAT(said(),
              ElementsAre("unknown axis 'zq'", "note: the mesh is here", "help: axes of the mesh: 'dp', 'cp', 'tp'"));
}

TEST_F(BindAxes, AnUnknownAxisTwiceIsUnknownTwice) {
  EXPECT_THAT(resolveAxes(*context, words({"tq", "tq"})), IsEmpty());
  EXPECT_THAT(said(), ElementsAre("unknown axis 'tq'", "note: the mesh is here", "help: did you mean 'tp'?",
                                  "unknown axis 'tq'", "note: the mesh is here", "help: did you mean 'tp'?"));
}

TEST_F(BindAxes, UsedAxesAreThoseOfAllCalls) {
  std::vector<Word> used;
  EXPECT_THAT(resolveAxes(*context, words({"tp"}), used), ElementsAre(2));
  EXPECT_THAT(resolveAxes(*context, words({"dp"}), used), ElementsAre(0));
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_THAT(resolveAxes(*context, words({"cp", "tp"}), used), ElementsAre(1)) << "the second is left out";
  ASSERT_EQ(diagnostics.all().size(), 1u);
  const Diagnostic &twice = diagnostics.all().front();
  EXPECT_EQ(twice.range, (SourceRange{0, 5, 4, 6}));
  EXPECT_EQ(twice.notes.at(0).range, (SourceRange{0, 5, 1, 3})) << "where it stood first";
  EXPECT_THAT(said(), ElementsAre("axis 'tp' is used twice", "note: it is used here, too",
                                  "help: an axis splits at most one dim of a value: remove it from one of the two"));
  std::vector<std::string> names;
  for (const Word &word : used)
    names.push_back(word.text);
  EXPECT_THAT(names, ElementsAre("tp", "dp", "cp"));
}

TEST_F(BindAxes, NamesOfFoldsFollowTheAxes) {
  readPlan("mesh dp = 4, tp = 2\nfold (dp, tp) as (edp = 2, ep = 4)\nfold (dp) as (major = 2, minor = 2, one = 1)");
  EXPECT_THAT(resolveAxes(*context, words({"tp", "edp"})), ElementsAre(1, 2));
  EXPECT_THAT(resolveAxes(*context, words({"edp", "minor"})), ElementsAre(2, 5));
  EXPECT_EQ(axesText(*context, {3, 2}), "(ep, edp)");
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_THAT(resolveAxes(*context, words({"epp"})), IsEmpty());
  EXPECT_THAT(said(), ElementsAre("unknown axis 'epp'", "note: the mesh is here", "help: did you mean 'edp' or 'ep'?"));
}

TEST_F(BindAxes, ADigitIsUsedOnce) {
  const std::string help = "help: an axis splits at most one dim of a value: remove it from one of the two";
  readPlan("mesh dp = 4, tp = 2\nfold (dp, tp) as (edp = 2, ep = 4)\nfold (dp) as (major = 2, minor = 2, one = 1)");
  EXPECT_THAT(resolveAxes(*context, words({"dp", "ep", "tp"})), ElementsAre(0, 1)) << "the second is left out";
  EXPECT_THAT(said(), ElementsAre("'ep' and 'dp' share a digit of axis 'dp'", "note: 'dp' is used here", help));
  EXPECT_THAT(resolveAxes(*context, words({"ep", "tp"})), ElementsAre(3));
  EXPECT_THAT(said(), ElementsAre("'tp' and 'ep' share a digit of axis 'tp'", "note: 'ep' is used here", help));
  EXPECT_THAT(resolveAxes(*context, words({"edp", "major"})), ElementsAre(2)) << "two names of one digit";
  EXPECT_THAT(said(), ElementsAre("'major' and 'edp' share a digit of axis 'dp'", "note: 'edp' is used here", help));
  EXPECT_THAT(resolveAxes(*context, words({"one", "dp", "one"})), ElementsAre(6, 0));
  EXPECT_THAT(said(), ElementsAre("axis 'one' is used twice", "note: it is used here, too", help));
}

TEST_F(BindAxes, AnAxisOfThePlanWithoutMeshIsToBeAdded) {
  readPlan("let n = 4");
  EXPECT_THAT(resolveAxes(*context, words({"tp"})), IsEmpty());
  EXPECT_THAT(said(), ElementsAre("unknown axis 'tp'", "help: the plan has no mesh; add 'mesh tp = SIZE'"));
}

TEST_F(BindAxes, TheTextOfAxesHasParenthesesUnlessItIsOne) {
  EXPECT_EQ(axesText(*context, {1}), "cp");
  EXPECT_EQ(axesText(*context, {2, 0}), "(tp, dp)");
  EXPECT_EQ(axesText(*context, {0, 1, 2}), "(dp, cp, tp)");
  EXPECT_EQ(axesText(*context, {}), "()");
}

TEST_F(BindAxes, DimNamesAreThoseOfInputs) {
  for (const char *name : {"batch", "seq", "_"})
    checkDimName(*context, {name, {}});
  EXPECT_THAT(said(), IsEmpty());
  checkDimName(*context, {"sec", {}});
  EXPECT_THAT(said(),
              ElementsAre("no input has a dim 'sec'", "help: did you mean 'seq'?", "help: '_' leaves a dim unnamed"));
  checkDimName(*context, {"vocabulary", {}});
  EXPECT_THAT(said(), ElementsAre("no input has a dim 'vocabulary'", "help: dims of the inputs: 'batch', 'seq'",
                                  "help: '_' leaves a dim unnamed"));
}

TEST_F(BindAxes, AReplicatedLayoutSplitsNothing) {
  BoundLayout bound = layout("replicate");
  EXPECT_THAT(bound.splits, IsEmpty());
  EXPECT_EQ(bound.rank, std::nullopt);
  EXPECT_THAT(bound.names, IsEmpty());
  EXPECT_EQ(bound.text, "as written");
  EXPECT_EQ(bound.range, (SourceRange{bound.range.file, 5, 11, 20}));
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(BindAxes, ALayoutMaySplitOneDim) {
  BoundLayout bound = layout("split n - 1 over (tp, dp)");
  EXPECT_THAT(splitsOf(bound), ElementsAre("3: 2 0"));
  EXPECT_EQ(bound.rank, std::nullopt) << "it does not say how many dims there are";
  EXPECT_THAT(splitsOf(layout("split 0 over cp")), ElementsAre("0: 1"));
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(BindAxes, AListedLayoutNamesAndCountsItsDims) {
  BoundLayout bound = layout("[batch over (dp, cp), _, seq, _ over tp]");
  EXPECT_THAT(splitsOf(bound), ElementsAre("0: 0 1", "3: 2")) << "whole dims are not splits";
  EXPECT_EQ(bound.rank, 4u);
  EXPECT_THAT(bound.names, ElementsAre("batch", "", "seq", ""));
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_EQ(layout("[]").rank, 0u) << "a scalar has no dims, and that is said";
  EXPECT_THAT(layout("[seq]").names, ElementsAre("seq"));
}

TEST_F(BindAxes, LayoutsThatCannotBe) {
  const std::string help = "help: an axis splits at most one dim of a value: remove it from one of the two";
  EXPECT_THAT(splitsOf(layout("[_ over tp, _ over (dp, tp)]")), ElementsAre("0: 2", "1: 0"));
  EXPECT_THAT(said(), ElementsAre("axis 'tp' is used twice", "note: it is used here, too", help));
  EXPECT_THAT(splitsOf(layout("split 1 over (tp, tp)")), ElementsAre("1: 2"));
  EXPECT_THAT(said(), ElementsAre("axis 'tp' is used twice", "note: it is used here, too", help));
  layout("split 0 - n over tp");
  EXPECT_THAT(said(), ElementsAre("dims count from 0, and this is -4"));
  EXPECT_THAT(splitsOf(layout("split m over tp")), ElementsAre("0: 2")) << "good for continuing";
  EXPECT_THAT(said(), ElementsAre("unknown name 'm'", "help: names of this plan: 'cp', 'dp', 'n', 'tp', 'world'"));
  layout("shard");
  EXPECT_THAT(said(), ElementsAre("unknown layout 'shard'",
                                  "help: layouts: 'replicate', 'split DIM over AXIS', '[NAME over AXIS, _]'"));
  layout("[batch = 4 over dp, sec]");
  EXPECT_THAT(said(),
              ElementsAre("a layout states splits, not extents", "help: give extents with the inputs of the plan",
                          "no input has a dim 'sec'", "help: did you mean 'seq'?", "help: '_' leaves a dim unnamed"));
}

} // namespace
