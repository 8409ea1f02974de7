//===- path_pattern.cpp - parsing and structure of patterns ----------------===//
//
// A pattern is a sequence of nodes: characters, stars, and braces with alternatives that are sequences themselves.
//
// Example: `layers.{0..2, 7}.*_proj` is `layers.`, a brace of four alternatives, `.`, a star, `_proj`. A brace may
// contain any part of a path, so where components begin and end depends on the alternative.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/path_pattern.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <utility>

using namespace meshplan;

namespace {

PatternNode characterNode(char c) { return {PatternNode::Kind::Character, c, {}, std::string(1, c)}; }

/// The length of the quoted text that begins here. The parser has checked that it is closed.
size_t quotedSize(llvm::StringRef text) {
  size_t end = 1;
  while (end < text.size() && text[end] != '"')
    end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// Parses one pattern. `**` must be a whole component, so the reader tracks whether it is at the start of a component,
/// and whether one must end.
class PatternReader {
public:
  PatternReader(llvm::StringRef text, std::string &problem) : text(text), problem(problem) {}

  PatternSequence run();

private:
  /// What precedes a location. After a brace more than one of these may be true, each of other alternatives.
  struct Border {
    bool atStart;        ///< a component begins here, so none may end
    bool isInside;       ///< a component has begun, so `**` and quotes may not
    const char *mustEnd; ///< the error if no component ends here, after `**` or quotes; else null
  };
  static constexpr Border start{true, false, nullptr};

  void fail(std::string message);
  PatternSequence sequence(Border &border);
  PatternNode node(Border &border);
  PatternNode doubleStar(Border &border);
  PatternSequence quotes(Border &border);
  PatternNode braces(Border &border);

  /// Parses `7..119 by 8`: one alternative for each index. False if there is no range here.
  bool range(PatternNode &node);
  void skipBlanks();

  llvm::StringRef text;
  std::string &problem;
  size_t position = 0;
  int64_t indices = 0; ///< number of indices of all ranges so far
};

constexpr int64_t mostIndices = 10000;
constexpr const char *wholeStars = "'**' matches whole components; use '*' inside one";
constexpr const char *wholeInQuotes = "quotes must enclose whole components";

/// The size of the result of singleAlternatives, computed without expanding the pattern.
struct Expansion {
  int64_t size = 0;  ///< of the pattern itself
  int64_t count = 0; ///< number of patterns with one alternative chosen
  int64_t nodes = 0; ///< total number of nodes of these patterns
};

// Computed from sizes alone, before anything is expanded. In each pattern of the result one brace has one alternative,
// and the others are whole: two braces of 5000 indices, which take a line to write, give 10000 patterns, each with the
// 5000 alternatives of the other brace: 200 million nodes.
Expansion expansionOf(const PatternSequence &pattern) {
  Expansion result;
  std::vector<std::pair<int64_t, Expansion>> braces; // each with its size and the sum over its alternatives
  for (const PatternNode &node : pattern) {
    Expansion sum;
    int64_t size = 1;
    for (const PatternSequence &alternative : node.alternatives) {
      Expansion chosen = expansionOf(alternative);
      size += chosen.size;
      sum.count += std::max<int64_t>(chosen.count, 1);
      sum.nodes += chosen.count == 0 ? chosen.size : chosen.nodes;
    }
    result.size += size;
    if (!node.alternatives.empty())
      braces.emplace_back(size, sum);
  }
  for (auto &[size, sum] : braces) {
    result.count += sum.count;
    result.nodes += sum.nodes + sum.count * (result.size - size);
  }
  return result;
}

/// Far more than the layers and experts of any model need; some hundred megabytes.
constexpr int64_t mostExpandedNodes = 4'000'000;

} // namespace

PatternSequence PatternReader::run() {
  Border border = start;
  PatternSequence result = sequence(border);
  if (position != text.size())
    fail("unexpected '" + text.substr(position, 1).str() + "'");
  if (border.atStart)
    fail("a component is empty");
  return result;
}

void PatternReader::fail(std::string message) {
  if (problem.empty())
    problem = std::move(message);
}

PatternSequence PatternReader::sequence(Border &border) {
  PatternSequence result;
  while (position < text.size() && text[position] != ',' && text[position] != '}')
    if (text[position] == '"')
      llvm::append_range(result, quotes(border));
    else
      result.push_back(node(border));
  return result;
}

PatternNode PatternReader::node(Border &border) {
  char c = text[position];
  if (c == '.') {
    if (border.atStart)
      fail("a component is empty");
    border = start;
    ++position;
    return characterNode(c);
  }
  if (border.mustEnd)
    fail(border.mustEnd);
  if (c == '{')
    return braces(border);
  if (text.substr(position).starts_with("**"))
    return doubleStar(border);
  ++position;
  border = {false, true, nullptr};
  return c == '*' ? PatternNode{PatternNode::Kind::Star, 0, {}, "*"} : characterNode(c);
}

PatternNode PatternReader::doubleStar(Border &border) {
  if (border.isInside)
    fail(wholeStars);
  position += 2;
  border = {false, true, wholeStars};
  return {PatternNode::Kind::DoubleStar, 0, {}, "**"};
}

PatternSequence PatternReader::quotes(Border &border) {
  if (border.isInside)
    fail(border.mustEnd ? border.mustEnd : wholeInQuotes);
  size_t begin = position;
  position += quotedSize(text.substr(begin));
  border = {false, true, wholeInQuotes};
  return literalPattern(withoutQuotes(text.slice(begin, position)));
}

PatternNode PatternReader::braces(Border &border) {
  size_t begin = position++;
  PatternNode result{PatternNode::Kind::Alternatives, 0, {}, ""};
  Border after{false, false, nullptr};
  for (bool more = true; more && problem.empty();) {
    skipBlanks();
    // Each alternative stands where the brace stands, and after the brace the pattern is in the state of all
    // alternatives at the same time: what any of them forbids is forbidden.
    Border inside{false, true, nullptr};
    if (!range(result)) {
      inside = border;
      result.alternatives.push_back(sequence(inside));
      if (result.alternatives.back().empty())
        fail("an alternative is empty");
    }
    after.atStart |= inside.atStart;
    after.isInside |= inside.isInside;
    after.mustEnd = after.mustEnd ? after.mustEnd : inside.mustEnd;
    skipBlanks();
    more = position < text.size() && text[position] == ',';
    position += more;
  }
  if (position >= text.size() || text[position] != '}')
    fail("a brace is not closed");
  ++position;
  result.text = text.slice(begin, position).str();
  border = after;
  return result;
}

bool PatternReader::range(PatternNode &node) {
  llvm::StringRef item = text.substr(position).take_until([](char c) { return c == ',' || c == '}'; });
  llvm::StringRef last = item;
  int64_t from = 0;
  if (last.consumeInteger(10, from) || !last.consume_front(".."))
    return false;
  int64_t to = 0;
  int64_t by = 1;
  bool bad = last.consumeInteger(10, to);
  last = last.ltrim();
  if (last.consume_front("by"))
    bad |= (last = last.ltrim()).consumeInteger(10, by);
  if (bad || !last.trim().empty() || by < 1)
    fail("'" + item.trim().str() + "' is not a range of indices");
  else if (to < from)
    fail("the range " + item.trim().str() + " is empty");
  else if ((to - from) / by >= mostIndices)
    fail("the range " + item.trim().str() + " has more than " + std::to_string(mostIndices) + " indices");
  else if ((indices += (to - from) / by + 1) > mostIndices)
    fail("its ranges have more than " + std::to_string(mostIndices) + " indices together");
  // Counted, because the index after the last one may overflow.
  for (int64_t i = 0; problem.empty() && i <= (to - from) / by; ++i)
    node.alternatives.push_back(literalPattern(std::to_string(from + i * by)));
  position += item.size();
  return true;
}

void PatternReader::skipBlanks() {
  while (position < text.size() && text[position] == ' ')
    ++position;
}

namespace {

void appendAlternatives(const PatternSequence &pattern, std::vector<PatternSequence> &out) {
  for (size_t i = 0; i < pattern.size(); ++i)
    for (const PatternSequence &alternative : pattern[i].alternatives)
      for (const PatternSequence &chosen : singleAlternatives(alternative)) {
        PatternSequence result(pattern.begin(), pattern.begin() + i);
        result.insert(result.end(), chosen.begin(), chosen.end());
        result.insert(result.end(), pattern.begin() + i + 1, pattern.end());
        out.push_back(std::move(result));
      }
}

} // namespace

std::string meshplan::withoutQuotes(llvm::StringRef text) {
  std::string result;
  bool isInside = false;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '"')
      isInside = !isInside;
    else
      result += isInside && text[i] == '\\' && i + 1 < text.size() ? text[++i] : text[i];
  return result;
}

