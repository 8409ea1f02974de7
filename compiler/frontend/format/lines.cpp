//===- lines.cpp - lines of a formatted plan -------------------------------===//

#include "compiler/frontend/format/lines.h"

#include <algorithm>

using namespace meshplan;
using namespace meshplan::format;

size_t format::widthOf(const std::string &text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

namespace {

size_t indentOf(const Line &line) { return 2 * line.depth; }

/// Visits each run [begin, end) of adjacent lines of one level that satisfy a condition.
template <typename Condition, typename Visit>
void forEachRun(const std::vector<Line> &lines, Condition condition, Visit visit) {
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin + 1;
    while (condition(lines[begin]) && end < lines.size() && condition(lines[end]) && !lines[end].blankBefore &&
           lines[end].depth == lines[begin].depth)
      ++end;
    if (condition(lines[begin]))
      visit(begin, end);
    begin = end;
  }
}

std::string spaces(size_t count) { return std::string(count, ' '); }

/// Writes the parts one after the other; breaks a line that would be too long.
std::string layOut(const Line &line, size_t keyWidth) {
  std::string result = spaces(indentOf(line)) + line.key;
  if (!line.key.empty() && !line.parts.empty())
    result += spaces(keyWidth + 1 - widthOf(line.key));
  size_t width = widthOf(result);
  bool isFirst = true;
  bool mustBreak = false;
  for (const Part &part : line.parts) {
    bool breaks = !isFirst && (mustBreak || width + 1 + widthOf(part.text) > lineWidth);
    std::string gap = isFirst ? "" : breaks ? "\n" + spaces(indentOf(line) + 4) : " ";
    result += gap + part.text;
    width = (breaks ? indentOf(line) + 4 : width + gap.size()) + widthOf(part.text);
    mustBreak = part.mustBreak;
    isFirst = false;
  }
  return result;
}

size_t lastWidth(const std::string &text) {
  size_t newline = text.rfind('\n');
  return widthOf(newline == std::string::npos ? text : text.substr(newline + 1));
}

} // namespace

std::string format::render(const std::vector<Line> &lines) {
  std::vector<size_t> keyWidths(lines.size(), 0);
  forEachRun(
      lines, [](const Line &line) { return !line.key.empty(); },
      [&](size_t begin, size_t end) {
        size_t widest = 0;
        for (size_t i = begin; i < end; ++i)
          widest = std::max(widest, widthOf(lines[i].key));
        std::fill(keyWidths.begin() + begin, keyWidths.begin() + end, widest);
      });
  // Keys are aligned before lines are laid out, because the width of a key decides where a line breaks; comments are
  // aligned afterwards, because their column depends on the last piece of each broken line.
  std::vector<std::string> texts;
  for (size_t i = 0; i < lines.size(); ++i)
    texts.push_back(layOut(lines[i], keyWidths[i]));
  forEachRun(
      lines, [](const Line &line) { return !line.comment.empty(); },
      [&](size_t begin, size_t end) {
        size_t column = 0;
        for (size_t i = begin; i < end; ++i)
          column = std::max(column, lastWidth(texts[i]) + 2);
        for (size_t i = begin; i < end; ++i)
          texts[i] += spaces(column - lastWidth(texts[i])) + lines[i].comment;
      });
  std::string result;
  for (size_t i = 0; i < lines.size(); ++i)
    result += (lines[i].blankBefore ? "\n" : "") + texts[i] + "\n";
  return result;
}
