//===- diagnostics_test.cpp - errors as the user reads them ----------------===//

#include "test/unit/support/diagnostics_fixture.h"

using namespace meshplan;

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
  EXPECT_EQ(placeText(sources, {plan.file(), 2, 4, 14}), "a.plan:2:4");
  EXPECT_EQ(placeText(sources, {plan.file()}), "a.plan");
  EXPECT_EQ(placeText(sources, {}), "");
}

TEST_F(DiagnosticsTest, EmptyHelpIsNone) {
  diagnostics.error({}, "x").help("");
  EXPECT_EQ(diagnostics.text(), "error: x\n");
}

} // namespace
