//===- format.h - the canonical form of a plan -------------------*- C++ -*-===//
//
// `meshplan fmt`. Two spaces for each level, one statement per line, at most one blank line in a row. The values of
// consecutive entries are aligned, and so are comments at the end of consecutive lines. Lines of more than 120
// characters are broken after commas. A block that is written on one line and fits stays on one line. Comments are
// kept.
//
// Formatting is idempotent and does not change the meaning.
//
//===----------------------------------------------------------------------===//

#ifndef MESHPLAN_COMPILER_FRONTEND_FORMAT_H
#define MESHPLAN_COMPILER_FRONTEND_FORMAT_H

#include "compiler/support/diagnostics.h"

#include <optional>
#include <string>

namespace meshplan {

/// The canonical text of a plan, reserved statements included. Reports syntax
/// errors; then the result is empty.
std::optional<std::string> formatPlan(const SourceBuffer &source, Diagnostics &diagnostics);

} // namespace meshplan

#endif // MESHPLAN_COMPILER_FRONTEND_FORMAT_H
