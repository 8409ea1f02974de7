//===- phases_test.cpp - the phases of the compiler by name ---------------===//

#include "compiler/pipeline/phases.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

TEST(Phases, NamesLeadBackAndStandInTheOrderOfRunning) {
  std::string names;
  Phase phase = Phase::import;
  for (;; phase = nextPhase(phase)) {
    names += (names.empty() ? "" : ", ") + phaseName(phase).str();
    EXPECT_EQ(parsePhase(phaseName(phase)), phase);
    if (phase == Phase::schedule)
      break;
  }
  EXPECT_EQ(names, "import, place, differentiate, propagate, partition, group, schedule");
  EXPECT_EQ(phaseNames(), names);
}

TEST(Phases, OtherWordsAreNone) {
  for (llvm::StringRef word : {"", "Import", "imports", "import ", "artifact", "import, place"})
    EXPECT_EQ(parsePhase(word), std::nullopt) << word.str();
}

} // namespace
