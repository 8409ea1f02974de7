//===- text_table.cpp - aligned columns -----------------------------------===//

#include "compiler/report/text_table.h"

void meshplan::TextTable::print(llvm::raw_ostream &stream) const {
  std::vector<size_t> widths(columns.size(), 0);
  for (const auto &row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      std::string padding(widths[column] - row[column].size(), ' ');
      line.append("  ");
      line.append(columns[column] == Align::right ? padding + row[column] : row[column] + padding);
    }
    stream << llvm::StringRef(line).rtrim() << '\n';
  }
}
