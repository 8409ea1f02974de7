//===- text_table.cpp - aligned columns -----------------------------------===//

#include "compiler/report/text_table.h"
#include <algorithm>

/// The width of a cell in columns: the number of its code points.
static size_t widthOf(const std::string &cell) {
  return std::count_if(cell.begin(), cell.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

void meshplan::TextTable::print(llvm::raw_ostream &stream) const {
  std::vector<size_t> widths(columns.size(), 0);
  for (const auto &row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], widthOf(row[column]));
  for (const auto &row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      std::string padding(widths[column] - widthOf(row[column]), ' ');
      line.append("  ");
      line.append(columns[column] == Align::right ? padding + row[column] : row[column] + padding);
    }
    stream << llvm::StringRef(line).rtrim() << '\n';
  }
}
