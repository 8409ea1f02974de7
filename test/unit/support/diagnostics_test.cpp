//===- diagnostics_test.cpp - diagnostics as text -------------------------===//

#include "compiler/support/diagnostics.h"
#include "test/unit/support/diagnostics_fixture.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshplan;

namespace json = llvm::json;

namespace {

TEST_F(DiagnosticsTest, PrintsPlaceLineNotesAndHelp) {
  reportPlaces();
  EXPECT_EQ(diagnostics.text(), "a.plan:2:18: error: unknown axis 'tq'\n"
                                "  lm_head: colwise tq\n"
                                "                   ^~\n"
                                "a.plan:1:6: note: the mesh has axis dp\n"
                                "  mesh dp = 2\n"
                                "       ^~\n"
                                "help: did you mean 'dp'?\n"
                                "a.plan:1:1: warning: short\n"
                                "  mesh dp = 2\n"
                                "  ^\n");
  EXPECT_EQ(diagnostics.errorCount(), 1u);
  EXPECT_EQ(diagnostics.all().size(), 2u);
}

TEST_F(DiagnosticsTest, PlacesWithoutLineOrFile) {
  reportWithoutPlaces();
  EXPECT_EQ(diagnostics.text(), "model.pt2: error: truncated\nerror: -D x=1: unknown\n");
}

TEST_F(DiagnosticsTest, TabsAndWideCharacters) {
  int32_t plan = sources.add("a.plan", "\t\xc3\xbc x\r\n").file();
  diagnostics.error({plan, 1, 4, 5}, "x");
  EXPECT_EQ(diagnostics.text(), "a.plan:1:4: error: x\n  \t\xc3\xbc x\n  \t  ^\n");
}

TEST_F(DiagnosticsTest, MarksCountCharactersAndKeepTabs) {
  int32_t plan = sources.add("a.plan", "\xc3\xbc\tx\n\xe2\x82\xacy\n").file();
  auto excerpt = [&](int32_t line, int32_t column, int32_t end) {
    std::string text;
    llvm::raw_string_ostream os(text);
    printExcerpt(os, sources, {plan, line, column, end});
    return text.substr(text.find('\n') + 1);
  };
  EXPECT_EQ(excerpt(1, 3, 4), "   \t^\n") << "a tab after a character of two bytes";
  EXPECT_EQ(excerpt(1, 1, 3), "  ^~\n");
  EXPECT_EQ(excerpt(2, 1, 9), "  ^~\n") << "two characters, four bytes";
  EXPECT_EQ(excerpt(2, 2, 2), "   ^\n") << "an empty range has a mark";
  EXPECT_EQ(excerpt(2, 5, 7), "      ^\n") << "after the end of the line";
  EXPECT_EQ(excerpt(0, 1, 2), "") << "a file as a whole has no line";
}

TEST_F(DiagnosticsTest, LongLinesAreCutAroundThePlace) {
  std::string digits = "0123456789", most, more;
  for (int block = 0; block < 16; ++block)
    most += digits;
  more = most + most + most;
  int32_t plan = sources.add("a.plan", most + "\n" + more + "\n").file();
  auto excerpt = [&](int32_t line, int32_t column, int32_t end) {
    std::string text;
    llvm::raw_string_ostream os(text);
    printExcerpt(os, sources, {plan, line, column, end});
    return text;
  };
  auto blanks = [](size_t count) { return std::string(count, ' '); };
  EXPECT_EQ(excerpt(1, 160, 161), "  " + most + "\n" + blanks(161) + "^\n") << "160 characters are whole";
  EXPECT_EQ(excerpt(2, 2, 4), "  " + most + "...\n   ^~\n");
  EXPECT_EQ(excerpt(2, 61, 62), "  " + most + "...\n" + blanks(62) + "^\n");
  EXPECT_EQ(excerpt(2, 201, 204), "  ..." + most + "...\n" + blanks(65) + "^~~\n") << "60 characters in front";
  EXPECT_EQ(excerpt(2, 480, 481), "  ..." + most + "\n" + blanks(164) + "^\n");
  EXPECT_EQ(excerpt(2, 481, 482), "  ..." + most + "\n" + blanks(165) + "^\n") << "after the end of the line";
  EXPECT_EQ(excerpt(2, 201, 400), "  ..." + most + "...\n" + blanks(65) + "^" + std::string(99, '~') + "\n")
      << "marked as far as it is shown";
}

TEST_F(DiagnosticsTest, LinesEndAtTheirBreak) {
  const SourceBuffer &plan = sources.add("a.plan", "one\r\n\ntwo");
  EXPECT_EQ(plan.line(1), "one");
  EXPECT_EQ(plan.line(2), "");
  EXPECT_EQ(plan.line(3), "two");
  for (int32_t none : {-1, 0, 4})
    EXPECT_EQ(plan.line(none), "") << none;
  EXPECT_EQ(sources.add("b.plan").line(1), "") << "a file without text";
  EXPECT_EQ(plan.piece({plan.file(), 3, 2, 3}), "w");
  EXPECT_EQ(plan.piece({plan.file(), 3, 3, 3}), "");
}

TEST_F(DiagnosticsTest, PlacesOutsideTheText) {
  int32_t plan = sources.add("a.plan", "ab").file();
  diagnostics.error({plan, 1, 3, 9}, "end");
  diagnostics.error({plan, 7, 1, 2}, "beyond");
  EXPECT_EQ(diagnostics.text(), "a.plan:1:3: error: end\n  ab\n    ^\na.plan:7:1: error: beyond\n");
}

TEST_F(DiagnosticsTest, FindsFilesAndPieces) {
  const SourceBuffer &plan = sources.add("a.plan", "x\n\xc3\xbc: colwise tp // y\n");
  EXPECT_EQ(sources.find("a.plan"), &plan);
  EXPECT_EQ(sources.find("b.plan"), nullptr);
  EXPECT_EQ(plan.piece({plan.file(), 2, 4, 14}), "colwise tp");
  EXPECT_EQ(plan.piece({plan.file(), 2, 17, 99}), " y");
  EXPECT_EQ(plan.piece({plan.file(), 9, 1, 2}), "");
  EXPECT_EQ(locationText(sources, {plan.file(), 2, 4, 14}), "a.plan:2:4");
  EXPECT_EQ(locationText(sources, {plan.file()}), "a.plan");
  EXPECT_EQ(locationText(sources, {}), "");
}

TEST_F(DiagnosticsTest, SaysNothingTwice) {
  for (const char *help : {"a way out", "a way out", "another"}) {
    diagnostics.error({}, "wrong").help(help);
    diagnostics.warning({}, "odd").help("a way out");
  }
  EXPECT_EQ(diagnostics.text(), "error: wrong\nhelp: a way out\n"
                                "error: wrong\nhelp: another\n"
                                "warning: odd\nhelp: a way out\n");
  EXPECT_EQ(diagnosticsToJson(diagnostics, Severity::Error).size(), 2u);
}

TEST_F(DiagnosticsTest, EmptyHelpIsNone) {
  diagnostics.error({}, "x").help("");
  EXPECT_EQ(diagnostics.text(), "error: x\n");
}

using DiagnosticsJson = DiagnosticsTest;

json::Value parse(llvm::StringRef text) { return llvm::cantFail(json::parse(text)); }

TEST_F(DiagnosticsJson, HasPlacesNotesAndHelp) {
  reportPlaces();
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([{
    "file": "a.plan", "line": 2, "column": 18, "message": "unknown axis 'tq'",
    "notes": [{"file": "a.plan", "line": 1, "column": 6, "message": "the mesh has axis dp"}],
    "help": ["did you mean 'dp'?"]}])"));
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Warning)),
            parse(R"([{"file": "a.plan", "line": 1, "column": 1, "message": "short", "notes": [], "help": []}])"));
}

TEST_F(DiagnosticsJson, PlacesWithoutLineOrFile) {
  reportWithoutPlaces();
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([
    {"file": "model.pt2", "line": null, "column": null, "message": "truncated", "notes": [], "help": []},
    {"file": null, "line": null, "column": null, "message": "-D x=1: unknown", "notes": [], "help": []}])"));
}

/// Names of files may hold any bytes, and JSON is UTF-8.
TEST_F(DiagnosticsJson, IsUtf8) {
  int32_t plan = sources.add("\xff.plan").file();
  diagnostics.error({plan}, "'\xfe' is unknown").note({}, "\xfe").help("\xfe");
  EXPECT_EQ(json::Value(diagnosticsToJson(diagnostics, Severity::Error)), parse(R"([
    {"file": "\ufffd.plan", "line": null, "column": null, "message": "'\ufffd' is unknown",
     "notes": [{"file": null, "line": null, "column": null, "message": "\ufffd"}], "help": ["\ufffd"]}])"));
}

} // namespace
