//===- spacing.h - the canonical text of tokens ------------------*- C++ -*-===//

#ifndef MESHPLAN_COMPILER_FRONTEND_PARSE_SPACING_H
#define MESHPLAN_COMPILER_FRONTEND_PARSE_SPACING_H

#include "antlr4-runtime.h"

#include <string>
#include <vector>

namespace meshplan {

/// The canonical text of one token: `{q,k}_proj` becomes `{q, k}_proj`, `64MiB`
/// becomes `64 MiB`.
std::string canonicalText(const antlr4::Token &token);

/// True if the canonical form has a space between two tokens of a statement. `beforeLeft` is the token before `left`,
/// or null.
bool spaceBetween(const antlr4::Token *beforeLeft, const antlr4::Token &left, const antlr4::Token &right);

/// Tokens of one statement in canonical spacing, on one line. Skips hidden
/// tokens and newlines.
std::string joinTokens(const std::vector<antlr4::Token *> &tokens);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_PARSE_SPACING_H
