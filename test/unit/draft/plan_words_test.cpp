//===- plan_words_test.cpp - names as plans write them --------------------===//

#include "compiler/draft/plan_words.h"
#include "gtest/gtest.h"

using namespace meshplan;

TEST(PlanWords, StringsHideTheirEnd) {
  EXPECT_EQ(quotedWord("models/a b.pt2"), R"("models/a b.pt2")");
  EXPECT_EQ(quotedWord(R"(a"b\c)"), R"("a\"b\\c")");
}

TEST(PlanWords, WhatIsNoWordIsAString) {
  for (const char *word : {"ids", "_1", "plan", "model"})
    EXPECT_EQ(planWord(word), word);
  EXPECT_EQ(planWord("rest"), "\"rest\"");
  EXPECT_EQ(planWord("7b"), "\"7b\"");
  EXPECT_EQ(planWord("a-b"), "\"a-b\"");
}
