//===- text_table_test.cpp - aligned columns ------------------------------===//

#include "compiler/report/text_table.h"
#include <gtest/gtest.h>

using namespace meshplan;

namespace {

using Align = TextTable::Align;

std::string print(const TextTable &table) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  table.print(stream);
  return text;
}

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  TextTable table({Align::left, Align::right, Align::left});
  table.addRow({"a", "1", "x"});
  table.addRow({"long", "1234", "y"});
  EXPECT_EQ(print(table), "  a        1  x\n"
                          "  long  1234  y\n");
}

TEST(TextTable, NothingIsPrintedBehindARow) {
  TextTable table({Align::left, Align::left});
  table.addRow({"a", ""});
  table.addRow({"long", "text"});
  table.addRow({"", ""});
  EXPECT_EQ(print(table), "  a\n"
                          "  long  text\n"
                          "\n");
}

TEST(TextTable, ShortRowsEndEarly) {
  TextTable table({Align::left, Align::right});
  table.addRow({"heading of the table"});
  table.addRow({"a", "12"});
  table.addRow({});
  EXPECT_EQ(print(table), "  heading of the table\n"
                          "  a                     12\n"
                          "\n");
}

TEST(TextTable, WidthsAreOfCharactersNotBytes) {
  TextTable table({Align::left, Align::right, Align::left});
  table.addRow({"\xc3\xbc.plan:3", "\xe2\x82\xac", "x"});
  table.addRow({"a.plan:12", "10", "y"});
  EXPECT_EQ(print(table), "  \xc3\xbc.plan:3    \xe2\x82\xac  x\n"
                          "  a.plan:12  10  y\n");
}

TEST(TextTable, AnEmptyTableIsNothing) { EXPECT_EQ(print(TextTable({Align::left})), ""); }

} // namespace
