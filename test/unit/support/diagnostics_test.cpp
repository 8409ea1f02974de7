//===- diagnostics_test.cpp - errors as the user reads them ----------------===//

#include "compiler/support/diagnostics.h"

#include <gtest/gtest.h>

using namespace meshplan;

namespace {

TEST(Diagnostics, PrintsPlaceLineNotesAndHelp) {
  Sources sources;
  int32_t plan = sources.add("a.plan", "mesh dp = 2\nlm_head: colwise tq\n").file();
  Diagnostics diagnostics(sources);
  diagnostics.error({plan, 2, 18, 20}, "unknown axis 'tq'")
      .note({plan, 1, 6, 8}, "the mesh has axis dp")
      .help("did you mean 'dp'?");
  diagnostics.warning({plan, 1, 1, 2}, "short");
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

TEST(Diagnostics, PlacesWithoutLineOrFile) {
  Sources sources;
  int32_t archive = sources.add("model.pt2").file();
  Diagnostics diagnostics(sources);
  diagnostics.error({archive}, "truncated");
  diagnostics.error({}, "-D x=1: unknown");
  EXPECT_EQ(diagnostics.text(), "model.pt2: error: truncated\nerror: -D x=1: unknown\n");
}

TEST(Diagnostics, TabsAndWideCharacters) {
  Sources sources;
  int32_t plan = sources.add("a.plan", "\t\xc3\xbc x\r\n").file();
  Diagnostics diagnostics(sources);
  diagnostics.error({plan, 1, 4, 5}, "x");
  EXPECT_EQ(diagnostics.text(), "a.plan:1:4: error: x\n  \t\xc3\xbc x\n  \t  ^\n");
}

TEST(Diagnostics, PlacesOutsideTheText) {
  Sources sources;
  int32_t plan = sources.add("a.plan", "ab").file();
  Diagnostics diagnostics(sources);
  diagnostics.error({plan, 1, 3, 9}, "end");
  diagnostics.error({plan, 7, 1, 2}, "beyond");
  EXPECT_EQ(diagnostics.text(), "a.plan:1:3: error: end\n  ab\n    ^\na.plan:7:1: error: beyond\n");
}

TEST(Sources, FindsFilesAndPieces) {
  Sources sources;
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

TEST(Diagnostics, EmptyHelpIsNone) {
  Sources sources;
  Diagnostics diagnostics(sources);
  diagnostics.error({}, "x").help("");
  EXPECT_EQ(diagnostics.text(), "error: x\n");
}

} // namespace
