//===- path_stars.h - what the stars of a pattern stand for -----*- C++ -*-===//
//
// A pattern that names paths may have a second one beside it, which makes other paths of what the stars of the first
// one match.
//
// Example: `h.*.w` and `l.*.weight` make `l.7.weight` of `h.7.w`.
//
// Pure functions.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PATH_STARS_H
#define MESHPLAN_COMPILER_FRONTEND_PATH_STARS_H

#include "compiler/frontend/path_pattern.h"

#include <utility>

namespace meshplan {

/// `*` and `**` of a pattern outside braces, in order.
std::vector<std::string> starsOf(const PatternSequence &pattern);

/// True if a choice has a star.
bool hasStarInBraces(const PatternSequence &pattern);

/// What the stars of a pattern without braces match in a path, in order: as little as possible, from the left. `**` has
/// whole components. Nothing if the pattern does not match.
std::optional<std::vector<std::string>> starMatches(const PatternSequence &pattern, llvm::StringRef path);

/// The path that a pattern without braces makes of texts for its stars. With a star more than texts, the last one
/// divides the path into what is before and after it; else all of it is before. Empty components are left out.
std::pair<std::string, std::string> replaceStars(const PatternSequence &pattern, llvm::ArrayRef<std::string> texts);

/// The pattern with each choice of each of its braces, the first brace outermost; empty if there are more than `most`.
std::vector<PatternSequence> choicesOf(llvm::ArrayRef<PatternNode> pattern, size_t most);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PATH_STARS_H
