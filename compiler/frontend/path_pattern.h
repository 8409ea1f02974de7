//===- path_pattern.h - patterns over module paths ---------------*- C++ -*-===//
//
// `*` matches within one component, `**` matches zero or more components, `{a, b}` are alternatives (which may contain
// dots), `{0..2}` and `{7..119 by 8}` are indices. A path, or a part of one, in quotes matches itself. Patterns of
// nested blocks are joined with dots.
//
// A pattern is compiled to an automaton over characters, which is made deterministic lazily, so that matching takes one
// step per character.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PATH_PATTERN_H
#define MESHPLAN_COMPILER_FRONTEND_PATH_PATTERN_H

#include "compiler/frontend/syntax.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace meshplan {

/// The structure of a pattern.
struct PatternNode {
  enum class Kind { Character, Star, DoubleStar, Alternatives };
  Kind kind = Kind::Character;
  char character = 0;
  std::vector<std::vector<PatternNode>> alternatives;
  std::string text; ///< as written
};
using PatternSequence = std::vector<PatternNode>;

/// True if the whole text is in one pair of quotes.
bool isQuoted(llvm::StringRef text);

/// The text without the quotes of a word or of parts of a path, and without the escapes inside them.
std::string withoutQuotes(llvm::StringRef text);

/// Parses a pattern; the patterns of nested blocks are joined. Reports an empty component, `**` inside a component, an
/// empty or huge range; then the result is empty.
std::optional<PatternSequence> parsePattern(llvm::ArrayRef<PathPattern> nested, Diagnostics &diagnostics);

/// The pattern that matches exactly one path.
PatternSequence literalPattern(llvm::StringRef path);

/// The pattern as text.
std::string patternText(const PatternSequence &pattern);

/// The pattern with one of its alternatives chosen, for each alternative of each
/// brace: `{a, b}.{c, d}` gives `a.{c, d}`, `b.{c, d}`, `{a, b}.c`, `{a, b}.d`.
/// The pattern itself if it has no braces.
std::vector<PatternSequence> singleAlternatives(const PatternSequence &pattern);

/// The components of a pattern: its pieces between dots outside braces.
std::vector<PatternSequence> patternComponents(const PatternSequence &pattern);

/// The pattern that has these components.
PatternSequence joinComponents(llvm::ArrayRef<PatternSequence> components);

/// `pattern.**`: matches all paths at or below those that `pattern` matches. For an empty pattern, everything.
PatternSequence subtreePattern(PatternSequence pattern);

/// The automaton of a pattern. It grows during matching, so it is not thread safe.
class PathMatcher {
public:
  using State = int32_t;
  static constexpr State dead = 0;

  explicit PathMatcher(const PatternSequence &pattern);

  /// The state before the first component.
  State start() const { return first; }
  /// The state after one more component.
  State advance(State state, llvm::StringRef component);
  /// True if the pattern matches the path that was read so far.
  bool accepts(State state) const { return states[state].accepting; }

  bool matches(llvm::StringRef path);

private:
  struct NfaState {
    enum class Kind { Character, NotDot, Split };
    Kind kind = Kind::Split;
    char character = 0;
    std::vector<int32_t> next;
  };
  /// Where an automaton continues: `next` normally; `afterDot` if the dot that follows was already read, as `**` reads
  /// the dot after it.
  struct Continuation {
    int32_t next = -1;
    int32_t afterDot = -1;
  };
  struct DfaState {
    std::vector<int32_t> set;
    std::array<State, 256> next;
    bool accepting = false;
  };

  int32_t addState(NfaState::Kind kind, std::vector<int32_t> next, char character = 0);
  Continuation build(llvm::ArrayRef<PatternNode> sequence, Continuation rest);
  Continuation buildNode(const PatternNode &node, Continuation rest);
  int32_t buildDoubleStar(int32_t afterDot);
  void close(int32_t state, std::vector<int32_t> &set) const;
  State intern(std::vector<int32_t> set);
  State step(State state, char character);

  std::vector<NfaState> nfa;
  int32_t accept = -1;
  std::vector<DfaState> states;
  std::map<std::vector<int32_t>, State> known;
  State first = dead;
};

/// True if every element of `inner` is in `outer` and `outer` has more. Both are
/// sorted.
bool isStrictSubset(llvm::ArrayRef<size_t> inner, llvm::ArrayRef<size_t> outer);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PATH_PATTERN_H
