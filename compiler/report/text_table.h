//===- text_table.h - aligned columns ---------------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_REPORT_TEXT_TABLE_H
#define MESHPLAN_COMPILER_REPORT_TEXT_TABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace meshplan {

/// Rows of cells, each column as wide as its widest cell.
class TextTable {
public:
  enum class Align { left, right };

  explicit TextTable(std::vector<Align> columns) : columns(std::move(columns)) {}

  /// At most as many cells as there are columns.
  void addRow(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

  /// Prints two spaces before each row and between columns, none at the end.
  void print(llvm::raw_ostream &stream) const;

private:
  std::vector<Align> columns;
  std::vector<std::vector<std::string>> rows;
};

} // namespace meshplan

#endif // MESHPLAN_COMPILER_REPORT_TEXT_TABLE_H
