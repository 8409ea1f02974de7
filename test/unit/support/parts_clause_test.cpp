//===- parts_clause_test.cpp - parts of a dim in plan syntax --------------===//

#include "compiler/support/parts_clause.h"
#include "gtest/gtest.h"

using namespace meshplan;

TEST(PartsClause, IsInTheSmallestProportion) {
  EXPECT_EQ(partsClause({64, 64, 64}), "parts 3");
  EXPECT_EQ(partsClause({4096, 512, 512}), "parts (q 8, k 1, v 1)");
  EXPECT_EQ(partsClause({48, 32}), "parts (3, 2)");
  EXPECT_EQ(partsClause({4096, 512, 512}, /*mayBeHeads=*/false), "parts (8, 1, 1)");
}

TEST(PartsClause, ElementsThatGoTogether) {
  auto text = [](int64_t unit, llvm::ArrayRef<DimPart> parts, int64_t repeat) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printElementGroups(stream, unit, parts, repeat);
    return text;
  };
  EXPECT_EQ(text(1, {}, 1), "");
  EXPECT_EQ(text(64, {}, 1), " unit 64");
  EXPECT_EQ(text(64, {}, 2), " unit 64 repeat 2");
  EXPECT_EQ(text(1, {512, 128, 128}, 1), " parts 512+128+128");
  EXPECT_EQ(text(1, {{512, 64}, {128, 1, 4}, 128}, 1), " parts 512 unit 64 + 128 repeat 4 + 128");
}
