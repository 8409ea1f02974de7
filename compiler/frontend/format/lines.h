//===- lines.h - lines of a formatted plan -----------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_FORMAT_LINES_H
#define MESHPLAN_COMPILER_FRONTEND_FORMAT_LINES_H

#include <string>
#include <vector>

namespace meshplan::format {

constexpr size_t lineWidth = 120;

/// A piece of a statement; the line may be broken after it.
struct Part {
  std::string text;
  bool mustBreak = false; ///< it ends in a `//` comment
};

/// One statement, the head or the end of a block, or a comment.
struct Line {
  size_t depth = 0;
  bool blankBefore = false;
  std::string key; ///< `mlp.down_proj:` of an entry; its value is aligned
  std::vector<Part> parts;
  std::string comment; ///< after the statement
};

/// The width of a text in columns: the number of its code points.
size_t widthOf(const std::string &text);

/// Aligns and breaks lines.
std::string render(const std::vector<Line> &lines);

} // namespace meshplan::format

#endif // MESHPLAN_COMPILER_FRONTEND_FORMAT_LINES_H
