//===- draft_corrections_test.cpp - statements removed from a draft -------===//

#include "compiler/draft/draft_corrections.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshplan;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using Next = DraftCorrections::Next;

/// A pair on lines 5 and 6, a norm on line 7, and a statement of training with two options on lines 8 to 10.
class DraftCorrectionsTest : public testing::Test {
protected:
  DraftCorrectionsTest() {
    add("up", DraftStyle::colwise, 0);
    add("down", DraftStyle::rowwise, 0);
    add("norm", DraftStyle::sequence, 1);
    draft.training = {{"data dp", "", {{"shard optimizer", ""}, {"bucket 25 MiB", ""}}}};
    text.training = {{8, 0, std::nullopt}, {9, 0, 0}, {10, 0, 1}};
  }

  void add(const std::string &path, DraftStyle style, size_t group) {
    StyleChoice choice;
    choice.path = path, choice.style = style, choice.group = group;
    text.entries.push_back({static_cast<int32_t>(5 + choices.size()), {choices.size()}});
    choices.push_back(choice);
    draft.styles.push_back({path, "STYLE"});
  }

  /// The compiler's messages, by line.
  Next said(Severity severity, const std::vector<std::pair<int32_t, std::string>> &reports) {
    Sources sources;
    Diagnostics diagnostics(sources);
    for (const auto &[line, message] : reports) {
      SourceRange range{0, line, 1, 2};
      if (severity == Severity::Error)
        diagnostics.error(range, message);
      else
        diagnostics.warning(range, message);
    }
    return corrections().correct(text, severity == Severity::Warning, diagnostics);
  }
  Next errorAt(int32_t line) { return said(Severity::Error, {{line, "no"}}); }

  DraftCorrections &corrections() {
    if (!kept)
      kept.emplace(draft, choices, inputsOf);
    return *kept;
  }

  std::vector<std::string> styled() const {
    std::vector<std::string> paths;
    for (const LabelledModule &style : draft.styles)
      paths.push_back(style.path);
    return paths;
  }

  Draft draft;
  DraftText text;
  std::vector<StyleChoice> choices;
  std::map<std::string, std::string> inputsOf;
  std::optional<DraftCorrections> kept;
};

} // namespace

TEST_F(DraftCorrectionsTest, AnErrorTakesTheWholePairBack) {
  EXPECT_EQ(errorAt(6), Next::compile);
  EXPECT_THAT(styled(), ElementsAre("norm"));
  ASSERT_EQ(draft.undivided.size(), 2u);
  EXPECT_EQ(draft.undivided[0].path, "up");
  EXPECT_EQ(draft.undivided[0].label, "no");
  EXPECT_EQ(choices.size(), 1u);
  EXPECT_TRUE(draft.splitsBatch);
}

TEST_F(DraftCorrectionsTest, AnErrorOnTheLineOfAnOptionTakesItBack) {
  EXPECT_EQ(errorAt(10), Next::compile);
  ASSERT_EQ(draft.training.size(), 1u);
  ASSERT_EQ(draft.training[0].options.size(), 1u);
  EXPECT_EQ(draft.training[0].options[0].text, "shard optimizer");
  EXPECT_THAT(draft.leftOut, ElementsAre("'bucket 25 MiB': no"));
  EXPECT_EQ(styled().size(), 3u);
}

TEST_F(DraftCorrectionsTest, AnErrorWithoutAStatementIsLaidToTheBatchAndThenToTheModel) {
  EXPECT_EQ(errorAt(1), Next::compile);
  EXPECT_FALSE(draft.splitsBatch);
  EXPECT_EQ(draft.wholeBatchReason, "no");
  EXPECT_EQ(errorAt(1), Next::refuse);
  EXPECT_EQ(styled().size(), 3u);
}

TEST_F(DraftCorrectionsTest, NothingIsLeftToTakeBackWithoutReports) {
  EXPECT_EQ(said(Severity::Warning, {}), Next::take);
  EXPECT_EQ(styled().size(), 3u);
  EXPECT_THAT(draft.undivided, IsEmpty());
}

TEST_F(DraftCorrectionsTest, AWarningThatGoesWithItsStylesTakesThemBack) {
  EXPECT_EQ(said(Severity::Warning, {{5, "gathers"}}), Next::compile);
  EXPECT_THAT(styled(), ElementsAre("norm"));
  EXPECT_EQ(said(Severity::Warning, {}), Next::take);
  EXPECT_THAT(styled(), ElementsAre("norm"));
}

TEST_F(DraftCorrectionsTest, StylesStandAgainWhereAWarningStays) {
  EXPECT_EQ(said(Severity::Warning, {{5, "gathers"}}), Next::compile);
  // It moved to another line of fewer entries, and still exists.
  EXPECT_EQ(said(Severity::Warning, {{3, "gathers"}}), Next::compile);
  EXPECT_THAT(styled(), ElementsAre("up", "down", "norm"));
  EXPECT_THAT(draft.undivided, IsEmpty());
  // The pair was tried because of this warning, which disappears.
  EXPECT_EQ(said(Severity::Warning, {{5, "gathers"}}), Next::take);
}

TEST_F(DraftCorrectionsTest, AWarningWithoutAStatementIsTriedOnTheNorms) {
  EXPECT_EQ(said(Severity::Warning, {{2, "gathers"}}), Next::compile);
  EXPECT_THAT(styled(), ElementsAre("up", "down"));
}

TEST_F(DraftCorrectionsTest, ModulesThatReadTheirInputsWholeSaySoInTheEnd) {
  inputsOf = {{"experts", ", input [_, _]"}};
  EXPECT_EQ(said(Severity::Warning, {{2, "gathers"}}), Next::compile) << "the norms first";
  EXPECT_EQ(said(Severity::Warning, {{2, "gathers"}}), Next::compile) << "they stand again";
  EXPECT_EQ(said(Severity::Warning, {{2, "gathers"}}), Next::compile);
  ASSERT_EQ(draft.styles.size(), 4u);
  EXPECT_EQ(draft.styles[3].path, "experts");
  EXPECT_EQ(draft.styles[3].label, "replicate, input [_, _]");
  EXPECT_THAT(draft.notes, ElementsAre("'experts' reads its inputs whole: they are gathered over all axes."));
  EXPECT_EQ(said(Severity::Warning, {}), Next::take);
}