bool meshplan::isQuoted(llvm::StringRef text) { return text.starts_with('"') && quotedSize(text) == text.size(); }

std::optional<PatternSequence> meshplan::parsePattern(llvm::ArrayRef<PathPattern> nested, Diagnostics &diagnostics) {
  PatternSequence result;
  for (const PathPattern &pattern : nested) {
    std::string problem;
    PatternSequence part = pattern.literal ? literalPattern(pattern.text) : PatternReader(pattern.text, problem).run();
    if (!problem.empty()) {
      diagnostics.error(pattern.range, "in the path '" + pattern.text + "': " + problem);
      return std::nullopt;
    }
    if (!result.empty() && !part.empty())
      result.push_back(characterNode('.'));
    result.insert(result.end(), part.begin(), part.end());
  }
  if (expansionOf(result).nodes > mostExpandedNodes) {
    diagnostics
        .error(nested.back().range, "in the path '" + nested.back().text +
                                        "': its braces, with those of the blocks around it, have too many "
                                        "alternatives")
        .help("write '*' for some of them, or several entries");
    return std::nullopt;
  }
  return result;
}

PatternSequence meshplan::literalPattern(llvm::StringRef path) {
  PatternSequence result;
  for (char c : path)
    result.push_back(characterNode(c));
  return result;
}

std::string meshplan::patternText(const PatternSequence &pattern) {
  std::string result;
  for (const PatternNode &node : pattern)
    result += node.text;
  return result;
}

std::vector<PatternSequence> meshplan::singleAlternatives(const PatternSequence &pattern) {
  std::vector<PatternSequence> result;
  appendAlternatives(pattern, result);
  if (result.empty())
    result.push_back(pattern);
  return result;
}

std::vector<PatternSequence> meshplan::patternComponents(const PatternSequence &pattern) {
  std::vector<PatternSequence> result(1);
  for (const PatternNode &node : pattern) {
    if (node.kind == PatternNode::Kind::Character && node.character == '.')
      result.emplace_back();
    else
      result.back().push_back(node);
  }
  return result;
}

PatternSequence meshplan::joinComponents(llvm::ArrayRef<PatternSequence> components) {
  PatternSequence result;
  for (const PatternSequence &component : components) {
    if (!result.empty())
      result.push_back(characterNode('.'));
    result.insert(result.end(), component.begin(), component.end());
  }
  return result;
}

PatternSequence meshplan::subtreePattern(PatternSequence pattern) {
  if (!pattern.empty())
    pattern.push_back(characterNode('.'));
  pattern.push_back({PatternNode::Kind::DoubleStar, 0, {}, "**"});
  return pattern;
}

bool meshplan::isStrictSubset(llvm::ArrayRef<size_t> inner, llvm::ArrayRef<size_t> outer) {
  return inner.size() < outer.size() && std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}
